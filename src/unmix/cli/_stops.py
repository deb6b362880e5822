"""How a command is stopped from outside: Ctrl-C, `kill`, or a terminal that is closed."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_LIKE_CTRL_C = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
INTERRUPTED = 130


@contextmanager
def stoppable() -> Iterator[Callable[[int], int]]:
    """Let SIGTERM and SIGHUP stop a command as Ctrl-C does, and yield a function that corrects the exit code.

    Work waits for the end of a step and keeps a checkpoint as it does for Ctrl-C; the code is 128 and the
    number of the signal: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP. What a program ignores stays
    ignored, as SIGHUP under `nohup`; where that is Ctrl-C, the others stop at once. Once the code is asked
    for, no signal interrupts what is left to do.
    """
    came: list[int] = []

    def stop(signum: int, frame: Any) -> None:
        came.append(signum)
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as scripts have it in the background
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)  # whoever handles Ctrl-C at this moment handles this

    def code_of(code: int) -> int:
        for signum in (*taken, *([signal.SIGINT] if in_main else [])):
            signal.signal(signum, signal.SIG_IGN)
        return 128 + came[0] if code == INTERRUPTED and came else code

    in_main = threading.current_thread() is threading.main_thread()
    before = {signum: signal.getsignal(signum) for signum in (signal.SIGINT, *_LIKE_CTRL_C)}
    taken = [signum for signum in _LIKE_CTRL_C if in_main and before[signum] is signal.SIG_DFL]
    for signum in taken:
        signal.signal(signum, stop)
    try:
        yield code_of
    finally:
        for signum in (*taken, *([signal.SIGINT] if in_main else [])):
            signal.signal(signum, before[signum])
