"""How well latents that change between domains are recovered: `CGVAE` beside iVAE, raw x and the floor.

Run `python benchmarks/domains.py --rows A-4x8 A-4x4 --workers 2 --out domains.json`. Data are those of
`multi_domain` without a dominant diagonal, 10,000 samples per domain. All methods have their defaults;
restarts are chosen by the objective. Scores are of fresh samples, within domains and over all of them; a
latent counts as recovered above 0.95 within domains, which is compared with what `certify_domains` promises.
Seeds start at 3000; the defaults were chosen on others, below 200, and the margin between changes after the
rows "any changes" had been measured with `--first-seed 1000`, as they are stored.

A job is one method on one row with one seed; references go first, then the longest. Each is added as a line
to `domains.jsonl`, beside the file of `--out`, when it ends: a run that was stopped goes on with what is
missing. `--limit` stops by itself after so many seconds, `--gather` only joins the lines, and `--plan` lists
what is to do.
"""

import argparse
import json
import multiprocessing
import os
import time
from pathlib import Path

import numpy as np

FIRST_SEED, PER_DOMAIN, N_FRESH, RECOVERED = 3000, 10_000, 6000, 0.95
# what is claimed first, then what the pictures add
ROWS = {
    "A-4x4 U=2": {"graph": "A", "n_domains": 2, "profile": "square"},
    "A-4x8 U=2": {"graph": "A", "n_domains": 2},
    "B-4x4 U=2": {"graph": "B", "n_domains": 2, "profile": "square"},
    "B-4x8 U=2": {"graph": "B", "n_domains": 2},
    "C-4x4 U=3": {"graph": "C", "n_domains": 3, "profile": "square"},
    "C-4x8 U=3": {"graph": "C", "n_domains": 3},
    "D-4x4 U=9": {"graph": "D", "n_domains": 9, "profile": "square"},
    "D-4x8 U=9": {"graph": "D", "n_domains": 9},
    "A-8x8 U=3": {"graph": "A", "n_domains": 3, "n_latents": 8, "profile": "square"},
    "A-8x16 U=3": {"graph": "A", "n_domains": 3, "n_latents": 8},
    "D-4x4 U=12": {"graph": "D", "n_domains": 12, "profile": "square"},
    "D-4x8 U=12": {"graph": "D", "n_domains": 12},
    "D-4x4 U=2": {"graph": "D", "n_domains": 2, "profile": "square"},
    "D-4x4 U=3": {"graph": "D", "n_domains": 3, "profile": "square"},
    "D-4x4 U=5": {"graph": "D", "n_domains": 5, "profile": "square"},
    "A-4x4 U=3": {"graph": "A", "n_domains": 3, "profile": "square"},
    "A-4x4 U=5": {"graph": "A", "n_domains": 5, "profile": "square"},
    "A-4x4 U=9": {"graph": "A", "n_domains": 9, "profile": "square"},
    "A-4x4 U=12": {"graph": "A", "n_domains": 12, "profile": "square"},
    "B-4x8 U=5": {"graph": "B", "n_domains": 5},
    "A-4x4 U=2 means": {"graph": "A", "n_domains": 2, "profile": "square", "changes": "means"},
    "A-4x4 U=2 variances": {"graph": "A", "n_domains": 2, "profile": "square", "changes": "variances"},
    "A-4x4 U=2 laplace": {"graph": "A", "n_domains": 2, "profile": "square", "latents": "laplace"},
    "A-4x4 U=2 dominant": {"graph": "A", "n_domains": 2, "profile": "dominant"},
    "A-4x4 U=2 any changes": {"graph": "A", "n_domains": 2, "profile": "square", "separated": False},
    "A-4x8 U=2 any changes": {"graph": "A", "n_domains": 2, "separated": False},
    "B-4x4 U=2 any changes": {"graph": "B", "n_domains": 2, "profile": "square", "separated": False},
}
CLAIMED = list(ROWS)[:10]
METHODS = {"cgvae": 6.0, "ivae": 2.0, "not_sparse": 2.0, "reference": 0.1}  # and what they cost, roughly
# references are short, but nothing can be told without them: they go first
Job = tuple[str, int, str, str]


