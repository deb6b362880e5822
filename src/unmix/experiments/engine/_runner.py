"""The sweep: hand runs to an executor, store what comes back, and lose nothing on the way."""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field
from typing import IO, Any

from ._executors import ProcessPool
from ._store import Store
from ._task import Task, load_experiment, title_of
from ._work import described, perform

Listener = Callable[[str, Task, dict[str, Any] | None], None]
_POLL = 0.2
_DEATHS = 3  # of workers that ran a run by itself, before it is held to be the cause


@dataclass
class Outcome:
    """What a sweep did.

    Attributes
    ----------
    done, skipped, failed : int
        Runs that gave values, that were stored already, and that raised.
    failures : list of dict
        Records of those that raised.
    seconds : float
    """

    done: int = 0
    skipped: int = 0
    failed: int = 0
    failures: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


def sweep(
    tasks: Iterable[Task],
    store: Store,
    *,
    executor: Executor | None = None,
    workers: int = 2,
    force: bool = False,
    command: str = "",
    listen: Listener = lambda event, task, record: None,
) -> Outcome:
    """Do all runs that the store does not have, and store each as soon as it is done.

    At the end, also of a sweep that is stopped, results are folded into one file for each table. A run that
    raises is stored with its error and tried again by the next sweep. A run whose process dies is tried by
    itself, three times. Another sweep on the same folder shares the work, and so do tables of one sweep that
    ask for the same run: it is done once, and stored for each.

    Parameters
    ----------
    tasks : iterable of Task
    store : Store
    executor : concurrent.futures.Executor, optional
        Where to run; by default a pool of `workers` fresh processes with one thread each.
    workers : int
        Processes of the default pool; with another executor, how many runs are in flight for each two.
    force : bool
        Do all runs again.
    command : str
        What made the results, stored with each.
    listen : callable (event, task, record)
        Told of every "skip", "start", "done" and "fail".

    Returns
    -------
    Outcome

    Examples
    --------
    >>> import tempfile
    >>> sweep([], Store(tempfile.mkdtemp())).done
    0
    """
    if workers < 1:
        raise ValueError(f"`workers` must be at least 1, got {workers}.")
    start, outcome = time.perf_counter(), Outcome()

    def tell(event: str, task: Task, record: dict[str, Any] | None = None) -> None:
        _count(outcome, event, record)
        listen(event, task, record)

    tasks = list(tasks)
    wanted = deque(tasks if force else _missing(tasks, store, tell))
    pool = _Pool(executor, workers)
    try:
        _run(wanted, store, pool, None if force else _sharing(tasks), command, tell)
    finally:
        pool.close(store)
        with contextlib.suppress(
            OSError
        ):  # results that can't be folded in are as good in files of their own
            store.fold(dict.fromkeys(task.experiment for task in tasks))
        store.tidy()
    outcome.seconds = time.perf_counter() - start
    return outcome


def _missing(tasks: Iterable[Task], store: Store, tell: Callable[..., None]) -> Iterator[Task]:
    for task in tasks:
        if _stored(store, task):
            tell("skip", task)
        else:
            yield task


def _stored(store: Store, task: Task) -> bool:
    record = store.read(task)
    return record is not None and record["error"] is None


def _count(outcome: Outcome, event: str, record: dict[str, Any] | None) -> None:
    outcome.skipped += event == "skip"
    outcome.done += event == "done"
    outcome.failed += event == "fail"
    if event == "fail" and record is not None:
        outcome.failures.append(record)


class _Pool:
    """An executor and what is in flight on it; a pool of our own is replaced when one of its workers dies."""

    def __init__(self, executor: Executor | None, workers: int) -> None:
        self.workers = workers
        self.executor: Executor = ProcessPool(workers) if executor is None else executor
        self.own = executor is None
        self.flying: dict[Future[Any], tuple[Task, IO[str]]] = {}
        self.suspects: dict[str, int] = {}  # in flight when a worker died: tried by itself, so many times

    @property
    def room(self) -> int:
        return (1 if self.suspects else 2 * self.workers) - len(self.flying)

    def submit(self, task: Task, claim: IO[str]) -> None:
        try:
            future = self.executor.submit(perform, task)
        except BrokenExecutor:  # a worker died while nobody looked
            if not self.own:
                raise
            self.replace()
            future = self.executor.submit(perform, task)
        self.flying[future] = (task, claim)

    def landed(self) -> Iterator[tuple[Task, IO[str], dict[str, Any] | BaseException]]:
        """Wait for runs to end and give them with their record, or with what ended them.

        One by one: who stops in between leaves the others, and their claims, to `close`.
        """
        ended, _ = wait(self.flying, timeout=_POLL, return_when=FIRST_COMPLETED)
        for future in ended:
            task, claim = self.flying.pop(future)
            yield task, claim, future.exception() or future.result()

    def replace(self) -> None:
        self.executor.shutdown(wait=True, cancel_futures=True)
        self.executor = ProcessPool(self.workers)

    def close(self, store: Store) -> None:
        for future, (task, claim) in self.flying.items():
            future.cancel()
            store.release(task, claim)
        if isinstance(self.executor, ProcessPool) and self.own:
            self.executor.abandon()


