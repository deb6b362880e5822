"""Time and memory of `certify` against the numbers of latents and of observed variables.

python benchmarks/certify.py [--quick] [--out results.json]

Structures have two parents per observed variable on average, or half of all edges, and every latent has a
child. Times are medians over fresh structures, so that nothing is cached: of `certify` by the clock and by
the processor (which differ on a busy machine), and of `certify` with its report and the count of the
triangular alternative. Memory is the peak of a process of its own that certifies the largest dense structure,
imports included.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

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
    alone, processor, reported = [], [], []
    for seed in range(repeats):
        made = structure(d_x, d_z, seed, dense)
        start, used = time.perf_counter(), time.process_time()
        certificate = certify(made)
        alone.append(1e3 * (time.perf_counter() - start))
        processor.append(1e3 * (time.process_time() - used))
        str(certificate)
        reported.append(1e3 * (time.perf_counter() - start))
    return {
        "d_x": d_x,
        "d_z": d_z,
        "edges": made.n_edges,
        "milliseconds": float(np.median(alone)),
        "processor_milliseconds": float(np.median(processor)),
        "slowest_milliseconds": max(alone),
        "with_report_milliseconds": float(np.median(reported)),
    }


def peak_gigabytes() -> float:
    """Return the peak memory of a fresh process that certifies the largest structure."""
    done = subprocess.run([sys.executable, __file__, "--peak"], capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure(quick: bool) -> dict:
    repeats = 3 if quick else 15
    row(200, 50, 1)  # the first call pays for loading linear algebra
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": os.environ.get("OMP_NUM_THREADS", "default"),
        "numpy": np.__version__,
        "load": os.getloadavg()[0],
        "repeats": repeats,
        "rows": [row(*shape, repeats) for shape in SHAPES]
        + [row(*shape, repeats, dense=True) for shape in DENSE_SHAPES],
        "peak_gigabytes": peak_gigabytes(),
    }


def verdicts(results: dict) -> dict[str, dict]:
    """Set the median time of the named shapes, by the clock, and the peak beside their goals."""
    taken: dict[tuple[int, int], float] = {}
    for each in results["rows"]:  # the slower of sparse and dense
        shape = each["d_x"], each["d_z"]
        taken[shape] = max(each["milliseconds"], taken.get(shape, 0.0))
    found = (taken[200, 50], taken[LARGEST], results["peak_gigabytes"])
    return {
        name: {"measured": value, "goal": goal, "met": value < goal}
        for (name, goal), value in zip(GOALS.items(), found, strict=True)
    }


def table(rows: list[dict]) -> Table:
    drawn = Table("d_x", "d_z", "edges", "certify, ms", "processor, ms", "slowest, ms", "with report, ms")
    for row in rows:
        times = (row[f"{kind}milliseconds"] for kind in ("", "processor_", "slowest_", "with_report_"))
        cells = (row["d_x"], row["d_z"], row["edges"], *(f"{ms:.2f}" for ms in times))
        drawn.add_row(*map(str, cells))
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    parser.add_argument("--out", type=Path, help="write the results to this JSON file")
    parser.add_argument("--peak", action="store_true", help="print the peak memory of one certificate")
    options = parser.parse_args()
    if options.peak:
        certify(structure(*LARGEST, seed=0, dense=True))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)  # kilobytes on Linux
        return
    results = measure(options.quick)
    results["goals"] = verdicts(results)
    console = Console()
    console.print(f"{results['processor']}, {results['cores']} cores, numpy {results['numpy']}")
    console.print(table(results["rows"]))
    for name, verdict in results["goals"].items():
        met = "met" if verdict["met"] else "MISSED"
        console.print(f"{name}: {verdict['measured']:.2f}, goal {verdict['goal']}, {met}")
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
