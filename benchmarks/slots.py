"""How well slots are found, as one table of what `results/` holds, and how fast the contrast is.

    unmix reproduce mechanistic.overlap mechanistic.ablation --budget laptop --first-seed 3000 --out results
    python benchmarks/slots.py

The first line fits (seeds below 2000 chose the defaults), the second prints. `--speed` times the vectorised
contrast against a loop over pairs of slots, three times.
"""

import argparse
import json
import os
import time
from itertools import combinations
from pathlib import Path

import numpy as np

from unmix.experiments import RAW, ROTATION, Store

RESULTS = Path(__file__).parent.parent / "results"
SEARCH = "unmix default, search and counting"
CONTRASTS = ("contrast, weight 0.01", "contrast, weight 1")
BESIDE = (RAW, ROTATION, "true latents")
METHODS = (SEARCH, *CONTRASTS, *BESIDE)
World = tuple[int, float]  # slots, and the share of rows that each has in common with the next
Scores = dict[World, dict[str, list[float]]]


def scores(folder: Path = RESULTS, table: str = "mechanistic.overlap") -> Scores:
    """Return SIS of each seed, by world and method, as far as stored; the newest where there are several."""
    found: dict[World, dict[str, dict[int, float]]] = {}
    for record in sorted(Store(folder).records(), key=lambda record: record.get("finished", "")):
        if (record["experiment"], record["budget"], record["error"]) == (table, "laptop", None):
            world, method = record["settings"]["world"], record["settings"]["method"]
            of = found.setdefault((world["n_slots"], world["overlap"]), {})
            of.setdefault(method, {})[record["seed"]] = record["values"]["SIS"]
    return {
        world: {method: [sis for _, sis in sorted(by_seed.items())] for method, by_seed in of.items()}
        for world, of in sorted(found.items())
    }


def table(found: Scores) -> str:
    """Return a Markdown table, one line per number of slots and overlap."""
    lines = [
        "| slots, overlap | Type S | search | contrast 0.01 | contrast 1 | raw x | rotation floor | ceiling "
        "| seeds | goal |",
        "|---" * 10 + "|",
    ]
    for (n_slots, overlap), of in found.items():
        n = len(of.get(SEARCH, []))
        fitted = [_fitted(of.get(method, []), n) for method in METHODS[:3]]
        beside = [f"{np.mean(of[method]):.2f}" if method in of else "" for method in BESIDE]
        cells = [f"{n_slots}, {overlap:.0%}", certified(n_slots, overlap), *fitted, *beside]
        lines.append(f"| {' | '.join(cells)} | {n} | {goal((n_slots, overlap), of)} |")
    return "\n".join(lines)


def _fitted(sis: list[float], n: int) -> str:
    seeds = "" if len(sis) == n else f", {len(sis)} seeds"
    return f"{np.mean(sis):.3f} (worst {min(sis):.3f}{seeds})" if sis else ""


def certified(n_slots: int, overlap: float) -> str:
    """Say by how many rows Type S holds; exact Jacobians, so that an entry is zero only where it is."""
    gap = _gap(n_slots, overlap)
    return f"by {gap.lower} row{'s' * (gap.lower != 1)}" if gap else "not certified"


def _gap(n_slots: int, overlap: float):
    from unmix.data import slots
    from unmix.theory import sparsity_gap

    data = slots(100, n_slots=n_slots, overlap=overlap, random_state=0)
    return sparsity_gap(data.mixing.jacobian(data.z[:5]), data.partition, generic=True, tolerance=1e-12)


def goal(world: World, of: dict[str, list[float]]) -> str:
    """Say whether the mean of the search is where it should be; from 60% on, 0.15 above either contrast."""
    if not all(of.get(method) for method in METHODS[:3]):
        return "not all measured"
    search, *contrasts = (float(np.mean(of[method])) for method in METHODS[:3])
    if world[1] <= 0.5:
        least = 0.95 if world[1] <= 0.25 else 0.9
    elif _gap(*world):
        least = max(contrasts) + 0.15
    else:
        return "none"
    return f"{least:.2f}, {'met' if search >= least else 'missed'}"


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
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--speed", action="store_true", help="time the contrast instead")
    parser.add_argument("--out", type=Path, default=Path("slots_speed.json"), help="where the times go")
    args = parser.parse_args()
    if args.speed:
        times = [speed() | {"load": os.getloadavg()[0], "cores": os.cpu_count()} for _ in range(3)]
        args.out.write_text(json.dumps(times, indent=1) + "\n")
        print(json.dumps(times, indent=1))
    else:
        print(table(scores(args.results)))


if __name__ == "__main__":
    main()
