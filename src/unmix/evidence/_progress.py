"""What a person waits for: which refit is being made, how many there are, and about how long that takes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from unmix._findings import findings_of
from unmix.training import progress_bar

from ._case import Case

_REFITS = {"none": 0, "quick": 1, "full": 4}
_SHARE = 0.5  # of the time of the fit that a refit to half of the rows takes


@contextmanager
def shown(verbose: bool | None, case: Case) -> Iterator[None]:
    """Show every refit that a case tells of, by default on a terminal; nothing where there is none."""
    expected, told, began = _REFITS[case.effort], iter(range(10**6)), time.perf_counter()
    took = getattr(findings_of(case.model).history, "seconds", None)  # a model of another make has none
    guess = None if took is None else _SHARE * took
    with progress_bar(verbose if expected else False, expected, "trust") as show:

        def tell(words: str) -> None:
            done = min(next(told), expected)
            show(done, words + time_left(done, expected, time.perf_counter() - began, guess))

        case.tell = tell
        yield
        show(expected, "")


def time_left(done: int, expected: int, elapsed: float, guess: float | None) -> str:
    """Say how long the refits that are left will take: as those before, the first as long as guessed.

    >>> time_left(0, 4, 0.0, 20.0), time_left(1, 4, 30.0, 20.0), time_left(0, 1, 0.0, None)
    (', about 80 s left', ', about 90 s left', '')
    """
    each = elapsed / done if done else guess
    return "" if each is None else f", about {each * (expected - done):.0f} s left"
