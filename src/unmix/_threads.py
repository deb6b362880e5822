"""As many threads as work is worth, and never more than the user set.

Threads that share a small operation wait for each other at its end; where other processes want the cores, one
of them may be asleep, and the wait takes longer than the work. What is added up by several threads is rounded
otherwise than by one, which long training turns into other numbers. So small work has one thread, whatever
is set, and gives the same numbers everywhere; large work has up to as many as torch was set to, and those who
wait for others sleep instead of counting, so that they take nothing from those they wait for.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import torch

_EACH = 2**28  # multiplications of a step that keep a thread busy, some tens of milliseconds
_LOCK = threading.Lock()
_INSIDE: list[int] = []  # what torch was set to, once for each block of code that is inside
_WAITING = "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"  # how a user says what threads do while they wait
_SHARE = 2**15  # entries of a tensor that torch gives to a thread, at least


@contextmanager
def threads(wanted: int) -> Iterator[int]:
    """Compute on this many threads, but on no more than torch was set to outside; restore that afterwards.

    Parameters
    ----------
    wanted : int

    Yields
    ------
    int
        How many there are.

    Examples
    --------
    >>> with threads(1) as n:
    ...     n, torch.get_num_threads()
    (1, 1)
    """
    with _LOCK:
        before = torch.get_num_threads()
        _INSIDE.append(_INSIDE[0] if _INSIDE else before)
        n = max(1, min(wanted, _INSIDE[0]))
    try:
        with _linear_algebra(n, outermost=len(_INSIDE) == 1), _asleep() if n > 1 else nullcontext():
            torch.set_num_threads(n)
            yield n
    finally:
        with _LOCK:
            outside = _INSIDE.pop()
            _set(before if _INSIDE else outside)


def worth(multiplications: float) -> int:
    """Return how many threads a step of so many multiplications keeps busy.

    Examples
    --------
    >>> worth(4e7), worth(1e9), worth(1e10)
    (1, 3, 37)
    """
    return max(1, int(multiplications / _EACH))


def _set(n: int) -> None:
    if torch.get_num_threads() != n:
        torch.set_num_threads(n)


@contextmanager
def _asleep() -> Iterator[None]:
    """Let threads that wait go to sleep soon, unless the user's environment says what they do.

    Those of GNU's OpenMP, which torch computes by, count for milliseconds at the end of every operation
    before they sleep, on cores that others may want; where they are more than cores they give up after a
    moment. So there are that many, all but those of the caller at rest. OpenMP's own switch is read from the
    environment when torch is imported, and would be everybody's.

    References
    ----------
    GNU libgomp, wait.h (`do_spin`) and env.c, which compare threads managed with cores available.
    """
    if any(name in os.environ for name in _WAITING) or not hasattr(os, "sched_getaffinity"):
        yield
        return
    made, over = threading.Event(), threading.Event()
    many = threading.Thread(target=_rest, args=(made, over), daemon=True)
    many.start()
    made.wait()
    try:
        yield
    finally:
        over.set()
        many.join()


def _rest(made: threading.Event, over: threading.Event) -> None:
    """Have more threads than there are cores, and rest until all is over."""
    try:
        n = len(os.sched_getaffinity(0)) + 1
        torch.set_num_threads(n)
        torch.zeros(n * _SHARE, dtype=torch.uint8).add_(1)
    finally:
        made.set()
    over.wait()


@contextmanager
def _linear_algebra(n: int, *, outermost: bool) -> Iterator[None]:
    """Let the libraries behind NumPy and SciPy have so many threads."""
    if not outermost:
        yield
        return
    with _controller().limit(limits=n, user_api="blas"):
        yield


@cache
def _controller() -> Any:
    import scipy.linalg  # noqa: F401  # has a library of its own, which must be there to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
