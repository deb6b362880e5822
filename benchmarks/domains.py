"""How well latents that change between domains are recovered: `CGVAE` beside iVAE, raw x and the floor.

Run `python benchmarks/domains.py --rows A-4x8 A-4x4 --workers 2 --out domains.json`. Data are those of
`multi_domain` without a dominant diagonal, 10,000 samples per domain. All methods have their defaults;
restarts are chosen by the objective. Scores are of fresh samples, within domains and over all of them; a
latent counts as recovered above 0.95 within domains, which is compared with what `certify_domains` promises.
Seeds start at 1000; the defaults were chosen on others, below 200.
"""

import argparse
import json
import multiprocessing
import os
import time
from pathlib import Path

import numpy as np

FIRST_SEED, PER_DOMAIN, N_FRESH, RECOVERED = 1000, 10_000, 6000, 0.95
ROWS = {
    "A-4x4 U=2": {"graph": "A", "n_domains": 2, "profile": "square"},
    "A-4x8 U=2": {"graph": "A", "n_domains": 2},
    "B-4x4 U=2": {"graph": "B", "n_domains": 2, "profile": "square"},
    "B-4x8 U=2": {"graph": "B", "n_domains": 2},
    "B-4x8 U=5": {"graph": "B", "n_domains": 5},
    "C-4x4 U=3": {"graph": "C", "n_domains": 3, "profile": "square"},
    "C-4x8 U=3": {"graph": "C", "n_domains": 3},
    "D-4x4 U=9": {"graph": "D", "n_domains": 9, "profile": "square"},
    "D-4x4 U=12": {"graph": "D", "n_domains": 12, "profile": "square"},
    "D-4x8 U=9": {"graph": "D", "n_domains": 9},
    "D-4x8 U=12": {"graph": "D", "n_domains": 12},
    "A-8x8 U=3": {"graph": "A", "n_domains": 3, "n_latents": 8, "profile": "square"},
    "A-8x16 U=3": {"graph": "A", "n_domains": 3, "n_latents": 8},
    "A-4x4 U=2 means": {"graph": "A", "n_domains": 2, "profile": "square", "changes": "means"},
    "A-4x4 U=2 variances": {"graph": "A", "n_domains": 2, "profile": "square", "changes": "variances"},
    "A-4x4 U=2 laplace": {"graph": "A", "n_domains": 2, "profile": "square", "latents": "laplace"},
    "A-4x4 U=2 dominant": {"graph": "A", "n_domains": 2, "profile": "dominant"},
}


def scores(name: str, fresh, codes: np.ndarray) -> dict:
    """Return the MCC of codes within domains and over all of them."""
    from unmix.metrics import mcc

    return {name: mcc(fresh.z, codes, within=fresh.u), f"{name}_pooled": mcc(fresh.z, codes)}


def measure(job: tuple[str, int, str]) -> dict:
    """Fit one row with one seed."""
    import torch

    torch.set_num_threads(1)
    from unmix import CGVAE, IVAE
    from unmix.data import multi_domain
    from unmix.metrics import match_components, rotation_floor
    from unmix.theory import certify_domains

    row, seed, device = job
    settings = ROWS[row]
    data = multi_domain(PER_DOMAIN * settings["n_domains"], random_state=seed, **settings)
    fresh = data.world.sample(N_FRESH, random_state=seed + 1)
    n = data.structure.n_latents
    start = time.perf_counter()
    model = CGVAE(n, device=device, random_state=seed).fit(data.x, domains=data.u)
    seconds = time.perf_counter() - start
    alone = CGVAE(n, weight=0.0, n_restarts=1, device=device, random_state=seed).fit(data.x, domains=data.u)
    rival = IVAE(n, device=device, random_state=seed).fit(data.x, domains=data.u)
    z_hat = model.transform(fresh.x)
    each = match_components(fresh.z, z_hat, within=fresh.u).matched
    promised = np.array(
        [p.level == "component" for p in certify_domains(data.structure, model.n_domains_).plan]
    )
    return {
        "row": row,
        "seed": seed,
        **scores("cgvae", fresh, z_hat),
        **scores("not_sparse", fresh, alone.transform(fresh.x)),
        **scores("ivae", fresh, rival.transform(fresh.x, domains=fresh.u)),
        **scores("raw", fresh, fresh.x),
        "floor": rotation_floor(fresh.world.sources.within(fresh.z, fresh.u), random_state=seed),
        "each": each.tolist(),
        "promised": promised.tolist(),
        "as_promised": float(np.mean((each > RECOVERED) | ~promised)),
        "as_predicted": float(np.mean((each > RECOVERED) == promised)),
        "shd": data.structure.hamming(model.structure_),
        "explained": model.score(fresh.x),
        "restarts": list(model.restarts_),
        "seconds": seconds,
        "device": device,
    }


def table(results: list[dict]) -> str:
    """Return a Markdown table, one line per row of the benchmark."""
    lines = [
        "| data | MCC within | worst | pooled | not sparse | iVAE | raw x | floor | promised latents found "
        "| as predicted | SHD 0 | seconds |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        found = [r for r in results if r["row"] == row]
        if not found:
            continue
        names = ("cgvae", "cgvae_pooled", "not_sparse", "ivae", "raw", "floor", "as_promised", "as_predicted")
        mean = {name: float(np.mean([r[name] for r in found])) for name in names}
        within = [r["cgvae"] for r in found]
        spread = np.std(within, ddof=1) if len(within) > 1 else 0.0
        exact = sum(r["shd"] == 0 for r in found)
        lines.append(
            f"| {row} | {mean['cgvae']:.3f} ± {spread:.3f} | {min(within):.3f} | {mean['cgvae_pooled']:.3f} "
            f"| {mean['not_sparse']:.3f} | {mean['ivae']:.3f} | {mean['raw']:.3f} | {mean['floor']:.3f} "
            f"| {mean['as_promised']:.0%} | {mean['as_predicted']:.0%} | {exact}/{len(found)} "
            f"| {np.median([r['seconds'] for r in found]):.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", nargs="*", default=list(ROWS), help="names, or beginnings of names")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    rows = [row for row in ROWS if any(row.startswith(name) for name in args.rows)]
    jobs = [(row, FIRST_SEED + i, args.device) for row in rows for i in range(args.seeds)]
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
