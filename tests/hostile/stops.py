"""Commands in processes of their own, forked from one that has imported everything, to be stopped or killed.

A fork of a process that runs no other thread takes milliseconds, so that hundreds of kills take minutes.
"""

import contextlib
import inspect
import os
import signal
import sys
import time
from pathlib import Path

import unmix

_PAUSES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def forked(arguments, folder, *, before=lambda: None):
    """Start a command in a folder, and return its process; what it says goes into `said`."""
    (Path(folder) / "said").unlink(missing_ok=True)
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for signum in (signal.SIGTERM, signal.SIGHUP):  # which `nohup` may have taken from the tests
            signal.signal(signum, signal.SIG_DFL)
        os.chdir(folder)
        for stream in (1, 2):
            os.dup2(os.open("said", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
        sys.stdout, sys.stderr = (os.fdopen(stream, "w", buffering=1) for stream in (1, 2))
        before()
        code = _left_with(arguments)
    finally:
        os._exit(code)


def _left_with(arguments):
    from unmix.cli import main

    try:
        main([str(argument) for argument in arguments])
    except SystemExit as left:
        return left.code or 0
    except BaseException:
        import traceback

        traceback.print_exc()
    return 1


def ended(process, seconds=60):
    """Wait for a process, and return its exit code, or the negative number of the signal that ended it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    raise AssertionError(f"no end within {seconds} s")


def stopped(arguments, folder, signum, after):
    """Send a signal to a command after some seconds, and return how it ended and what it said."""
    process = forked(arguments, folder)
    time.sleep(after)
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signum)
    return ended(process), (Path(folder) / "said").read_text()


def stopping(signum, after):
    """Send this process a signal at the first call of ours after so many calls of functions.

    Not while a generator is closed, say: what is raised there Python ignores.
    """
    left, ours = after, str(Path(unmix.__file__).parent)

    def count(frame, event, argument):
        nonlocal left
        left -= event == "call"
        code = frame.f_code
        if (
            left <= 0
            and event == "call"
            and code.co_filename.startswith(ours)
            and not code.co_flags & _PAUSES
        ):
            sys.setprofile(None)
            os.kill(os.getpid(), signum)

    sys.setprofile(count)
