"""Which commands read which file, with everything else as it should be; `{f}` is the hostile one."""

TABLE = (
    "fit {f} --method ica --n-components 2 --out {o}/m",
    "fit {f} --method ddl --n-components 2 --max-iter 1 --n-restarts 1 --out {o}/m",
    "choose {f} --most 3 --out {o}/c.html",
    "trust {w}/ica {f} --effort none --out {o}/t.json",
    "transform {w}/ica {f} --out {o}/z.csv",
    "transform {w}/ica {f} --out {o}/z.h5ad",
    "deconfound {f} --batch batch --compare none --out {o}/d.csv",
    "deconfound {w}/x.csv --batch batch --compare none --meta {f} --id a --out {o}/d.csv",
    "evaluate {f} {w}/x.npy --out {o}/s.json",
    "evaluate {w}/x.npy {f} --x {f} --out {o}/s.html",
    "certify {w}/ica --data {f} --out {o}/c.json",
    "certify {w}/mask.csv --codes {f} --out {o}/c.json",
    "certify {w}/mask.csv --masks {f}",
    "certify {w}/mask.csv --jacobians {f}",
    "certify {w}/mask.csv --domains {f}",
    "compare {f} {w}/x.npy --out {o}/c.html",
    "compare {w}/ica {w}/ica --data {f} --effort none",
    "report {w}/ica --data {f} --out {o}/r.html",
    "report {w}/sae --data {f} --out {o}/r.html",
    "activations {f} --out {o}/a",
    "fit {w}/x.npy --method cgvae --n-components 2 --max-iter 1 --domains {f} --out {o}/m",
    "show {w}/ica --data {f} --out {o}/p",
)
MASK = (
    "certify {f} --out {o}/c.json",
    "certify {w}/mask.csv --refit {f} --refit {w}/mask.csv",
    "simulate --structure {f} --n-samples 10 --out {o}/s.npz",
)
SETS = (
    "report {w}/ica --data {w}/x.csv --variable-sets {f} --out {o}/r.html",
    "fit {w}/x.csv --method ica --n-components 2 --variable-sets {f} --out {o}/m",
)
MODEL = (
    "transform {f} {w}/x.npy --out {o}/z.csv",
    "transform {f} {w}/x.csv --out {o}/z.h5ad",
    "trust {f} {w}/x.npy --effort none",
    "trust {f} {w}/x.npy --effort quick --out {o}/t.html",
    "certify {f} --out {o}/c.html",
    "certify {f} --data {w}/x.npy",
    "report {f} --data {w}/x.npy --out {o}/r.html",
    "compare {f} {w}/ica --data {w}/x.npy --effort none",
    "compare {f} {w}/sae",
    "convert {f} {o}/c",
    "show {f} --data {w}/images.npy --out {o}/p",
)
SAE = (
    "convert {f} {o}/c --to unmix",
    "compare {f} {w}/lens",
    "trust {f} {w}/x.npy --effort none",
    "report {f} --data {w}/x.npy --out {o}/r.html",
)
STORE = (
    "trust {w}/sae {f} --effort none",
    "report {w}/sae --data {f} --out {o}/r.html",
    "compare {w}/sae {w}/sae --data {f}",
    "compare {f} {w}/x.npy",
)
IMAGES = (
    "fit {f} --method ae --n-components 2 --max-iter 1 --out {o}/m",
    "show {w}/ica --data {f} --out {o}/p",
)
RESULTS = (
    "report {f} --out {o}/r.html",
    "report {f} --out {o}/r.md",
    "reproduce floor.scores --budget smoke --dry-run --out {f}",
)
TEXT = ("activations {f} --model {w}/x.csv --site blocks.0.hook_resid_pre --out {o}/a",)


def made(command, file, whole, out):
    """Return the arguments of a command."""
    return [part.format(f=file, w=whole, o=out) for part in command.split()]
