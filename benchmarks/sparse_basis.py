"""How well and how fast sparse bases are found: MCC beside its ceiling, over fresh seeds.

Run `python benchmarks/sparse_basis.py --rows n=10* delta* --workers 2 --out sparse_basis.json`. Codes are
exactly affine (a Gaussian random matrix) unless a row says noise; scores are taken on fresh samples of the
same world, against the latents before their rotation. Seeds start at 1000; everything was chosen on others,
below 200. `--lagrangian STEPS` also takes so many steps of the published solver on the same codes, and
extrapolates its time to the number of steps in the paper.
"""

import argparse
import json
import multiprocessing
import os
import time
import warnings
from pathlib import Path

import numpy as np

FIRST_SEED = 1000
PAPER_STEPS = {5: 2500, 10: 20_000, 20: 125_000, 40: 300_000, 50: 800_000}  # Xu et al. (2026), Appendix D.4
ROWS = {
    **{
        f"n={n} k={k}": {"n_latents": n, "graph_degree": k}
        for n in (5, 10, 20, 40, 50)
        for k in range(4)
        if 2 * k < n
    },
    "n=100 k=1": {"n_latents": 100, "graph_degree": 1},
    **{f"delta={d}": {"n_latents": 10, "delta": float(d)} for d in (1, 2, 3)},
    **{f"theta={t}": {"n_latents": 10, "theta": float(t)} for t in (15, 30, 45)},
    "1 var": {"n_latents": 10, "mask_size": 1},
    "75%": {"n_latents": 10, "mask_size": 0.75},
    "75% k=3": {"n_latents": 10, "mask_size": 0.75, "graph_degree": 3},
    "noise 0.25": {"n_latents": 10, "noise": 0.25},
    "noise 0.25 delta=2": {"n_latents": 10, "noise": 0.25, "delta": 2.0},
    "n=20 noise 0.25": {"n_latents": 20, "noise": 0.25},
}


def code(row: str, seed: int, n_samples: int) -> tuple:
    """Return a world and the map from its samples to codes."""
    from unmix.data import degenerate_mixture

    data = degenerate_mixture(n_samples, profile="linear", random_state=seed, **ROWS[row])
    if data.noise:  # orthonormal: a random matrix would amplify the noise by its condition
        return data, lambda drawn: drawn.x
    matrix = np.random.default_rng(seed + 10**6).normal(size=(data.z.shape[1],) * 2)
    return data, lambda drawn: drawn.x @ matrix


def ceiling(z: np.ndarray, y: np.ndarray) -> float:
    """Return the mean correlation of latents with their best linear estimates."""
    centred = y - y.mean(0)
    best = centred @ np.linalg.lstsq(centred, z - z.mean(0), rcond=None)[0]
    return float(np.mean([np.corrcoef(best[:, i], z[:, i])[0, 1] for i in range(z.shape[1])]))


def measure(job: tuple[str, int, str, str, int]) -> dict:
    """Fit one row with one seed."""
    import torch

    from unmix import SparseBasis
    from unmix.metrics import match_components, mcc

    row, seed, solver, device, steps = job
    data, encode = code(row, seed, 6144)
    fresh = data.world.sample(5000, random_state=seed + 1)
    y, y_fresh = encode(data), encode(fresh)
    warnings.simplefilter("ignore")  # flags are counted below
    SparseBasis(n_starts=2, device=device, random_state=0).fit(y[:1000])  # warm up, uncounted
    start = time.perf_counter()
    basis = SparseBasis(solver=solver, device=device, random_state=seed).fit(y)
    seconds = time.perf_counter() - start
    z_hat = basis.transform(y_fresh)
    order = np.array(match_components(fresh.unrotated, z_hat).order)
    agree = basis.activity(y_fresh)[:, order] == fresh.masks[fresh.labels]
    result = {
        "row": row,
        "seed": seed,
        "solver": solver,
        "mcc": mcc(fresh.unrotated, z_hat),
        "mcc_rotated": mcc(fresh.z, z_hat),
        "raw": mcc(fresh.unrotated, y_fresh),
        "ceiling": ceiling(fresh.unrotated, y_fresh),
        "found": basis.n_found_,
        "n": len(order),
        "activity": float(agree.mean()),
        "smallest_singular_value": basis.smallest_singular_value_,
        "n_flags": len(basis.flags_),
        "seconds": seconds,
        "device": device,
        "threads": torch.get_num_threads(),
    }
    return result | (reference(y, y_fresh, fresh, seed, device, steps, seconds) if steps else {})