def _sharing(tasks: Iterable[Task]) -> dict[str, list[Task]]:
    """Gather tasks by what they compute."""
    found: dict[str, list[Task]] = {}
    for task in tasks:
        found.setdefault(task.work, []).append(task)
    return found


def _run(
    wanted: deque[Task],
    store: Store,
    pool: _Pool,
    sharing: dict[str, list[Task]] | None,
    command: str,
    tell: Callable[..., None],
) -> None:
    """Do all runs; those that are stored are left out, unless `sharing` is None, and all are done again."""
    elsewhere: deque[Task] = deque()
    while wanted or pool.flying or elsewhere:
        _submit(wanted, elsewhere, store, pool, sharing, command, tell)
        if not pool.flying:
            wanted, elsewhere = elsewhere, deque()  # another sweep has them all: look again in a while
            time.sleep(_POLL)
            continue
        broken = []
        for task, claim, result in pool.landed():
            if isinstance(result, BrokenExecutor) and pool.own and not _guilty(task, pool):
                broken.append(task)
                store.release(task, claim)
                continue
            if isinstance(result, BaseException) and not isinstance(result, Exception):
                store.release(task, claim)
                raise result  # Ctrl-C reached the worker first
            pool.suspects.pop(task.key, None)
            record = _record(task, result, command)
            try:
                store.write(record)
            finally:  # a full disk ends the sweep, and leaves no claim behind
                store.release(task, claim)
            tell("fail" if record["error"] else "done", task, record)
        if broken or (pool.own and _is_broken(pool.executor)):
            _recover(broken, wanted, store, pool)


def _submit(
    wanted: deque[Task],
    elsewhere: deque[Task],
    store: Store,
    pool: _Pool,
    sharing: dict[str, list[Task]] | None,
    command: str,
    tell: Callable[..., None],
) -> None:
    while wanted and pool.room > 0:
        task = wanted.popleft()
        claim = store.claim(task)
        if claim is None:
            elsewhere.append(task)
        elif sharing is not None and _stored(store, task):  # by another sweep, since we looked
            store.release(task, claim)
            pool.suspects.pop(task.key, None)
            tell("skip", task)
        elif sharing is not None and (shared := _of_another_table(store, task, sharing)) is not None:
            tell("start", task)
            store.write(_record(task, shared, command))
            store.release(task, claim)
            pool.suspects.pop(task.key, None)
            tell("done", task, shared)
        else:
            tell("start", task)
            pool.submit(task, claim)


def _of_another_table(store: Store, task: Task, sharing: dict[str, list[Task]]) -> dict[str, Any] | None:
    """Return what another table of this sweep has stored of the same run, as this one would store it."""
    for other in sharing[task.work]:
        if other.key != task.key and _stored(store, other):
            found = store.read(other)
            return (
                None if found is None else found | task.identity | {"key": task.key, "cells": task.described}
            )
    return None


def _guilty(task: Task, pool: _Pool) -> bool:
    """Whether a run was alone when its worker died, once more than is forgiven."""
    return pool.suspects.get(task.key, 0) >= _DEATHS - 1


def _is_broken(executor: Executor) -> bool:
    return bool(getattr(executor, "_broken", False))


def _recover(broken: Sequence[Task], wanted: deque[Task], store: Store, pool: _Pool) -> None:
    """Start new workers after one died, and try what was in flight again, one at a time."""
    for task, claim in pool.flying.values():
        store.release(task, claim)
    again = [*broken, *(task for task, _ in pool.flying.values())]
    pool.flying.clear()
    pool.suspects.update({task.key: pool.suspects.get(task.key, -1) + 1 for task in again})
    wanted.extendleft(reversed(again))
    pool.replace()


def _record(task: Task, result: dict[str, Any] | BaseException, command: str) -> dict[str, Any]:
    """Complete a worker's record, or make one for a run whose worker never came back."""
    made_by = {"title": title_of(load_experiment(task.experiment), task.data), "command": command}
    if isinstance(result, dict):
        return result | made_by
    error = described(result) | ({"type": "WorkerDied"} if isinstance(result, BrokenExecutor) else {})
    empty = {"values": {}, "error": error, "warnings": [], "seconds": 0.0}
    return {"key": task.key, **task.identity, "cells": task.described, **empty, **made_by}
