"""Two commands that write to one place at once would undo each other's work: the second is refused."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path

from .._locks import leave, owner, take

_HELD: ContextVar[ExitStack | None] = ContextVar("held", default=None)


@contextmanager
def holding() -> Iterator[None]:
    """Keep the places that a command writes to for itself until it ends."""
    with ExitStack() as held:
        token = _HELD.set(held)
        try:
            yield
        finally:
            _HELD.reset(token)


def claim(path: Path, option: str = "--out") -> None:
    """Take a place for the command that runs, or say who has it.

    The lock is a file beside it, which is removed when the command ends; that of a command which was killed
    is taken over.
    """
    held, lock = _HELD.get(), path.with_name(f".{path.name}.lock")
    if held is None or not path.name or not path.parent.is_dir() or _follows():
        return
    try:
        file = take(lock, wait=False)
    except OSError:  # nothing can be written there: said when it is tried
        return
    if file is None:
        raise ValueError(
            f"`{option}` must not be written by two commands at once, {str(path)!r} is taken by "
            f"{owner(lock)}. Wait for it, or choose another name."
        )
    held.callback(leave, lock, file)


def _follows() -> bool:
    """Whether this is one of several processes of a command, of which the first writes."""
    if "WORLD_SIZE" not in os.environ and "SLURM_STEP_ID" not in os.environ:
        return False
    from .._group import OFF, told_by

    told = told_by(os.environ)
    return told is not None and told.rank > 0 and os.environ.get(OFF) != "0"
