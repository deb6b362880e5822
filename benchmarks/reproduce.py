"""What the engine of `unmix reproduce` costs: overhead for each run, and a report of 10,000 results.

Run `python benchmarks/reproduce.py [--quick]`. Runs are of an empty experiment, so that all time is overhead.
"""

import argparse
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from unmix.experiments import Cell, Store, sweep, tasks_of
from unmix.experiments.engine._work import perform
from unmix.report import results

CELLS = tuple(
    Cell(f"method {k}", f"n = {n}", paper=0.5, spread=0.1, settings={"method": f"method {k}", "n": n})
    for k in range(10)
    for n in range(20)
)


def run(cell, seed, budget):
    return {"mcc": 0.5 + 0.01 * seed}


def this_module() -> ModuleType:
    """Import this file by its name, under which workers find it as well."""
    import reproduce

    return reproduce


def overhead(n_runs: int) -> float:
    """Return seconds for each run of a sweep on two processes, without the time until they are up."""
    tasks = tasks_of(this_module(), seeds=-(-n_runs // len(CELLS)), budget="smoke")[:n_runs]
    moments = []
    with tempfile.TemporaryDirectory() as folder:
        sweep(
            tasks,
            Store(folder),
            workers=2,
            listen=lambda event, *_: event == "done" and moments.append(time.perf_counter()),
        )
    return (moments[-1] - moments[0]) / (len(moments) - 1)


def report_seconds(n_results: int) -> tuple[float, int]:
    """Return the seconds that a page of so many results takes, and its size."""
    tasks = tasks_of(this_module(), seeds=1, budget="smoke")
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        records = [perform(task) for task in tasks]
        for k in range(n_results):
            task = replace(tasks[k % len(tasks)], seed=k // len(tasks), budget="laptop")
            store.write(records[k % len(tasks)] | {"key": task.key, **task.identity})
        store.fold(store.experiments())
        start = time.perf_counter()
        page = results(Path(folder) / "report.html", folder)
        return time.perf_counter() - start, page.stat().st_size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    n_runs, n_results = (100, 1000) if args.quick else (400, 10_000)
    cost, (seconds, size) = overhead(n_runs), report_seconds(n_results)
    found = {
        "runs": n_runs,
        "overhead_ms_a_run": round(1000 * cost, 2),
        "results": n_results,
        "report_seconds": round(seconds, 2),
        "report_bytes": size,
    }
    print(f"overhead: {1000 * cost:.1f} ms a run over {n_runs} runs on two processes")
    print(f"report of {n_results} results: {seconds:.2f} s, {size / 2**10:.0f} KiB")
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