def measure(job: Job) -> dict:
    """Fit one row with one seed by one method."""
    import torch

    torch.set_num_threads(1)
    from unmix.data import multi_domain

    row, seed, method, device = job
    data = multi_domain(PER_DOMAIN * ROWS[row]["n_domains"], random_state=seed, **ROWS[row])
    fresh = data.world.sample(N_FRESH, random_state=seed + 1)
    wall, cpu = time.perf_counter(), time.process_time()
    found = (
        _reference(data, fresh, seed) if method == "reference" else _fitted(data, fresh, seed, method, device)
    )
    spent = {
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "device": device,
    }
    return {"row": row, "seed": seed, "method": method} | found | spent


def _fitted(data, fresh, seed: int, method: str, device: str) -> dict:
    """Fit, and match the codes of fresh samples to latents."""
    from unmix import CGVAE, IVAE
    from unmix.metrics import match_components, mcc

    n, common = data.structure.n_latents, {"device": device, "random_state": seed}
    model = {
        "cgvae": lambda: CGVAE(n, **common),
        "not_sparse": lambda: CGVAE(n, weight=0.0, n_restarts=1, **common),
        "ivae": lambda: IVAE(n, **common),
    }[method]()
    z_hat = model.fit(data.x, domains=data.u).transform(fresh.x, domains=fresh.u)
    matching = match_components(fresh.z, z_hat, within=fresh.u)
    return {
        "within": mcc(fresh.z, z_hat, within=fresh.u),
        "pooled": mcc(fresh.z, z_hat),
        "each": matching.matched.tolist(),
        "correlation": np.abs(matching.correlation[:, list(matching.order)]).round(4).tolist(),
        "shd": data.structure.hamming(model.structure_),
        "explained": model.score(fresh.x),
        "restarts": list(model.restarts_),
    }


def _reference(data, fresh, seed: int) -> dict:
    """Score raw x and rotations of the truth, and say what theory promises."""
    from unmix.metrics import mcc, rotation_floor
    from unmix.theory import certify_domains

    plan = certify_domains(data.structure, len(np.unique(data.u)))
    return {
        "within": mcc(fresh.z, fresh.x, within=fresh.u),
        "pooled": mcc(fresh.z, fresh.x),
        "floor": rotation_floor(fresh.world.sources.within(fresh.z, fresh.u), random_state=seed),
        "floor_pooled": rotation_floor(fresh.z, random_state=seed),
        "promised": [latent.level == "component" for latent in plan.plan],
        "may_depend": plan.may_depend.astype(int).tolist(),
        "contained": data.structure.contained().astype(int).tolist(),
    }


def summary(results: list[dict]) -> list[dict]:
    """Return one record per row: scores of each method, and what was found beside what was promised."""
    by = {row: {method: _by_seed(results, row, method) for method in METHODS} for row in ROWS}
    return [_row(row, of) for row, of in by.items() if of["cgvae"].keys() & of["reference"].keys()]


def _by_seed(results: list[dict], row: str, method: str) -> dict[int, dict]:
    return {r["seed"]: r for r in results if (r["row"], r["method"]) == (row, method)}


def _row(row: str, of: dict[str, dict[int, dict]]) -> dict:
    reference = of["reference"]
    ours = {seed: found for seed, found in of["cgvae"].items() if seed in reference}
    judged = [(np.array(ours[s]["each"]) > RECOVERED, np.array(reference[s]["promised"])) for s in ours]
    scores = {
        f"{name}{end}": [r[key] for r in of[method].values()]
        for name, method in (
            ("cgvae", "cgvae"),
            ("not_sparse", "not_sparse"),
            ("ivae", "ivae"),
            ("raw", "reference"),
        )
        for key, end in (("within", ""), ("pooled", "_pooled"))
    }
    return {
        "row": row,
        **scores,
        "floor": [r["floor"] for r in reference.values()],
        "promised": int(sum(promised.sum() for _, promised in judged)),
        "kept": int(sum((found & promised).sum() for found, promised in judged)),
        "as_predicted": float(np.mean([found == promised for found, promised in judged])),
        "shd": [r["shd"] for r in ours.values()],
        "seconds": float(np.median([r["seconds"] for r in ours.values()])),
        "correlation": np.mean([r["correlation"] for r in ours.values()], axis=0).tolist(),
        **{name: next(iter(reference.values()))[name] for name in ("may_depend", "contained")},
    }


