"""Time and memory of `certify` against the numbers of latents and of observed variables.

python benchmarks/certify.py [--quick] [--keep]

Structures have two parents per observed variable on average, or half of all edges, and every latent has a
child. Times are medians over fresh structures, so that nothing is cached: of `certify` by the clock and by
the processor (which differ on a busy machine), and of `certify` with its report and the count of the
triangular alternative. Memory is the peak of a process of its own that certifies the largest dense structure,
imports included.
"""

import resource
import subprocess
import sys
from functools import partial

import numpy as np
from _table import judged, keep, parser, show, timed

from unmix.structure import Structure
from unmix.theory import certify

LARGEST = (10_000, 1_000)
SHAPES = [
    *((d_x, 50) for d_x in (50, 200, 1_000, 10_000)),
    *((2_000, d_z) for d_z in (10, 100, 400, 1_000)),
    LARGEST,
]
DENSE_SHAPES = [(200, 50), LARGEST]
GOALS = {"200 x 50, ms": 5.0, "10,000 x 1,000, ms": 2_000.0, "10,000 x 1,000, GB": 2.0}


def structure(d_x: int, d_z: int, seed: int, dense: bool = False) -> Structure:
    rng = np.random.default_rng(seed)
    support = rng.random((d_x, d_z)) < (0.5 if dense else 1 / d_z)
    return Structure(support | (np.arange(d_x)[:, None] % d_z == np.arange(d_z)))


def row(d_x: int, d_z: int, repeats: int, dense: bool = False) -> dict:
    made = [structure(d_x, d_z, seed, dense) for seed in range(repeats)]
    certified = [timed(partial(certify, each)) for each in made]
    reports = [timed(partial(str, certificate))[1]["wall"] for certificate, _ in certified]
    walls, processor = ([1e3 * spent[kind] for _, spent in certified] for kind in ("wall", "processor"))
    return {
        "d_x": d_x,
        "d_z": d_z,
        "edges": made[-1].n_edges,
        "milliseconds": float(np.median(walls)),
        "processor_milliseconds": float(np.median(processor)),
        "slowest_milliseconds": max(walls),
        "with_report_milliseconds": float(np.median(np.add(walls, np.multiply(1e3, reports)))),
    }


def peak_gigabytes() -> float:
    """Return the peak memory of a fresh process that certifies the largest structure."""
    done = subprocess.run([sys.executable, __file__, "--peak"], capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure(repeats: int) -> list[dict]:
    row(200, 50, 1)  # the first call pays for loading linear algebra
    dense = [row(*shape, repeats, dense=True) for shape in DENSE_SHAPES]
    return [row(*shape, repeats) for shape in SHAPES] + dense


def slowest(rows: list[dict], shape: tuple[int, int]) -> float:
    """Return the median time of a shape by the clock, the slower of sparse and dense."""
    return max(each["milliseconds"] for each in rows if (each["d_x"], each["d_z"]) == shape)


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--quick", action="store_true", help="fewer repeats")
    asked.add_argument("--peak", action="store_true", help="print the peak memory of one certificate")
    options = asked.parse_args()
    if options.peak:
        certify(structure(*LARGEST, seed=0, dense=True))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)  # kilobytes on Linux
        return
    repeats = 3 if options.quick else 15
    rows, peak = measure(repeats), peak_gigabytes()
    show(rows[0], (each.values() for each in rows))
    found = (slowest(rows, (200, 50)), slowest(rows, LARGEST), peak)
    goals = judged(dict(zip(GOALS, found, strict=True)), GOALS)
    if options.keep:
        keep("certify", {"repeats": repeats, "rows": rows, "peak_gigabytes": peak, "goals": goals})


if __name__ == "__main__":
    main()
