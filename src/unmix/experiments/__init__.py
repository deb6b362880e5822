"""Every table of the papers that can be run here: the paper's numbers, ours, and the sweep that makes them.

An experiment is a plain module with `CELLS` and `run(cell, seed, budget) -> dict`; `EXPERIMENTS` lists
ours by name. `sweep` hands runs to any `concurrent.futures.Executor` and keeps results in a `Store`;
`summarise` makes tables of them. `unmix reproduce` and `unmix report` do all this from the command line.
"""

from .engine import (
    BUDGETS,
    NOISE,
    PIXELS,
    RAW,
    ROTATION,
    Cell,
    Estimate,
    Line,
    Outcome,
    Place,
    ProcessPool,
    Reason,
    Store,
    Table,
    Task,
    code_version,
    dask_executor,
    estimate,
    find_method,
    load_experiment,
    progress,
    read_reasons,
    slurm_executor,
    summarise,
    sweep,
    tasks_of,
    write_markdown,
)
from .papers import EXPERIMENTS

__all__ = [
    "EXPERIMENTS",
    "BUDGETS",
    "RAW",
    "ROTATION",
    "PIXELS",
    "NOISE",
    "Cell",
    "Task",
    "tasks_of",
    "Place",
    "load_experiment",
    "code_version",
    "Store",
    "sweep",
    "Outcome",
    "ProcessPool",
    "dask_executor",
    "slurm_executor",
    "progress",
    "find_method",
    "estimate",
    "Estimate",
    "summarise",
    "read_reasons",
    "Reason",
    "write_markdown",
    "Table",
    "Line",
]
