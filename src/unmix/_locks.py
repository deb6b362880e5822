"""Locks between processes: files that are locked for as long as they are open."""

import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # not on every system
    HAS_LOCKS = False
else:
    HAS_LOCKS = True


_TRIES = 100  # to make a file in a folder that others may remove at the same time


def take(path: Path, *, wait: bool) -> IO[str] | None:
    """Lock a file, created if missing; None where another has the lock and this one does not wait.

    The lock ends when the file returned is closed, or this process ends, however that happens. Where
    the system has no such locks everybody gets what they ask for.
    """
    failed = 0
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = open(path, "a", encoding="utf-8")  # noqa: SIM115 - the open file is the lock
        except (FileNotFoundError, FileExistsError):
            failed += 1
            if path.parent.is_file() or failed == _TRIES:  # folders such as those of /proc take no file
                raise
            continue  # another process has just removed the folder
        if not _locked(file, wait):
            file.close()
            return None
        if _is_at(path, file):
            file.truncate(0)
            with suppress(OSError):  # a full disk has no room for a name, and keeps a lock all the same
                os.write(file.fileno(), f"process {os.getpid()} on {socket.gethostname()}\n".encode())
            return file
        file.close()  # its last owner removed it while we waited


def owner(path: Path) -> str:
    """Say who has a lock, as far as its file tells."""
    try:
        return path.read_text(encoding="utf-8").strip() or "another process"
    except OSError:
        return "another process"


def leave(path: Path, file: IO[str]) -> None:
    """Give a lock back and remove its file."""
    if not HAS_LOCKS:  # such systems do not remove open files either
        file.close()
    path.unlink(missing_ok=True)
    file.close()


def _locked(file: IO[str], wait: bool) -> bool:
    if not HAS_LOCKS:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _is_at(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False
