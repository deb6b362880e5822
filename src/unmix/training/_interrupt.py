"""Ctrl-C that waits for the end of a step, so that no half-made step is ever saved."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run: how far it came, and how to go on.

    Attributes
    ----------
    done : str
        How far the run came.
    saved : bool
        Whether it can go on from there.
    """

    def __init__(self, n_done: int, n_steps: int, folder: Path | None):
        self.done, self.saved = f"Interrupted after {n_done} of {n_steps} steps.", folder is not None
        if folder is None:
            advice = "Nothing was saved: give a `checkpoint` folder next time to be able to go on."
        else:
            advice = f"To go on, run the same again with checkpoint={str(folder)!r}."
        super().__init__(f"{self.done} {advice}")


@contextmanager
def delayed_interrupt() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether Ctrl-C was pressed; a second Ctrl-C interrupts at once.

    A program that handles or ignores the signal itself, and every thread but the main one, is left alone.
    """
    pressed = threading.Event()

    def remember(signum: int, frame: Any) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if not _ours_to_handle():
        yield pressed.is_set
        return
    signal.signal(signal.SIGINT, remember)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _ours_to_handle() -> bool:
    in_main = threading.current_thread() is threading.main_thread()
    return in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
