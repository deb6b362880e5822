"""How well slots are recovered: SIS beside raw x, the rotation floor and compositional contrast, same seeds.

Run `python benchmarks/slots.py --rows K3-50 K3-80 --seeds 2 --workers 2 --out slots.json`. Every row uses the
defaults of `SlotAutoencoder`; "contrast" is the same autoencoder without the search, with the published
penalty from the first step on, a weight of 0.1 (better than 0.01 without overlap) and five times the steps.
Restarts are chosen by the objective. Seeds start at 1000; the defaults were chosen on others, below 200.
`--speed` times the vectorised contrast against a loop over pairs of slots.
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
METHODS = ("search", "contrast", "contrast 1", "search, contrast", "no search")
ROWS = {f"K{k}-{o}": {"n_slots": k, "overlap": o / 100} for k in (2, 3, 5) for o in OVERLAPS}
ROWS |= {
    "K3-50 cyclic": {"n_slots": 3, "overlap": 0.5, "profile": "cyclic"},
    "K3-50 additive": {"n_slots": 3, "overlap": 0.5, "mixing": "additive"},
    "K3-50 interacting": {"n_slots": 3, "overlap": 0.5, "mixing": "interacting"},
    "K3-50 dependent": {"n_slots": 3, "overlap": 0.5, "latents": "dependent"},
    "K3-50 reweighted": {"n_slots": 3, "overlap": 0.5, "latents": "reweighted"},
    "K3-50 nested": {"n_slots": 3, "overlap": 0.5, "profile": "nested"},
}


def settings(method: str) -> dict:
    """Return what a method changes of the defaults."""
    from unmix.penalties import compositional_contrast

    return {
        "search": {},
        "contrast": {"search": False, "penalty": compositional_contrast, "weight": 0.1, "batch_size": 100},
        "contrast 1": {"search": False, "penalty": compositional_contrast, "weight": 1.0},
        "search, contrast": {"penalty": compositional_contrast},
        "no search": {"search": False},
    }[method]


def measure(job: tuple[str, int, str, str, int, int]) -> dict:
    """Fit one row with one seed by one method."""
    import torch

    torch.set_num_threads(1)
    from unmix import SlotAutoencoder
    from unmix.data import slots
    from unmix.metrics import slot_identifiability
    from unmix.theory import sparsity_gap

    row, seed, method, device, n_samples, max_iter = job
    data = slots(n_samples, random_state=seed, **ROWS[row])
    n_slots, n_latents = len(data.partition), data.structure.n_latents
    start = time.perf_counter()
    model = SlotAutoencoder(
        n_latents, slots=n_slots, max_iter=max_iter, device=device, random_state=seed, **settings(method)
    ).fit(data.x)
    seconds = time.perf_counter() - start
    gap = sparsity_gap(data.mixing.jacobian(data.z[:5]), data.partition, generic=True)
    return {
        "row": row,
        "seed": seed,
        "method": method,
        "sis": slot_identifiability(data.z, model.transform(data.x), n_slots=n_slots),
        "ceiling": slot_identifiability(data.z, data.z, n_slots=n_slots),
        "raw": slot_identifiability(data.z, _principal(data.x, n_latents), n_slots=n_slots),
        "floor": slot_identifiability(data.z, data.z @ _turn(n_latents, seed), n_slots=n_slots),
        "type_s": bool(gap),
        "explained": model.score(data.x),
        "seconds": seconds,
        "n_samples": n_samples,
        "max_iter": max_iter,
        "device": device,
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
        f"| data | Type S | {' | '.join(methods)} | raw x | rotation floor | ceiling | seeds |",
        "|---" * (len(methods) + 6) + "|",
    ]
    for row in ROWS:
        found = [r for r in results if r["row"] == row]
        if not found:
            continue
        scores = [_scores([r["sis"] for r in found if r["method"] == m]) for m in methods]
        others = [f"{np.mean([r[name] for r in found]):.2f}" for name in ("raw", "floor", "ceiling")]
        holds = "yes" if all(r["type_s"] for r in found) else "not certified"
        n_seeds = len({r["seed"] for r in found})
        lines.append(f"| {row} | {holds} | {' | '.join(scores + others)} | {n_seeds} |")
    return "\n".join(lines)


def _scores(sis: list[float]) -> str:
    return f"{np.mean(sis):.3f} (worst {min(sis):.3f})" if sis else ""


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", nargs="*", default=list(ROWS), help="`K3*` stands for all that begin so")
    parser.add_argument("--methods", nargs="*", default=["search", "contrast"], choices=METHODS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--n-samples", type=int, default=10_000)
    parser.add_argument("--max-iter", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--speed", action="store_true", help="time the contrast, and fit nothing")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    if args.speed:
        print(json.dumps(speed()))
        return
    rows = [r for r in ROWS if any(r == a or (a.endswith("*") and r.startswith(a[:-1])) for a in args.rows)]
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    common = (args.device, args.n_samples, args.max_iter)
    jobs = [(row, seed, method, *common) for seed in seeds for row in rows for method in args.methods]
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
