"""How well latents are recovered: MCC beside raw x and the rotation floor, over fresh seeds.

Run `python benchmarks/recovery.py --rows tall-5x10 square-4 --workers 2 --out recovery.json`. Every row uses
the defaults of `DiverseDictionaryLearning`; restarts are chosen by the objective. Seeds start at 1000; the
defaults were chosen on others, below 200.
"""

import argparse
import json
import multiprocessing
import os
import time
from pathlib import Path

import numpy as np

FIRST_SEED = 1000
ROWS = {
    **{f"tall-{n}x{k * n}": {"n_latents": n, "n_observed": k * n} for n in (5, 10, 20) for k in (2, 3)},
    "tall-5x10 noise 0.1": {"n_latents": 5, "noise": 0.1},
    "tall-10x20 noise 0.1": {"n_latents": 10, "noise": 0.1},
    "tall-5x10 laplace": {"n_latents": 5, "latents": "laplace"},
    "tall-5x10 uniform": {"n_latents": 5, "latents": "uniform"},
    "tall-5x10 dependent": {"n_latents": 5, "latents": "dependent"},
    "tall-5x10 nonlinearity 1": {"n_latents": 5, "nonlinearity": 1.0},
    "dense-5x10": {"n_latents": 5, "profile": "dense"},
    **{f"square-{n}": {"n_latents": n, "profile": "square"} for n in range(3, 11)},
}


def measure(job: tuple[str, int, str]) -> dict:
    """Fit one row with one seed."""
    import torch

    torch.set_num_threads(1)
    from unmix import DiverseDictionaryLearning
    from unmix.data import sparse_mixing
    from unmix.metrics import mcc, rotation_floor
    from unmix.structure import triangular_edges

    row, seed, device = job
    data = sparse_mixing(random_state=seed, **ROWS[row])
    n = data.structure.n_latents
    start = time.perf_counter()
    model = DiverseDictionaryLearning(n, device=device, random_state=seed).fit(data.x)
    seconds = time.perf_counter() - start
    z_hat = model.transform(data.x)
    return {
        "row": row,
        "seed": seed,
        "mcc": mcc(data.z, z_hat),
        "spearman": mcc(data.z, z_hat, method="spearman"),
        "raw": mcc(data.z, data.x),
        "floor": rotation_floor(data.z, random_state=seed),
        "hamming": data.structure.hamming(model.structure_),
        "margin": model.structure_.margin,
        "explained": model.score(data.x),
        "seconds": seconds,
        "edges": data.structure.n_edges,
        "triangular_edges": triangular_edges(*data.structure.shape),
        "device": device,
    }


def table(results: list[dict]) -> str:
    """Return a Markdown table, one line per row of the benchmark."""
    lines = [
        "| data | MCC | worst | Spearman | raw x | rotation floor | structure exact | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        found = [r for r in results if r["row"] == row]
        if not found:
            continue
        mean = {
            name: float(np.mean([r[name] for r in found])) for name in ("mcc", "spearman", "raw", "floor")
        }
        scores = [r["mcc"] for r in found]
        exact = sum(r["hamming"] == 0 for r in found)
        mark = "" if found[0]["edges"] < found[0]["triangular_edges"] else " (not sparser than triangular)"
        lines.append(
            f"| {row}{mark} | {mean['mcc']:.3f} ± {np.std(scores, ddof=1) if len(scores) > 1 else 0:.3f} "
            f"| {min(scores):.3f} | {mean['spearman']:.3f} | {mean['raw']:.3f} | {mean['floor']:.3f} "
            f"| {exact} of {len(found)} | {np.median([r['seconds'] for r in found]):.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--rows",
        nargs="*",
        default=list(ROWS),
        help="rows to measure; `tall-5*` stands for all that begin so",
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    rows = [
        row
        for row in ROWS
        if any(row == r or (r.endswith("*") and row.startswith(r[:-1])) for r in args.rows)
    ]
    jobs = [(row, FIRST_SEED + s, args.device) for row in rows for s in range(args.seeds)]
    jobs.sort(key=lambda job: -ROWS[job[0]]["n_latents"])  # the longest first
    results = []
    with multiprocessing.get_context("spawn").Pool(args.workers) as pool:
        for result in pool.imap_unordered(measure, jobs):
            results.append(result)
            print(json.dumps(result), flush=True)
            if args.out:
                args.out.write_text(json.dumps(results))
    print(table(results))


if __name__ == "__main__":
    main()
