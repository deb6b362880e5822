"""Time of the mechanistic checks against the number of points, observed variables and latents.

python benchmarks/mechanisms.py [--quick] [--keep]

Each row times `certify_mechanisms` (types D, M and S, injectivity, irreducibility) and `finest_partition` for
D and M on samples of Jacobians: slots that move disjoint rows, slots that share rows with their neighbours,
and dense Jacobians. Seconds are wall time, with the processor seconds of the process beside them: on a busy
machine the two differ. The goal is stated for 1,000 Jacobians of 200 x 20: under 2 s of wall time for every
kind and every size of slot.
"""

from collections.abc import Callable
from statistics import median

import numpy as np
from _table import judged, keep, parser, show, timed

from unmix.theory import certify_mechanisms, finest_partition

GOALS = {"seconds": 2.0}
GOAL_SHAPE = (1000, 200, 20)
OTHER_SHAPES = [
    (100, 200, 20),
    (4000, 200, 20),
    (1000, 50, 20),
    (1000, 800, 20),
    (1000, 200, 10),
    (1000, 200, 40),
]
OVERLAP = {"disjoint": 0.0, "overlapping": 0.3, "dense": None}


def jacobians(shape: tuple[int, int, int], kind: str, seed: int = 0) -> np.ndarray:
    """Bands of rows, one for each latent, of which a share is common to neighbours; dense without a share."""
    rng = np.random.default_rng(seed)
    _, x, d = shape
    share = OVERLAP[kind]
    if share is None:
        return rng.normal(size=shape)
    samples, width = np.zeros(shape), x // d
    for k in range(d):
        rows = slice(width * k, width * k + width + int(share * width))
        samples[:, rows, k] = rng.normal(size=samples[:, rows, k].shape)
    return samples


def seconds(call: Callable[[], object], repeats: int) -> dict[str, float]:
    spent = [timed(call)[1] for _ in range(repeats)]
    walls, processor = ([each[kind] for each in spent] for kind in ("wall", "processor"))
    return {"median": median(walls), "worst": max(walls), "processor": median(processor)}


def row(shape: tuple[int, int, int], kind: str, slot: int, repeats: int) -> dict:
    samples, n_slots = jacobians(shape, kind), shape[2] // slot
    found = certify_mechanisms(samples, n_slots)
    return {
        "shape": list(shape),
        "kind": kind,
        "slot": slot,
        "verdicts": {each.kind: each.holds for each in found.types},
        "gap": [found.gap.lower, found.gap.upper, found.gap.method],
        "certify": seconds(lambda: certify_mechanisms(samples, n_slots), repeats),
        "finest D": seconds(lambda: finest_partition(samples, "D"), repeats),
        "finest M": seconds(lambda: finest_partition(samples, "M"), repeats),
    }


def measure(quick: bool, repeats: int) -> list[dict]:
    rows = [row(GOAL_SHAPE, kind, slot, repeats) for kind in OVERLAP for slot in (1, 2, 5)]
    return rows + ([] if quick else [row(shape, "overlapping", 2, repeats) for shape in OTHER_SHAPES])


def shown(each: dict) -> tuple:
    n, x, d = each["shape"]
    holds = ", ".join(kind for kind, held in each["verdicts"].items() if held) or "-"
    times = (each[name]["median"] for name in ("certify", "finest D", "finest M"))
    return (f"{n} of {x} x {d}", each["kind"], each["slot"], holds, *times)


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--quick", action="store_true", help="only the shape of the goal")
    options = asked.parse_args()
    repeats = 2 if options.quick else 3
    rows = measure(options.quick, repeats)
    heads = ("Jacobians", "kind", "latents per slot", "holds", "certify, s", "finest D, s", "finest M, s")
    show(heads, map(shown, rows))
    at_goal = [each["certify"]["median"] for each in rows if tuple(each["shape"]) == GOAL_SHAPE]
    goals = judged({"seconds": max(at_goal)}, GOALS)
    if options.keep:
        keep("mechanisms", {"repeats": repeats, "rows": rows, "goals": goals})


if __name__ == "__main__":
    main()
