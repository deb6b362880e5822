"""Speed and memory of `metrics.replicate` on wide codes, beside numpy's correlation matrix in the same run.

python benchmarks/compare.py [--shape 4000x8000] [--wide 4000x16000] [--features] [--quick] [--keep]

Two single-precision files of codes that fire in 5% of the rows are written in pieces: a quarter of the second
run's latents is noise, a quarter is mixed in pairs, half is the first run's in another order. Each contestant
runs in a process of its own: `replicate` from the paths, and `numpy.corrcoef` of both codes at once in single
precision, followed by the nearest latent of each, which is less than what `replicate` does (no rows held out,
no subspaces, no rates). Seconds are of the processor. Memory is the peak beyond what was in use before. At
the shape of `--wide` only `replicate` runs: the matrix of numpy takes gigabytes there, and minutes. The files
are deleted. With `--features` only two sparse autoencoders are compared, of 12,288 features in 576 dimensions
with codes of 40,000 tokens and 32 features on in each, by `metrics.replicate_features`: atoms, codes, random
and untrained atoms, and the census.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from _table import judged, keep, parser, show
from numpy.lib.format import open_memmap

FEATURES = {"features, seconds": 30.0, "features, gigabytes": 2.0}
GOALS = {"seconds ratio": 1.0, "gigabytes ratio": 0.5, "gigabytes": 1.5}
DICTIONARIES = """
import json, re, time
from pathlib import Path
import numpy as np
from scipy.sparse import csr_array
from unmix.metrics import replicate_features
def kilobytes(name):
    return int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1))
rng, m, d, n, k = np.random.default_rng(0), 12288, 576, 40000, 32
first, order = rng.standard_normal((m, d), dtype=np.float32), rng.permutation(m)
second = first[order] + 0.2 * rng.standard_normal((m, d), dtype=np.float32)
second[: m // 4] = rng.standard_normal((m // 4, d), dtype=np.float32)
which = rng.integers(m, size=n * k)
z = csr_array((rng.gamma(2, size=n * k), (np.repeat(np.arange(n), k), which)), shape=(n, m))
start = time.process_time()
covariance = np.diag(1 / np.arange(1, d + 1) ** 0.7)
found = replicate_features(
    [first, second], [z, csr_array(z[:, order])], covariance=covariance, untrained=[first[::-1], second]
)
seconds = time.process_time() - start
taken = {"seconds": seconds, "gigabytes": kilobytes("VmHWM") / 2**20}
print(json.dumps(taken | {"found": found.atoms[0].counts}))
"""
CHILD = """
import json, re, sys, time
from pathlib import Path
import numpy as np
from unmix.metrics import replicate
def kilobytes(name):
    return int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1))
def ours(paths):
    return replicate(paths).runs[0].counts
def numpys(paths):
    a, b = (np.load(path).T for path in paths)
    table = np.abs(np.corrcoef(a, b, dtype=np.float32)[: len(a), len(a):])
    return {"best": float(table.max(1).mean())}
before, start = kilobytes("VmRSS"), time.process_time()
found = {"replicate": ours, "corrcoef": numpys}[sys.argv[1]](sys.argv[2:])
seconds = time.process_time() - start
print(json.dumps({"seconds": seconds, "gigabytes": (kilobytes("VmHWM") - before) / 2**20, "found": found}))
"""


def write_codes(folder: Path, n_rows: int, width: int, block: int = 250) -> list[Path]:
    """Write two runs: of the second a quarter is noise, a quarter pairs turned by 45 degrees."""
    rng = np.random.default_rng(0)
    paths, quarter, order = [folder / "run1.npy", folder / "run2.npy"], width // 4, rng.permutation(width)
    first, second = (open_memmap(path, "w+", np.float32, (n_rows, width)) for path in paths)
    for start in range(0, n_rows, block):
        rows = slice(start, min(start + block, n_rows))
        shape = (rows.stop - rows.start, width)
        first[rows] = rng.laplace(size=shape) * (rng.random(shape) < 0.05)
        codes = np.array(first[rows])[:, order]
        codes[:, :quarter] = rng.laplace(size=(len(codes), quarter))
        even, odd = codes[:, quarter : 2 * quarter : 2].copy(), codes[:, quarter + 1 : 2 * quarter : 2].copy()
        codes[:, quarter : 2 * quarter : 2], codes[:, quarter + 1 : 2 * quarter : 2] = even + odd, even - odd
        second[rows] = codes + 0.01 * rng.normal(size=shape)
    return paths


def measured(contestant: str, paths: list[Path]) -> dict:
    line = [sys.executable, "-c", CHILD, contestant, *map(str, paths)]
    return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)


def measure(shape: str, contestants: tuple[str, ...]) -> dict:
    n_rows, width = map(int, shape.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        paths = write_codes(Path(folder), n_rows, width)
        runs = {name: measured(name, paths) for name in contestants}
    return {"rows": n_rows, "width": width, "runs": runs}


def features() -> dict:
    """Compare two wide sparse autoencoders in a process of its own; memory is all that it takes."""
    line = [sys.executable, "-c", DICTIONARIES]
    return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)


def figures(beside: dict, wide: dict | None) -> dict[str, float]:
    """Return the figures that have goals: ratios to numpy, and the memory of the widest codes."""
    ours, theirs = beside["runs"]["replicate"], beside["runs"]["corrcoef"]
    ratios = {f"{kind} ratio": ours[kind] / theirs[kind] for kind in ("seconds", "gigabytes")}
    return ratios if wide is None else ratios | {"gigabytes": wide["runs"]["replicate"]["gigabytes"]}


def lines(results: dict) -> list[tuple]:
    size = f"{results['rows']} x {results['width']}"
    return [(size, name, r["seconds"], r["gigabytes"], r["found"]) for name, r in results["runs"].items()]


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--shape", default="4000x8000", help="rows x latents of each run")
    asked.add_argument("--wide", default="4000x16000", help="the same, for `replicate` alone")
    asked.add_argument("--quick", action="store_true", help="4000 latents, and no wider ones")
    asked.add_argument("--features", action="store_true", help="compare two sparse autoencoders, and no more")
    options = asked.parse_args()
    if options.features:
        found = features()
        show(
            ("features", "s", "GB", "found"),
            [("12288", found["seconds"], found["gigabytes"], found["found"])],
        )
        measured_now = {f"features, {kind}": found[kind] for kind in ("seconds", "gigabytes")}
        goals = judged(measured_now, FEATURES)
        if options.keep:
            keep("compare_features", {"features": found, "goals": goals})
        return
    beside = measure("4000x4000" if options.quick else options.shape, ("replicate", "corrcoef"))
    wide = None if options.quick else measure(options.wide, ("replicate",))
    rows = [line for results in (beside, wide) if results is not None for line in lines(results)]
    show(("rows x latents", "", "s", "GB", "found"), rows)
    goals = judged(figures(beside, wide), GOALS)
    if options.keep:
        keep("compare", {"beside": beside, "wide": wide, "goals": goals})


if __name__ == "__main__":
    main()
