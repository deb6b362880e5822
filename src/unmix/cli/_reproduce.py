"""`unmix reproduce`: the tables of the papers, ours beside theirs."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from inspect import isclass
from pathlib import Path
from typing import Annotated, Any

import typer

from .._waiting import was_stopped
from ._again import again
from ._output import Json, print_json, say, taking, tell
from ._reading import refuse_no_folder

REPRODUCE_EXAMPLE = (
    "Example: [bold]unmix reproduce ddl.table4 --seeds 5 --budget laptop --workers 2 --out results[/], "
    "then [bold]unmix report results --out results.html[/]"
)
_SAFE_PATH = "PYTHONSAFEPATH"

Budget = StrEnum("Budget", ["smoke", "laptop", "full", "gpu"])
Where = StrEnum("Where", ["processes", "dask", "slurm"])


@dataclass(frozen=True)
class Reproduce:
    """Options of `unmix reproduce`."""

    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="Tables (see --list), or `all`.")
    ] = None
    list_: Annotated[bool, typer.Option("--list", help="List the tables, and stop.")] = False
    rows: Annotated[
        list[str] | None,
        typer.Option("--row", metavar="PATTERN", help="Only rows of this name; `*` is anything. Repeat it."),
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="PATTERN", help="Only columns of this name, likewise."),
    ] = None
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Number of seeds per cell.")] = 5
    first_seed: Annotated[int, typer.Option("--first-seed", min=0, help="The first seed.")] = 0
    budget: Annotated[Budget, typer.Option("--budget", help="Size of data and fits.")] = Budget.laptop
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes, one thread each.")] = 2
    out: Annotated[Path, typer.Option("--out", help="Folder of results; what is there is not redone.")] = (
        Path("results")
    )
    method: Annotated[str | None, typer.Option("--method", help="Your own method, as package:Estimator.")] = (
        None
    )
    data: Annotated[Path | None, typer.Option("--data", help="Folder of data for tables that take one.")] = (
        None
    )
    device: Annotated[
        str | None, typer.Option("--device", help="auto, cpu or cuda, for tables that train on images.")
    ] = None
    at_once: Annotated[
        int, typer.Option("--at-once", min=1, help="Runs that train on the GPU at a time; others score.")
    ] = 1
    dask: Annotated[str | None, typer.Option("--dask", help="Address of a Dask scheduler, or `local`.")] = (
        None
    )
    executor: Annotated[
        Where | None,
        typer.Option("--executor", help="Where runs are done; by default processes of this machine."),
    ] = None
    slurm: Annotated[
        list[str] | None,
        typer.Option(
            "--slurm",
            metavar="NAME=VALUE",
            help="A setting of Slurm's jobs, as submitit names it; repeat it.",
        ),
    ] = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan, and stop.")] = False
    any_code: Annotated[
        bool, typer.Option("--any-code", help="Do not redo what other versions of the code have stored.")
    ] = False
    force: Annotated[bool, typer.Option("--force", help="Redo what is stored.")] = False
    strict: Annotated[bool, typer.Option("--strict", help="Fail also where a cell has no number.")] = False
    as_json: Json = False


@taking(Reproduce)
def reproduce(given: Reproduce) -> None:
    """Run the tables of the papers; killed or stopped, the same command goes on."""
    if given.list_:
        return _show_list(given.as_json)
    from ..experiments import Store

    _where(given)
    refuse_no_folder(given.out)
    if given.any_code and given.force:
        raise ValueError("`--any-code` must come without --force, got both. One keeps what the other redoes.")
    store = Store(given.out)
    tasks = _tasks(given)
    if given.any_code:
        tasks = _without_older(tasks, store)
    if given.dry_run:
        return _show_plan(tasks, store, given)
    outcome = _sweep(tasks, store, given)
    _show_outcome(outcome, tasks, store, given.as_json)
    empty = _without_number(tasks, store) if given.strict else []
    for place in empty:
        say(f"unmix: no number: {place}")
    if outcome.failed or empty:
        raise typer.Exit(1)


def _without_number(tasks: list[Any], store: Any) -> list[str]:
    """Name the cells that stored results give no number to."""
    found = {task.key: (store.read(task) or {"values": {}})["values"] for task in tasks}
    return [
        f"{task.experiment}: {cell.row}, {cell.column}, {cell.value}, seed {task.seed}"
        for task in tasks
        for cell in task.cells
        if cell.always and found[task.key].get(cell.value) is None
    ]


def _modules(names: list[str], budget: str) -> list[Any]:
    """Import the tables; `all` are those that have the budget."""
    from ..experiments import EXPERIMENTS, load_experiment
    from ..experiments.engine import budgets_of

    if not names:
        raise ValueError("`NAME` must be a table or `all`, got nothing. See `unmix reproduce --list`.")
    every = [load_experiment(name) for name in (EXPERIMENTS if "all" in names else ())]
    wanted = [module for module in every if budget in budgets_of(module)]
    wanted += [load_experiment(name) for name in names if name != "all"]
    return list(dict.fromkeys(wanted))


def _place(given: Reproduce, modules: list[Any]) -> Any:
    """Say where runs compute that train on a device: which one, and what they keep there to go on."""
    from ..experiments import Place
    from ..experiments.engine import takes

    training = [module for module in modules if takes(module, "place")]
    if given.device is not None:
        if not training:
            raise ValueError(
                f"`--device` must fit a table, got {given.device!r} and only tables that take none."
            )
        from ..training import device

        device(given.device)
    folder = str(given.out / ".work") if _where(given) == Where.processes else None
    return Place(given.device or "auto", given.at_once, folder) if training else None


def _let_in(given: Reproduce) -> None:
    """Let a method or table that the user names be imported from this folder, behind all that is installed.

    Nothing else is: a file that lies here and is called like a library is not run.
    """
    if _has_own(given) and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def _has_own(given: Reproduce) -> bool:
    """Whether the user names a method or table of their own."""
    from ..experiments import EXPERIMENTS

    return given.method is not None or any(n not in ("all", *EXPERIMENTS) for n in given.names or [])


@contextmanager
def _safe_path(given: Reproduce) -> Iterator[None]:
    """Keep workers, too, from what lies in this folder, where Python looks first when it starts one.

    Not jobs of Slurm that need a method or table from here: they find it in no other way.
    """
    if _has_own(given) and _where(given) == Where.slurm:
        yield
        return
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        del os.environ[_SAFE_PATH]
        os.environ.update({} if before is None else {_SAFE_PATH: before})


def _tasks(given: Reproduce) -> list[Any]:
    from ..experiments import find_method, tasks_of

    _let_in(given)
    modules, method = _modules(given.names or [], given.budget.value), given.method
    if method is not None:
        find_method(method)
        fitting = [module for module in modules if hasattr(module, "with_method")]
        if not fitting:
            raise ValueError(f"`--method` must fit a table, got {method!r} and only tables that take none.")
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    known: dict[str, Any] = {"budget": given.budget.value, "method": method, "data": given.data}
    known["place"] = _place(given, modules)
    tasks = [task for module in modules for task in tasks_of(module, seeds=seeds, **known)]
    for what, patterns in (("row", given.rows), ("column", given.columns)):
        tasks = _matching(tasks, what, patterns or [])
    _say_origins(modules, None if method is None else find_method(method))
    return tasks


def _matching(tasks: list[Any], what: str, patterns: list[str]) -> list[Any]:
    """Keep the runs with a cell whose row or column is asked for, all where none is."""
    names = {task.key: {getattr(cell, what) for cell in task.cells} for task in tasks}
    there = set().union(*names.values())
    wanted: set[str] = set()
    for pattern in patterns:
        fitting = {pattern} & there or {name for name in there if fnmatchcase(name, pattern)}
        if not fitting:
            raise ValueError(
                f"`--{what}` must fit a {what} of these tables, got {pattern!r}. "
                f"There are: {', '.join(sorted(there))}."
            )
        wanted |= fitting
    return [task for task in tasks if not patterns or names[task.key] & wanted]


def _without_older(tasks: list[Any], store: Any) -> list[Any]:
    """Leave out the runs that other versions of the code have stored, and say how many."""
    from ..experiments.engine import key_of

    def work(record: dict[str, Any]) -> str:
        return key_of(record | {"code": ""})

    stored = {record["key"]: work(record) for record in store.records() if record["error"] is None}
    older = set(stored.values())
    left = [task for task in tasks if task.key in stored or work(task.identity) not in older]
    if len(left) < len(tasks):
        say(
            f"unmix: {len(tasks) - len(left)} runs are stored with other versions of the code, and not redone"
        )
    return left


def _say_origins(modules: list[Any], method: Any) -> None:
    """Say where code comes from that is not ours."""
    from ..experiments import EXPERIMENTS

    for module in modules:
        if module.__name__ not in {f"unmix.experiments.papers.{name}" for name in EXPERIMENTS}:
            say(f"unmix: the table {module.__name__} is taken from {module.__file__}")
    if method is not None:
        home = sys.modules[(method if isclass(method) else type(method)).__module__]
        say(f"unmix: the method {home.__name__} is taken from {getattr(home, '__file__', None)}")


def _show_list(as_json: bool) -> None:
    from unmix.experiments.engine import budgets_of, title_of

    from ..experiments import EXPERIMENTS, load_experiment

    found = [(name, load_experiment(name)) for name in EXPERIMENTS]
    entries = [
        {
            "name": name,
            "title": title_of(module),
            "cells": len(module.CELLS),
            "budgets": list(budgets_of(module)),
            "own_method": hasattr(module, "with_method"),
        }
        for name, module in found
    ]
    if as_json:
        print_json({"experiments": entries})
    else:
        width = max((len(name) for name in EXPERIMENTS), default=0)
        tell(*(f"{e['name']:<{width}}  {e['cells']:>3} cells  {e['title']}" for e in entries))


def _show_plan(tasks: list[Any], store: Any, given: Reproduce) -> None:
    from unmix.experiments.engine import _stored, duration

    from ..experiments import estimate

    left = [task for task in tasks if given.force or not _stored(store, task)]
    guess = estimate(left, store.records(), given.workers)
    _warn_of_corrupt(store)
    if given.as_json:
        planned = [{"run": str(task), "key": task.key, "stored": task not in left} for task in tasks]
        return print_json({"tasks": planned, "to_run": len(left), "seconds": guess.seconds})
    for task in left:
        tell(str(task))
    if guess.seconds is None:
        time = "nothing like it was timed before"
    else:
        known = f"{guess.n_timed} of {len(left)} timed before"
        time = f"about {duration(guess.seconds)} with {given.workers} workers ({known})"
    tell(f"{len(left)} runs to do, {len(tasks) - len(left)} stored; {time}.")


def _sweep(tasks: list[Any], store: Any, given: Reproduce) -> Any:
    from ..experiments import progress, sweep

    command = shlex.join(["unmix", *_command()])
    try:
        with _safe_path(given), _executor(tasks, given) as (executor, n), progress(len(tasks), n) as listen:
            outcome = sweep(
                tasks, store, executor=executor, workers=n, force=given.force, command=command, listen=listen
            )
    except (KeyboardInterrupt, RuntimeError) as error:
        if not was_stopped(error):
            raise
        say(f"unmix: interrupted. What is done is stored. To go on: {again('--force')}")
        sys.exit(130)
    finally:
        _warn_of_corrupt(store)
    for place in {task.place for task in tasks if task.place is not None and not outcome.failed}:
        place.tidy()
    return outcome


@contextmanager
def _executor(tasks: list[Any], given: Reproduce) -> Iterator[tuple[Any, int]]:
    workers, where = given.workers, _where(given)
    if where == Where.processes:
        yield None, workers
        return
    from ..experiments import dask_executor, slurm_executor

    modules = tuple(dict.fromkeys(task.module for task in tasks))
    if where == Where.slurm:
        with slurm_executor(given.out / ".slurm", _of_jobs(given), modules) as jobs:
            yield jobs, workers
        return
    with dask_executor(given.dask or "local", workers, modules) as executor:
        cluster: Any = executor
        yield executor, max(workers, sum(cluster._client.nthreads().values()))


def _where(given: Reproduce) -> Where:
    """Return where runs are done, and refuse settings of another place."""
    where = given.executor or (Where.dask if given.dask else Where.slurm if given.slurm else Where.processes)
    for option, value in (("dask", given.dask), ("slurm", given.slurm)):
        if value and where != option:
            raise ValueError(
                f"`--{option}` must come with --executor {option}, got {where.value}. Leave one out."
            )
    return where


def _of_jobs(given: Reproduce) -> dict[str, Any]:
    """Return the settings of jobs: one GPU each where runs train on one, and those that were asked for."""
    asked: dict[str, Any] = {"gpus_per_node": 1} if given.budget == Budget.gpu else {}
    for setting in given.slurm or []:
        name, equals, value = setting.partition("=")
        if not name or not equals:
            raise ValueError(f"`--slurm` must be NAME=VALUE, got {setting!r}. Use slurm_partition=gpu, say.")
        asked[name] = int(value) if value.isdigit() else value
    return asked


def _command() -> list[str]:
    """Return the arguments that matter for the numbers; of folders of this machine only the data's name."""
    given, kept = iter(sys.argv[1:]), []
    for argument in given:
        name, equals, value = argument.partition("=")
        if name in (
            "--out",
            "--data",
            "--dask",
            "--executor",
            "--slurm",
            "--workers",
            "--device",
            "--at-once",
        ):
            value = value if equals else next(given, "")
            kept += [name, Path(value).name] if name == "--data" else []
        elif name not in ("--any-code", "--force", "--json", "--strict"):
            kept.append(argument)
    return kept


def _warn_of_corrupt(store: Any) -> None:
    for name, fault in sorted(store.corrupt.items()):
        say(f"unmix: warning: {name} is not trusted, {fault}; it is redone.")


def _show_outcome(outcome: Any, tasks: list[Any], store: Any, as_json: bool) -> None:
    counts = {"done": outcome.done, "skipped": outcome.skipped, "failed": outcome.failed}
    if as_json:
        known = ("key", "experiment", "error")
        errors = [{name: failure[name] for name in known} for failure in outcome.failures]
        about = {"seconds": outcome.seconds, "out": store.folder, "failures": errors}
        print_json({"tasks": len(tasks), **counts, **about})
    else:
        report = ["unmix", "report", str(store.folder), "--out", f"{store.folder.name}.html"]
        tell(
            f"{outcome.done} runs done, {outcome.skipped} stored before, {outcome.failed} failed.",
            f"For the tables: {shlex.join(report)}",
        )
