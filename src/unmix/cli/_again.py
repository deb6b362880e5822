"""The command that is being run, as one would type it again."""

import shlex
from collections.abc import Sequence
from contextvars import ContextVar

_GIVEN: ContextVar[tuple[str, ...]] = ContextVar("given", default=())


def remember(arguments: Sequence[str]) -> list[str]:
    """Keep what the command line was given, and return it."""
    _GIVEN.set(tuple(arguments))
    return list(arguments)


def again(*without: str) -> str:
    """Return the command, quoted for a shell, without some of its flags.

    >>> _ = remember(["fit", "my data.csv", "--fresh", "--out", "model"])
    >>> again("--fresh")
    "unmix fit 'my data.csv' --out model"
    """
    return shlex.join(["unmix", *(argument for argument in _GIVEN.get() if argument not in without)])
