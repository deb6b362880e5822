"""Run a command on a file that nobody should trust, within bounds, and say what went wrong."""

import contextlib
import io
import resource
import signal
import time
import traceback
from pathlib import Path

from unmix.cli import main

SECONDS, MEMORY = 20, 3 << 29  # of one call: 1.5 GiB


class Hang(BaseException):
    """A call took too long."""


def faults(arguments, folder, *, refuse=False):
    """Run a command in this process, and return in words what is wrong with how it ended, if anything is.

    A call must end within its bounds with 0 or 2; with 2 it says why in one line and leaves the folder as it
    was, and the reason is not that memory came to its end. With `refuse` only 2 will do.
    """
    before = listing(folder)
    code, err = run([str(argument) for argument in arguments])
    left = sorted(set(listing(folder)) - set(before))
    if isinstance(code, str):
        return code
    if code not in ((2,) if refuse else (0, 2)):
        return f"exit code {code}: {err[-300:]}"
    if "fit into memory" in err:
        return f"for want of memory: {err[-300:]}"
    said = [line for line in err.splitlines() if line.startswith("unmix: error: ")]
    if code == 2 and (len(said) != 1 or not err.endswith(said[0] + "\n")):
        return f"not one line: {err[-300:]}"
    if "Traceback" in err:
        return "a traceback was printed"
    if [name for name in left if code == 2 or Path(name).name.startswith(".")]:
        return f"files were left: {left[:5]}"
    return ""


def run(arguments):
    """Return the exit code, or in words what kept the call from ending, and what it said."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with bounded(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(arguments)
    except SystemExit as left:
        return left.code, err.getvalue()
    except Hang:
        return f"no end within {SECONDS} s", err.getvalue()
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:150]} ({Path(where.filename).name}:{where.lineno})", ""
    return 0, err.getvalue()


@contextlib.contextmanager
def bounded():
    """Let nothing run for longer, or hold more memory, than a call may."""
    old = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_in_use() + MEMORY, old[1]))
    start = _own_seconds()

    def look(signum, frame):
        left = SECONDS - (_own_seconds() - start)
        if left <= 0:
            raise Hang
        signal.setitimer(signal.ITIMER_REAL, max(left, 0.05))

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, old)


def _own_seconds():
    """Return the time by the clock, without that in which other processes had the core instead."""
    return time.monotonic() - int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9


def _in_use():
    """Return the bytes of memory that this process has been promised."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def listing(folder):
    """Return all that is below a folder, by path."""
    return sorted(str(path) for path in Path(folder).rglob("*"))
