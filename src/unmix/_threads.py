"""As many threads as work is worth, and never more than the user set.

Threads that share a small operation wait for each other at its end; where other processes want the cores, one
of them may be asleep, and the wait takes longer than the work. What is added up by several threads is rounded
otherwise than by one, which long training turns into other numbers. So small work has one thread, whatever
is set, and gives the same numbers everywhere; large work has up to as many as torch was set to.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

_EACH = 2**28  # multiplications of a step that keep a thread busy, some tens of milliseconds
_LOCK = threading.Lock()
_INSIDE: list[int] = []  # what torch was set to, once for each block of code that is inside


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
        with _linear_algebra(n, outermost=len(_INSIDE) == 1):
            _set(n)
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
