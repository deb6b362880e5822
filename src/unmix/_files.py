"""Files that are either there in full or not there at all."""

import errno
import os
import re
import secrets
import socket
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path that becomes `path` if the block ends well, and disappears if it does not.

    The temporary file lies in the same folder (so that the rename is atomic), keeps the suffix (so that
    writers which look at it behave), and reaches the disk before the rename: a reader, or a machine that
    loses power, sees the old file or the new one, never a part.

    Parameters
    ----------
    path : path-like
        Where the file will be. Its folder must exist; an existing file is replaced.

    Yields
    ------
    pathlib.Path
        Where to write.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_path(folder / "scores.json") as temporary:
    ...     _ = temporary.write_text("{}")
    >>> [file.name for file in folder.iterdir()]
    ['scores.json']
    """
    target = Path(path)
    if target.is_dir():
        raise ValueError(f"`path` must be a file, got the folder {str(target)!r}. Add a file name.")
    if is_special(target):
        raise ValueError(
            f"`path` must be a regular file, got {str(target)!r}, a device or a pipe. Name a file."
        )
    _clear_leftovers(target)
    temporary = target.with_name(f".{target.stem}.{_ours()}_{secrets.token_hex(6)}{target.suffix}")
    try:
        yield temporary
        _to_disk(temporary)
        os.replace(temporary, target)
        _to_disk(target.parent)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise OSError(
            error.errno, f"{error.strerror}, write to another place or make room", str(target)
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def is_special(path: Path) -> bool:
    """Whether a path is there and no regular file, by one look: between two another process may remove it.

    Examples
    --------
    >>> is_special(Path("/dev/null")), is_special(Path("/nowhere"))
    (True, False)
    """
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):  # nothing there, or no name of a file
        return False


def _ours() -> str:
    """Name this process among those of all machines that may share a folder."""
    return f"{zlib.crc32(socket.gethostname().encode()):08x}_{os.getpid()}"


def _clear_leftovers(target: Path) -> None:
    """Remove what processes of this machine left half-written when they were killed."""
    host = re.escape(_ours().partition("_")[0])
    named = re.compile(rf"\.{re.escape(target.stem)}\.{host}_(\d+)_\w{{12}}{re.escape(target.suffix)}")
    for name in os.listdir(target.parent) if target.parent.is_dir() else ():
        found = named.fullmatch(name)
        if found is not None and not _is_alive(int(found[1])):
            target.with_name(name).unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True


def atomic_write(path: str | os.PathLike[str], data: bytes | str) -> Path:
    """Write `data` to `path` so that no reader ever sees half of it.

    Parameters
    ----------
    path : path-like
        Where the file will be. Its folder must exist; an existing file is replaced.
    data : bytes or str
        The content; text is encoded as UTF-8.

    Returns
    -------
    pathlib.Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> atomic_write(Path(tempfile.mkdtemp()) / "note.txt", "hello").read_text()
    'hello'
    """
    content = data.encode() if isinstance(data, str) else data
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)
    return Path(path)


def _to_disk(path: Path) -> None:
    """Flush a file or a folder entry; folders can't be opened on every system, and then need no flush."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:
        if path.is_dir():
            return
        raise
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
