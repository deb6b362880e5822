"""How long a sweep will take, from how long its runs took before."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from ._task import Task, canonical


class Estimate(NamedTuple):
    """Expected time of a sweep.

    Attributes
    ----------
    seconds : float or None
        With all workers busy; None where nothing like it was ever timed.
    n_tasks, n_timed : int
        Runs, and those of them whose own setting was timed before; others count like their experiment.
    """

    seconds: float | None
    n_tasks: int
    n_timed: int


def estimate(tasks: Sequence[Task], records: Iterable[dict[str, Any]], workers: int) -> Estimate:
    """Estimate the time of runs from earlier ones of the same budget, whatever their seed and code.

    Examples
    --------
    >>> estimate([], [], workers=2)
    Estimate(seconds=0.0, n_tasks=0, n_timed=0)
    """
    exact: dict[tuple[str, ...], list[float]] = {}
    for record in records:
        if record["error"] is None:
            for depth in (2, 3):
                exact.setdefault(_alike(record)[:depth], []).append(record["seconds"])
    known = [_alike(task.identity) for task in tasks]
    times = [exact.get(like, exact.get(like[:2])) for like in known]
    timed = [fmean(seconds) for seconds in times if seconds]
    if tasks and not timed:
        return Estimate(None, len(tasks), 0)
    mean = fmean(timed) if timed else 0.0
    total = sum(timed) + mean * (len(tasks) - len(timed))
    return Estimate(total / workers, len(tasks), sum(like in exact for like in known))


def _alike(identity: dict[str, Any]) -> tuple[str, ...]:
    return identity["experiment"], identity["budget"], canonical(identity["settings"])
