"""How well slots are recovered: SIS beside raw x, the rotation floor and compositional contrast, same seeds.

Run `python benchmarks/slots.py --workers 16 --out benchmarks/results/slots.json`. Each fit of one row, seed
and method is a job of its own, the longest first; results are appended to `slots.jsonl` beside the file as
they come in, and a second run does what is missing. `--rows K3-50 K5*` chooses rows, `--table FILE` prints
the table of stored results and fits nothing.

"search" has the defaults of `SlotAutoencoder`. "contrast 0.01" and "contrast 1" are the same autoencoder with
the published penalty from the first step on, in the two weights of its authors, and as many steps, or
`--longer` times as many; the reconstruction is a sum over variables here, and codes have unit variance.
Seeds start at 1000; everything was chosen on others, below 200.
`--speed` times the vectorised contrast against a loop over pairs of slots, three times.
"""

import argparse
import json
import multiprocessing
import os
import time
from itertools import combinations
from pathlib import Path

import numpy as np

FIRST_SEED = 1000
OVERLAPS = (0, 25, 50, 60, 70, 80, 90)
MAIN = ("search", "contrast 0.01", "contrast 1")
METHODS = (*MAIN, "contrast 0.1", "search, contrast", "no search")
NEEDED = {f"K{k}-{o}": {"n_slots": k, "overlap": o / 100} for k in (2, 3, 5) for o in OVERLAPS}
OTHERS = {
    "K3-50 cyclic": {"n_slots": 3, "overlap": 0.5, "profile": "cyclic"},
    "K3-50 additive": {"n_slots": 3, "overlap": 0.5, "mixing": "additive"},
    "K3-50 interacting": {"n_slots": 3, "overlap": 0.5, "mixing": "interacting"},
    "K3-50 dependent": {"n_slots": 3, "overlap": 0.5, "latents": "dependent"},
    "K3-50 reweighted": {"n_slots": 3, "overlap": 0.5, "latents": "reweighted"},
    "K3-50 nested": {"n_slots": 3, "overlap": 0.5, "profile": "nested"},
}
ROWS = NEEDED | OTHERS


def settings(method: str) -> dict:
    """Return what a method changes of the defaults."""
    from unmix.penalties import compositional_contrast

    if method.startswith("contrast"):
        weight = float(method.split()[1])
        return {"search": False, "penalty": compositional_contrast, "weight": weight}
    return {
        "search": {},
        "search, contrast": {"penalty": compositional_contrast},
        "no search": {"search": False},
    }[method]


def measure(job: tuple[str, int, str, int, int]) -> dict:
    """Fit one row with one seed by one method."""
    import torch

    torch.set_num_threads(1)
    from unmix import SlotAutoencoder
    from unmix.data import slots
    from unmix.metrics import slot_identifiability

    row, seed, method, n_samples, max_iter = job
    data = slots(n_samples, random_state=seed, **ROWS[row])
    n_slots, n_latents = len(data.partition), data.structure.n_latents
    wall, processor = time.perf_counter(), time.process_time()
    model = SlotAutoencoder(
        n_latents, slots=n_slots, max_iter=max_iter, device="cpu", random_state=seed, **settings(method)
    ).fit(data.x)
    result = {
        "row": row,
        "seed": seed,
        "method": method,
        "n_samples": n_samples,
        "max_iter": max_iter,
        "sis": slot_identifiability(data.z, model.transform(data.x), n_slots=n_slots),
        "explained": model.score(data.x),
        "seconds": time.perf_counter() - wall,
        "processor": time.process_time() - processor,
    }
    return result | (beside(data, seed) if method == "search" else {})


def beside(data, seed: int) -> dict:
    """Return what every score of these data is to be read with, and the margin of Type S in rows."""
    from unmix.metrics import slot_identifiability
    from unmix.theory import sparsity_gap

    n_slots, n = len(data.partition), data.structure.n_latents
    others = {"ceiling": data.z, "raw": _principal(data.x, n), "floor": data.z @ _turn(n, seed)}
    # exact Jacobians: an entry is zero only where it is
    gap = sparsity_gap(data.mixing.jacobian(data.z[:5]), data.partition, generic=True, tolerance=1e-12)
    return {name: slot_identifiability(data.z, codes, n_slots=n_slots) for name, codes in others.items()} | {
        "type_s": bool(gap),
        "margin": gap.lower,
    }


def _principal(x: np.ndarray, n: int) -> np.ndarray:
    """Raw x, as far as slots of the right size can be made of it: leading principal components in turn."""
    centred = (x - x.mean(0)) / x.std(0)
    return centred @ np.linalg.svd(centred, full_matrices=False)[2][:n].T


def _turn(n: int, seed: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]


def table(results: list[dict]) -> str:
    """Return a Markdown table, one line per row of the benchmark."""
    methods = [m for m in METHODS if any(r["method"] == m for r in results)]
    lines = [
        f"| data | Type S | {' | '.join(methods)} | raw x | rotation floor | ceiling | seeds | goal |",
        "|---" * (len(methods) + 7) + "|",
    ]
    for row in ROWS:
        found = [r for r in results if r["row"] == row]
        known = [r for r in found if "ceiling" in r]
        if known:
            scores = [_scores(found, m) for m in methods]
            others = [f"{np.mean([r[name] for r in known]):.2f}" for name in ("raw", "floor", "ceiling")]
            line = [row, _margin(known), *scores, *others, str(len(known)), goal(row, found)]
            lines.append(f"| {' | '.join(line)} |")
    return "\n".join(lines)


