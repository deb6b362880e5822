"""Run a command on a file that nobody should trust, within bounds, and say what went wrong."""

import contextlib
import io
import resource
import signal
import traceback
from pathlib import Path

from unmix.cli import main

SECONDS, MEMORY = 20, 3 << 29  # of one call: 1.5 GiB


class Hang(BaseException):
    """A call took too long."""


def faults(arguments, folder, *, refuse=False):
    """Run a command in this process, and return in words what is wrong with how it ended, if anything is.

    A call must end within its bounds with 0 or 2; with 2 it says why in one line and leaves the folder as it
    was. With `refuse` only 2 will do. A fit with settings of a damaged model may break down, which is 1.
    """
    before = listing(folder)
    code, err = run([str(argument) for argument in arguments])
    left = sorted(set(listing(folder)) - set(before))
    if isinstance(code, str):
        return code
    if code == 1 and "must stay finite" in err and not refuse:
        return ""
    if code not in ((2,) if refuse else (0, 2)):
        return f"exit code {code}: {err[-300:]}"
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
    before = signal.signal(signal.SIGALRM, _stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, old)


def _stop(signum, frame):
    raise Hang


def _in_use():
    """Return the bytes of memory that this process has been promised."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def listing(folder):
    """Return all that is below a folder, by path."""
    return sorted(str(path) for path in Path(folder).rglob("*"))