def table(results: list[dict]) -> str:
    """Return a Markdown table, one line per row of the benchmark."""
    lines = [
        "| data | MCC within | worst | pooled | not sparse | iVAE | iVAE pooled | raw x | floor "
        "| promised latents found | as predicted | SHD 0 | seconds |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(_line(found) for found in summary(results))])


def _line(found: dict) -> str:
    names = ("cgvae_pooled", "not_sparse", "ivae", "ivae_pooled", "raw", "floor")
    within, spread = found["cgvae"], np.std(found["cgvae"], ddof=1) if len(found["cgvae"]) > 1 else 0.0
    means = " | ".join(f"{np.mean(found[name]):.3f}" if found[name] else "" for name in names)
    exact = sum(shd == 0 for shd in found["shd"])
    return (
        f"| {found['row']} | {np.mean(within):.3f} ± {spread:.3f} | {min(within):.3f} | {means} "
        f"| {found['kept']}/{found['promised']} | {found['as_predicted']:.0%} | {exact}/{len(within)} "
        f"| {found['seconds']:.0f} |"
    )


def cost(job: Job) -> float:
    """Return how long a job takes beside others, roughly."""
    settings = ROWS[job[0]]
    return METHODS[job[2]] * (2.5 if settings.get("n_latents", 4) > 4 else 1.0)


def stored(lines: Path | None) -> list[dict]:
    """Read what was measured, once each; a line that was cut off in writing is left out."""
    found = {}
    for line in lines.read_text(encoding="utf-8").splitlines() if lines and lines.exists() else ():
        try:
            result = json.loads(line)
        except json.JSONDecodeError:
            continue  # an empty one, or cut off
        found[result["row"], result["seed"], result["method"]] = result
    return list(found.values())


def keep(lines: Path, result: dict) -> None:
    """Add a line, and see that it is on the disk."""
    with lines.open("a", encoding="utf-8") as stream:
        stream.write("\n" + json.dumps(result))  # so that a line that was cut off stays alone
        stream.flush()
        os.fsync(stream.fileno())


def gather(lines: Path, out: Path) -> list[dict]:
    """Write all lines as one JSON file, in the order of the rows."""
    order = {name: number for number, name in enumerate([*ROWS, *METHODS])}
    results = sorted(stored(lines), key=lambda r: (order[r["row"]], order[r["method"]], r["seed"]))
    draft = out.with_suffix(".draft")
    draft.write_text("[\n" + ",\n".join(json.dumps(r) for r in results) + "\n]\n", encoding="utf-8")
    draft.replace(out)
    return results


def run(jobs: list[Job], workers: int, lines: Path | None, limit: float) -> list[dict]:
    """Measure jobs until all are done or the time is up."""
    results, end = [], time.monotonic() + limit
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        waiting = pool.imap_unordered(measure, jobs)
        for _ in jobs:
            try:
                results.append(waiting.next(timeout=max(0.1, end - time.monotonic())))
            except multiprocessing.TimeoutError:
                print(f"stopped after {limit:.0f} s: {len(jobs) - len(results)} jobs are left", flush=True)
                break
            print(
                json.dumps({k: results[-1][k] for k in ("row", "seed", "method", "within", "seconds")}),
                flush=True,
            )
            if lines:
                keep(lines, results[-1])
        pool.terminate()
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--rows", nargs="*", default=list(ROWS), help="names, beginnings of names, or `claimed`"
    )
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=METHODS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds after which to stop")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--gather", action="store_true", help="only join what is there")
    parser.add_argument("--plan", action="store_true", help="only list the jobs that are missing")
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    named = tuple(args.rows)
    rows = CLAIMED if named == ("claimed",) else [row for row in ROWS if row.startswith(named)]
    lines = args.out and args.out.with_suffix(".jsonl")
    done = {(r["row"], r["seed"], r["method"]) for r in stored(lines)}
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    jobs = [(row, seed, method, args.device) for row in rows for method in args.methods for seed in seeds]
    jobs = sorted(
        (job for job in jobs if job[:3] not in done),
        key=lambda job: (job[2] == "reference", cost(job)),
        reverse=True,
    )
    if args.plan:
        print("\n".join(f"{cost(job):5.1f} {job}" for job in jobs))
        return
    results = [] if args.gather else run(jobs, args.workers, lines, min(args.limit, 1e9))
    if args.out:
        results = gather(lines, args.out)
    print(table(results))


if __name__ == "__main__":
    main()
