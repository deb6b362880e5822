"""What runs an experiment: cells, tasks, the sweep, the store and the summary."""

from ._cell import BUDGETS, USUAL, Cell
from ._code import code_version
from ._estimate import Estimate, estimate
from ._executors import ProcessPool, dask_executor
from ._markdown import has_marks, write_markdown
from ._methods import codes_of, find_method, make_method
from ._place import Place
from ._progress import duration, progress
from ._reasons import Reason, read_reasons
from ._runner import Outcome, _stored, sweep
from ._slurm import slurm_executor
from ._store import Store
from ._summary import NOISE, PIXELS, RAW, ROTATION, Line, Table, summarise
from ._task import Task, budgets_of, key_of, load_experiment, takes, tasks_of, title_of

__all__ = [
    "_stored",
    "BUDGETS",
    "budgets_of",
    "Cell",
    "code_version",
    "codes_of",
    "dask_executor",
    "slurm_executor",
    "duration",
    "Estimate",
    "estimate",
    "find_method",
    "key_of",
    "Line",
    "load_experiment",
    "make_method",
    "NOISE",
    "Outcome",
    "PIXELS",
    "Place",
    "ProcessPool",
    "progress",
    "RAW",
    "read_reasons",
    "Reason",
    "ROTATION",
    "Store",
    "summarise",
    "sweep",
    "Table",
    "takes",
    "Task",
    "tasks_of",
    "title_of",
    "USUAL",
    "has_marks",
    "write_markdown",
]
