"""Runs as jobs of Slurm, by submitit: each a process of its own, tried again where its node is lost."""

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._code import code_version

_POLL, _EVERY = 1.0, 60.0  # seconds between two looks at the jobs, and between two lines about them
_DEFAULTS = {"tasks_per_node": 1, "cpus_per_task": 1, "timeout_min": 240}
_OWN = ("cluster", "retries")  # settings that are not submitit's


@dataclass(eq=False)
class _Flight:
    """A run under way: how to submit it, the job that does it, and how often that was tried."""

    future: "Future[Any]"
    submit: Callable[[], Any]
    job: Any
    tries: int = 1

    def answered(self, answer: Any) -> bool:
        """Hand over an answer, unless nobody waits for it any more: a future may be cancelled at any time."""
        if self.future.set_running_or_notify_cancel():
            self.future.set_result(answer)
        return True

    def ended(self, error: Exception) -> bool:
        """Hand over an error, likewise."""
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)
        return True


class SlurmExecutor(Executor):
    """An executor whose every call is a job.

    Parameters
    ----------
    executor : submitit.Executor
    retries : int
        How often a job is submitted again that ended without an answer: a node was lost, or its time was up.
    poll : float
        Seconds between two looks at the jobs.
    """

    def __init__(self, executor: Any, retries: int = 2, poll: float = _POLL) -> None:
        self.executor, self.retries, self.poll = executor, retries, poll
        self.flights: list[_Flight] = []
        self.again = 0
        self._lock, self._over, self._said = threading.Lock(), threading.Event(), time.monotonic()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Submit a job, and return its future."""
        future: Future[Any] = Future()

        def submit() -> Any:
            return self.executor.submit(fn, *args, **kwargs)

        with self._lock:
            self.flights.append(_Flight(future, submit, submit()))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop looking; jobs that nobody waits for are cancelled."""
        self._over.set()
        self._thread.join()
        for flight in self.flights:
            flight.job.cancel(check=False)

    def summary(self) -> str:
        """Say in a line what the jobs do."""
        with self._lock:
            counts = Counter(_state(flight.job) for flight in self.flights)
        parts = [f"{n} {state}" for state, n in sorted(counts.items())]
        return ", ".join([*parts, f"{self.again} tried again"])

    def _watch(self) -> None:
        while not self._over.wait(self.poll):
            with self._lock:
                flying = list(self.flights)
            landed = [flight for flight in flying if self._landed(flight)]
            with self._lock:
                self.flights = [flight for flight in self.flights if flight not in landed]
            if time.monotonic() - self._said > _EVERY:
                self._said = time.monotonic()
                print(f"unmix: jobs: {self.summary()}", file=sys.stderr, flush=True)

    def _landed(self, flight: _Flight) -> bool:
        """Hand over the answer of a job that is done; submit it again if it ended without one."""
        if flight.future.cancelled():
            flight.job.cancel(check=False)
            return True
        try:
            if not flight.job.done():
                return False
            answer = flight.job.result()
        except Exception as error:  # whatever ended the job, or what looked at it
            if flight.tries <= self.retries and _without_answer(error):
                return self._tried_again(flight)
            return flight.ended(_as_broken(error, flight) if _without_answer(error) else error)
        return flight.answered(answer)

    def _tried_again(self, flight: _Flight) -> bool:
        try:
            flight.job, flight.tries, self.again = flight.submit(), flight.tries + 1, self.again + 1
        except Exception as error:  # of the cluster
            return flight.ended(_as_broken(error, flight))
        return False


@contextmanager
def slurm_executor(
    folder: Path | str, settings: Mapping[str, Any] | None = None, modules: tuple[str, ...] = ()
) -> Iterator[SlurmExecutor]:
    """Yield an executor that submits to Slurm.

    Parameters
    ----------
    folder : path-like
        For what jobs are given, say and return; all nodes must see it, and only you may write there.
    settings : mapping
        Of the jobs, as submitit names them ("slurm_partition", "timeout_min", "gpus_per_node", ...);
        "retries", how often a job without an answer is submitted again; "cluster": "local" for processes of
        this machine in the place of jobs.
    modules : tuple of str
        Modules about to run. Nodes must have the same code of them as this process has.
    """
    submitit = _submitit()
    asked: dict[str, Any] = _DEFAULTS | {"retries": 2, "cluster": "slurm"} | dict(settings or {})
    try:
        executor = submitit.AutoExecutor(folder=str(folder), cluster=asked["cluster"])
        executor.update_parameters(**{name: v for name, v in asked.items() if name not in _OWN})
    except (RuntimeError, ValueError, NameError, TypeError) as error:
        raise ValueError(f"`slurm` must be settings of a cluster that is there. ({error})") from None
    checked = SlurmExecutor(_SameCode(executor, modules), int(asked["retries"]))
    try:
        yield checked
    finally:
        checked.shutdown()


@dataclass
class _SameCode:
    """An executor whose jobs first look whether their node has the code that this process has."""

    executor: Any
    modules: tuple[str, ...]

    def submit(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self.executor.submit(_checked, code_version(*self.modules), self.modules, fn, *args, **kwargs)


def _checked(code: str, modules: tuple[str, ...], fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    mine = code_version(*modules)
    if mine != code:
        raise ValueError(
            f"`slurm` must lead to nodes that run the code {code}, got {mine}. Install it there."
        )
    return fn(*args, **kwargs)


def _state(job: Any) -> str:
    return {"PENDING": "waiting", "RUNNING": "running"}.get(job.state, "ending")


def _without_answer(error: Exception) -> bool:
    """Whether a job ended before it could say why."""
    return type(error).__name__ in ("UncompletedJobError", "FailedSubmissionError", "FileNotFoundError")


def _as_broken(error: Exception, flight: _Flight) -> BrokenExecutor:
    return BrokenExecutor(f"{flight.tries} jobs ended without an answer. {str(error).splitlines()[0]}")


def _submitit() -> Any:
    try:
        import submitit
    except ImportError:
        raise ImportError("`slurm` needs submitit: pip install 'unmix[slurm]'") from None
    return submitit
