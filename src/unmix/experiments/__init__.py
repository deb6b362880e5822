"""Every table of the papers that can be run here: the paper's numbers, ours, and the sweep that makes them.

An experiment is a plain module with `CELLS` and `run(cell, seed, budget) -> dict`; `EXPERIMENTS` lists
ours by name. `sweep` hands runs to any `concurrent.futures.Executor` and keeps results in a `Store`;
`summarise` makes tables of them. `unmix reproduce` and `unmix report` do all this from the command line.
"""

from ._cell import BUDGETS, Cell
from ._code import code_version
from ._estimate import Estimate, estimate
from ._executors import dask_executor, process_pool
from ._markdown import write_markdown
from ._methods import find_method
from ._progress import progress
from ._reasons import Reason, read_reasons
from ._runner import Outcome, sweep
from ._store import Store
from ._summary import RAW, ROTATION, Line, Table, summarise
from ._task import Task, load_experiment, tasks_of

EXPERIMENTS = (
    "ddl.figure4",
    "ddl.figure5",
    "ddl.table4",
    "ddl.table5",
    "ddl.table6",
    "pdgmm.table1",
    "pdgmm.d4",
    "pdgmm.d5",
    "pdgmm.d5_bounds",
    "pdgmm.d6",
    "pdgmm.d7",
    "pdgmm.d8",
    "pdgmm.d9",
    "pdgmm.e1",
    "pdgmm.e2",
    "pdgmm.e3",
    "pdgmm.e5",
    "nearid.figure2",
    "nearid.table1",
    "cg.domains",
    "cg.square",
    "mechanistic.overlap",
    "mechanistic.kinds",
    "mechanistic.ablation",
    "scale.ddl",
    "scale.pdgmm",
    "scale.cg",
    "scale.mechanistic",
    "floor.scores",
    "seeds.agreement",
)

__all__ = [
    "EXPERIMENTS",
    "BUDGETS",
    "RAW",
    "ROTATION",
    "Cell",
    "Task",
    "tasks_of",
    "load_experiment",
    "code_version",
    "Store",
    "sweep",
    "Outcome",
    "process_pool",
    "dask_executor",
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
