"""What people see of a sweep: a live line on a terminal, a quiet log elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from unmix._waiting import duration

from ._runner import Listener
from ._task import Task

_EVERY = 30.0


@contextmanager
def progress(n_tasks: int, workers: int, wanted: bool | None = None) -> Iterator[Listener]:
    """Yield a listener for `sweep` that shows what is done, running and failed, and the time left.

    Parameters
    ----------
    n_tasks, workers : int
    wanted : bool, optional
        A live line; by default where standard error is a terminal. Else a line for each failure, one every
        half minute and one at the end.
    """
    console = Console(stderr=True)
    counts = Counts(n_tasks, workers)
    if not (console.is_terminal if wanted is None else wanted):
        yield _logger(counts)
        _log(counts.line())
        return
    columns = (BarColumn(14), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as bar:
        line = bar.add_task(counts.brief(), total=n_tasks)

        def listen(event: str, task: Task, record: dict[str, Any] | None) -> None:
            counts.add(event, record)
            bar.update(line, completed=counts.finished, description=counts.brief())
            if event == "fail" and record is not None:
                console.print(_failure(task, record), markup=False, highlight=False)

        yield listen


class Counts:
    """Runs by what became of them.

    >>> counts = Counts(4, workers=2)
    >>> counts.add("skip", None); counts.add("start", None); counts.line()
    '25%: 0 done, 1 stored before, 1 running, 0 failed'
    """

    def __init__(self, n_tasks: int, workers: int) -> None:
        self.n_tasks, self.workers = n_tasks, workers
        self.by_event = {"skip": 0, "start": 0, "done": 0, "fail": 0}
        self.seconds: list[float] = []

    def add(self, event: str, record: dict[str, Any] | None) -> None:
        """Count one event."""
        self.by_event[event] += 1
        if event in ("done", "fail") and record is not None:
            self.seconds.append(record["seconds"])

    @property
    def finished(self) -> int:
        """Runs that need no more attention."""
        return self.by_event["skip"] + self.by_event["done"] + self.by_event["fail"]

    @property
    def running(self) -> int:
        """Runs under way."""
        n = self.by_event
        return min(self.workers, n["start"] - n["done"] - n["fail"])

    @property
    def left(self) -> str:
        """The time that is left, in words; empty while nobody can know."""
        n = self.n_tasks - self.finished
        if not self.seconds or not n:
            return ""
        return f"about {duration(n * sum(self.seconds) / len(self.seconds) / self.workers)} left"

    def line(self) -> str:
        """Say it in a line."""
        n, share = self.by_event, self.finished / max(self.n_tasks, 1)
        parts = f"{n['done']} done, {n['skip']} stored before, {self.running} running, {n['fail']} failed"
        return f"{share:.0%}: " + ", ".join(filter(None, (parts, self.left)))

    def brief(self) -> str:
        """Say what has room beside a bar in 80 columns."""
        parts = (self.left, f"{self.running} running", f"{self.by_event['fail']} failed")
        return ", ".join(filter(None, parts))


def _logger(counts: Counts) -> Listener:
    last = time.monotonic()

    def listen(event: str, task: Task, record: dict[str, Any] | None) -> None:
        nonlocal last
        counts.add(event, record)
        if event == "fail" and record is not None:
            _log(_failure(task, record))
        if time.monotonic() - last > _EVERY:
            last = time.monotonic()
            _log(counts.line())

    return listen


def _failure(task: Task, record: dict[str, Any]) -> str:
    error = record["error"]
    return f"failed: {task}: {error['type']}: {' '.join(error['message'].split())}"


def _log(line: str) -> None:
    print(f"unmix: {line}", file=sys.stderr, flush=True)
