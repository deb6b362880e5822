"""What a sweep is made of: one run of one setting with one seed."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

from ._cell import BUDGETS, USUAL, Cell
from ._code import code_version
from ._place import Place

PREFIX = "unmix.experiments.papers."
_IDENTITY = ("experiment", "settings", "seed", "budget", "code", "data")


@dataclass(frozen=True)
class Task:
    """One run: cells that share their settings, a seed and a budget.

    Attributes
    ----------
    module : str
        Dotted name of the experiment's module.
    cells : tuple of Cell
        Those that this run gives numbers to; they have the same settings.
    seed : int
    budget : {"smoke", "laptop", "full", "gpu"}
    code : str
        From `code_version`.
    data : str, optional
        A folder of the user's, handed to `run` where it takes one. Results know its content, not its name.
    places : tuple of int
        Where the cells stand in their table.
    place : Place, optional
        Where it computes, handed to `run` where it takes one. No part of what a result depends on.
    """

    module: str
    cells: tuple[Cell, ...]
    seed: int
    budget: str
    code: str
    data: str | None = None
    places: tuple[int, ...] = ()
    place: Place | None = None

    @property
    def experiment(self) -> str:
        """The name of the experiment, as the command line spells it."""
        return self.module.removeprefix(PREFIX)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything that the numbers depend on."""
        return {
            "experiment": self.experiment,
            "settings": dict(self.cells[0].settings),
            "seed": self.seed,
            "budget": self.budget,
            "code": self.code,
        } | ({} if self.data is None else {"data": _content(Path(self.data))})

    @cached_property
    def key(self) -> str:
        """The address of the result: a digest of its identity."""
        return key_of(self.identity)

    @cached_property
    def work(self) -> str:
        """What is to be computed, whichever table asks for it: a digest of its identity but for the table."""
        return key_of(self.identity | {"experiment": ""})

    @property
    def described(self) -> list[dict[str, Any]]:
        """What a stored result says about its cells."""
        places = (*self.places, *[0] * len(self.cells))
        return [cell.to_dict() | {"place": place} for cell, place in zip(self.cells, places, strict=False)]

    def __str__(self) -> str:
        first = self.cells[0]
        return f"{self.experiment}: {first.row}, {first.column}, seed {self.seed}"


def key_of(record: dict[str, Any]) -> str:
    """Return the address of a result: a digest of all that its numbers depend on."""
    identity = {name: record[name] for name in _IDENTITY if name in record}
    return hashlib.sha256(canonical(identity).encode()).hexdigest()[:20]


def canonical(document: Any) -> str:
    """Return the one JSON text of a document."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=True)


def load_experiment(name: str) -> ModuleType:
    """Import an experiment by name: one of ours (`ddl.table4`) or any module with `CELLS` and `run`."""
    from ..papers import EXPERIMENTS

    for module in (f"{PREFIX}{name}", name):
        if module.startswith(PREFIX) and module.removeprefix(PREFIX) not in EXPERIMENTS:
            continue
        try:
            found = import_module(module)
        except ModuleNotFoundError as error:
            if error.name is not None and (module == error.name or module.startswith(error.name + ".")):
                continue
            raise
        if hasattr(found, "CELLS") and callable(getattr(found, "run", None)):
            return found
    raise ValueError(
        f"`name` must be a table of `unmix reproduce --list` or a module with CELLS and run, got {name!r}."
    )


def title_of(experiment: ModuleType, data: str | None = None) -> str:
    """Return the first line of an experiment's docstring, and which data it takes where it can choose."""
    title = (experiment.__doc__ or experiment.__name__).strip().partition("\n")[0].rstrip(".")
    return f"{title}: {experiment.data_name(data)}" if hasattr(experiment, "data_name") else title


def tasks_of(
    experiment: ModuleType,
    *,
    seeds: Sequence[int] | int = 5,
    budget: str = "laptop",
    method: str | None = None,
    data: str | Path | None = None,
    place: Place | None = None,
) -> tuple[Task, ...]:
    """List the runs of an experiment, the first seed of all cells before the second.

    Parameters
    ----------
    experiment : module
        With `CELLS` and `run(cell, seed, budget)`; `with_method(method)` where a user's method fits, and
        `run(..., data=None)` where it takes a folder, with `data_name(data)` to say in its title which data
        these are; `run(..., place=None)` where it trains on a device that can be chosen; `BUDGETS` where it
        has others than "smoke", "laptop" and "full".
    seeds : int or sequence of int
        How many, or which.
    budget : {"smoke", "laptop", "full", "gpu"}
    method : str, optional
        `package:Estimator`, run beside the methods of the table where its data fit.
    data : path-like, optional
    place : Place, optional
        The device, how many runs train on it at once, and where runs keep what they need to go on.

    Returns
    -------
    tuple of Task
    """
    _check_budget(experiment, budget)
    chosen = range(seeds) if isinstance(seeds, int) else seeds
    if not len(chosen):
        raise ValueError(f"`seeds` must name at least one seed, got {seeds!r}.")
    name, own = experiment.__name__, own_cells(experiment, method)
    codes = [(experiment.CELLS, code_version(name))]
    if own and method is not None:
        codes.append((own, code_version(name, method.partition(":")[0])))
    folder = str(data) if data is not None and takes(experiment, "data") else None
    where = place if takes(experiment, "place") else None
    return tuple(
        Task(name, tuple(group.values()), seed, budget, code, folder, tuple(group), where)
        for seed in chosen
        for cells, code in codes
        for group in _sharing(cells)
    )


def own_cells(experiment: ModuleType, method: str | None) -> tuple[Cell, ...]:
    """Return the cells of a user's method, none where the table's data do not fit it."""
    if method is None or not hasattr(experiment, "with_method"):
        return ()
    return tuple(experiment.with_method(method))


def _sharing(cells: Iterable[Cell]) -> list[dict[int, Cell]]:
    """Group cells by their settings, in the order of their first appearance; each with its place."""
    groups: dict[str, dict[int, Cell]] = {}
    for place, cell in enumerate(cells):
        groups.setdefault(canonical(dict(cell.settings)), {})[place] = cell
    return list(groups.values())


def takes(experiment: ModuleType, argument: str) -> bool:
    """Whether `run` of an experiment has an argument, `data` or `place`."""
    return argument in signature(experiment.run).parameters


def budgets_of(experiment: ModuleType) -> tuple[str, ...]:
    """Return the budgets that an experiment can be run at."""
    return tuple(getattr(experiment, "BUDGETS", USUAL))


def _check_budget(experiment: ModuleType, budget: str) -> None:
    if budget not in BUDGETS:
        raise ValueError(f"`budget` must be one of {BUDGETS}, got {budget!r}. Choose one of these.")
    known = budgets_of(experiment)
    if budget not in known:
        name = experiment.__name__.removeprefix(PREFIX)
        raise ValueError(
            f"`budget` must be {' or '.join(known)} for {name}, got {budget!r}. It has no other size."
        )


@lru_cache
def _content(folder: Path) -> str:
    """Digest names and contents of a folder's files: other data of the same size are other data."""
    if not folder.is_dir():
        raise ValueError(f"`data` must be a folder, got {str(folder)!r}. Check the path.")
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = [(str(path.relative_to(folder)), _digest(path)) for path in paths]
    return hashlib.sha256(canonical(files).encode()).hexdigest()[:12]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