def reference(y, y_fresh, fresh, seed: int, device: str, steps: int, seconds: float) -> dict:
    """Run the published solver on the same codes and extrapolate its time to the steps of the paper."""
    from unmix import SparseBasis
    from unmix.metrics import mcc

    settings = {"solver": "lagrangian", "device": device, "random_state": seed}
    start = time.perf_counter()
    SparseBasis(max_iter=2, **settings).fit(y)
    middle = time.perf_counter()
    slow = SparseBasis(max_iter=2 + steps, **settings).fit(y)
    per_step = (time.perf_counter() - middle - (middle - start)) / steps
    in_paper = PAPER_STEPS.get(y.shape[1])
    return {
        "lagrangian_steps": steps,
        "lagrangian_mcc": mcc(fresh.unrotated, slow.transform(y_fresh)),
        "lagrangian_seconds_per_step": per_step,
        "lagrangian_seconds_extrapolated": in_paper and per_step * in_paper,
        "times_faster_extrapolated": in_paper and per_step * in_paper / seconds,
    }


def table(results: list[dict]) -> str:
    """Return a Markdown table, one line per row of the benchmark."""
    lines = [
        "| codes | MCC | worst | ceiling | raw | rows found | activity | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        found = [r for r in results if r["row"] == row]
        if not found:
            continue
        mean = {
            name: float(np.mean([r[name] for r in found])) for name in ("mcc", "ceiling", "raw", "activity")
        }
        scores = [r["mcc"] for r in found]
        spread = np.std(scores, ddof=1) if len(scores) > 1 else 0
        rows = (
            "all"
            if all(r["found"] == r["n"] for r in found)
            else f"{np.mean([r['found'] for r in found]):.1f}"
        )
        lines.append(
            f"| {row} | {mean['mcc']:.4f} ± {spread:.4f} | {min(scores):.4f} | {mean['ceiling']:.4f} "
            f"| {mean['raw']:.3f} | {rows} | {mean['activity']:.3f} "
            f"| {np.median([r['seconds'] for r in found]):.1f} |"
        )
    return "\n".join(lines)


def lagrangian_table(results: list[dict]) -> str:
    """Return how long the published solver takes for the steps of the paper, extrapolated, beside ours."""
    lines = [
        "| codes | seconds, MCC | a step of the published solver | its steps in the paper, extrapolated "
        "| times as long | its MCC, after steps |",
        "|---|---|---|---|---|---|",
    ]
    for r in results:
        lines.append(
            f"| {r['row']} | {r['seconds']:.1f}, {r['mcc']:.4f} "
            f"| {1000 * r['lagrangian_seconds_per_step']:.0f} ms "
            f"| {PAPER_STEPS[r['n']]:,}: {r['lagrangian_seconds_extrapolated']:,.0f} s "
            f"| {r['times_faster_extrapolated']:,.0f} "
            f"| {r['lagrangian_mcc']:.3f}, {r['lagrangian_steps']:,} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--rows", nargs="*", default=list(ROWS), help="rows to measure; `n=10*` stands for all that begin so"
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--solver", default="descent")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--lagrangian", type=int, default=0, metavar="STEPS")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.workers > 1:
        os.environ["OMP_NUM_THREADS"] = "1"
    rows = [
        row
        for row in ROWS
        if any(row == r or (r.endswith("*") and row.startswith(r[:-1])) for r in args.rows)
    ]
    jobs = [
        (row, args.first_seed + s, args.solver, args.device, args.lagrangian)
        for row in rows
        for s in range(args.seeds)
    ]
    results = []
    with multiprocessing.get_context("spawn").Pool(args.workers) as pool:
        for result in pool.imap_unordered(measure, jobs):
            results.append(result)
            print(json.dumps(result), flush=True)
            if args.out:
                args.out.write_text(json.dumps(results))
    print(lagrangian_table(results) if args.lagrangian else table(results))


if __name__ == "__main__":
    main()
