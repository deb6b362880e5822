"""What the engine of `unmix reproduce` costs: overhead for each run, and a report of 10,000 results.

python benchmarks/reproduce.py [--quick] [--keep]

Runs are of an empty experiment, so that all time is overhead.
"""

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from _table import keep, parser, show

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
    asked = parser(__doc__)
    asked.add_argument("--quick", action="store_true", help="fewer runs and results")
    options = asked.parse_args()
    n_runs, n_results = (100, 1000) if options.quick else (400, 10_000)
    cost, (seconds, size) = overhead(n_runs), report_seconds(n_results)
    found = {
        "runs": n_runs,
        "overhead_ms_a_run": 1000 * cost,
        "results": n_results,
        "report_seconds": seconds,
        "report_bytes": size,
    }
    show(found, [found.values()])
    if options.keep:
        keep("reproduce", found)


if __name__ == "__main__":
    main()