def _scores(found: list[dict], method: str) -> str:
    sis = [r["sis"] for r in found if r["method"] == method]
    return f"{np.mean(sis):.3f} (worst {min(sis):.3f})" if sis else ""


def _margin(known: list[dict]) -> str:
    rows = min(r["margin"] for r in known)
    return f"by {rows} row{'s' * (rows != 1)}" if all(r["type_s"] for r in known) else "not certified"


def goal(row: str, found: list[dict]) -> str:
    """Say whether the mean of the search is where it should be; from 60% on, 0.15 above either contrast."""
    if row not in NEEDED:
        return ""
    mean = {m: float(np.mean([r["sis"] for r in found if r["method"] == m] or [np.nan])) for m in MAIN}
    overlap = 100 * NEEDED[row]["overlap"]
    if overlap <= 50:
        least = 0.95 if overlap <= 25 else 0.9
    elif all(r["type_s"] for r in found if "type_s" in r):
        least = max(mean["contrast 0.01"], mean["contrast 1"]) + 0.15
    else:
        return "none"
    return f"{least:.2f}, {'met' if mean['search'] >= least else 'missed'}"


def speed(n_slots: int = 10, repeats: int = 30) -> dict:
    """Time the contrast with its gradient, vectorised and as a loop over pairs of slots, same Jacobian.

    "alone": given the Jacobian (a linear decoder, whose Jacobian costs nothing); "network": with it.
    """
    import torch

    from unmix.nn import jacobian, mlp, residual_mlp
    from unmix.penalties import compositional_contrast

    torch.set_num_threads(1)
    torch.manual_seed(0)
    z = torch.randn(64, 3 * n_slots)

    def vectorised(f, z):
        return compositional_contrast(f, z, slots=n_slots)

    def loop(f, z):
        J = jacobian(f, z).unflatten(2, (n_slots, 3))
        pairs = combinations(range(n_slots), 2)
        norm = lambda k: (J[:, :, k].square().sum(2) + 1e-12).sqrt()  # noqa: E731
        return sum(((norm(k) * norm(m)).sum() for k, m in pairs), z.new_zeros(())) / len(z)

    def seconds(f, decoder) -> float:
        times = []
        for _ in range(repeats + 1):
            start = time.perf_counter()
            f(decoder, z).backward()
            times.append(time.perf_counter() - start)
        return float(np.median(times[1:]))

    found: dict = {"slots": n_slots}
    decoders = {
        "alone": mlp(3 * n_slots, 20 * n_slots, hidden=()),
        "network": residual_mlp(3 * n_slots, 20 * n_slots),
    }
    for name, decoder in decoders.items():
        assert torch.allclose(vectorised(decoder, z), loop(decoder, z), rtol=1e-3)
        fast, slow = seconds(vectorised, decoder), seconds(loop, decoder)
        found |= {f"{name}: vectorised": fast, f"{name}: loop": slow, f"{name}: ratio": slow / fast}
    return found


def ordered(
    rows: list[str], seeds: range, methods: list[str], n_samples: int, max_iter: int, longer: int
) -> list[tuple]:
    """Return the jobs: rows of the goals first, and among them those with the most slots and variables."""

    def late(job: tuple) -> tuple:
        row = ROWS[job[0]]
        return (job[0] not in NEEDED, -job[4], -row["n_slots"], row["overlap"], job[1])

    epochs = {m: max_iter * longer if m.startswith("contrast") else max_iter for m in methods}
    return sorted(((r, s, m, n_samples, epochs[m]) for r in rows for s in seeds for m in methods), key=late)


def run(jobs: list[tuple], workers: int, out: Path) -> list[dict]:
    """Do what is not yet in the lines beside `out`, and write all of them there."""
    lines = out.with_suffix(".jsonl")
    done = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
    names = ("row", "seed", "method", "n_samples", "max_iter")
    known = {tuple(r[name] for name in names) for r in done}
    left = [job for job in jobs if job not in known]
    with multiprocessing.get_context("spawn").Pool(workers) as pool, lines.open("a") as kept:
        for result in pool.imap_unordered(measure, left):
            done.append(result)
            kept.write(json.dumps(result) + "\n")
            kept.flush()
            print(f"{len(done)}/{len(jobs)}", json.dumps(result), flush=True)
    order = list(ROWS)
    done.sort(key=lambda r: (order.index(r["row"]), r["seed"], METHODS.index(r["method"])))
    out.write_text(json.dumps(done, indent=1) + "\n")
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", nargs="*", default=list(ROWS), help="`K3*` stands for all that begin so")
    parser.add_argument("--methods", nargs="*", default=list(MAIN), choices=METHODS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--n-samples", type=int, default=10_000)
    parser.add_argument("--max-iter", type=int, default=30)
    parser.add_argument("--longer", type=int, default=1, help="epochs of contrast for each of the search")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--speed", action="store_true", help="time the contrast, and fit nothing")
    parser.add_argument("--table", type=Path, help="print the table of these results, and fit nothing")
    parser.add_argument("--out", type=Path, default=Path("slots.json"))
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    if args.table:
        print(table(json.loads(args.table.read_text())))
        return
    if args.speed:
        found = [speed() | {"load": os.getloadavg()[0], "cores": os.cpu_count()} for _ in range(3)]
        args.out.write_text(json.dumps(found, indent=1) + "\n")
        print(json.dumps(found, indent=1))
        return
    rows = [r for r in ROWS if any(r == a or (a.endswith("*") and r.startswith(a[:-1])) for a in args.rows)]
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    jobs = ordered(rows, seeds, args.methods, args.n_samples, args.max_iter, args.longer)
    print(table(run(jobs, args.workers, args.out)))


if __name__ == "__main__":
    main()
