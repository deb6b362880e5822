"""Files from elsewhere: sizes are checked before anything is allocated, and every fault becomes one line.

Every reader of a file goes through `whole`, so that no damage shows as anything but a `ValueError` that names
the file. NPY, NPZ and JSON, which several rooms read, are read here.
"""

import json
import math
import os
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from ._files import is_special

LARGE, RATIO = 1 << 30, 500  # bytes, and times its size: what a packed file may hold without being asked
SMALL = 1 << 20  # bytes of a file that is damaged, or lies, if memory is too small for it
PIECE = 1 << 26  # bytes that a piece of a packed stream may become before it is judged by itself
DEPTH = 200  # levels of a JSON document
NPY, NPZ = "NPY file without pickled objects", "NPZ file without pickled objects"
_HEADER = 1 << 16  # bytes of the header of an NPY file
_MAGIC = b"\x93NUMPY"

Part = TypeVar("Part")


def require_regular(path: str | os.PathLike[str]) -> Path:
    """Refuse what is no regular file: a pipe would be waited for, a device has no end.

    Examples
    --------
    >>> require_regular("/dev/null")
    Traceback (most recent call last):
    ValueError: `/dev/null` must be a regular file, it is a folder, a device or a pipe. Name a file.
    """
    if is_special(Path(path)):
        raise ValueError(f"`{path}` must be a regular file, it is a folder, a device or a pipe. Name a file.")
    return Path(path)


@contextmanager
def whole(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Say which file can't be read, however that shows: nobody knows all that a reader may raise.

    An error of ours, which begins with what it is about, passes as it is.

    Examples
    --------
    >>> with whole("x.npz", NPZ):
    ...     raise NotImplementedError("That compression method is not supported")
    Traceback (most recent call last):
    ValueError: `x.npz` must be a whole NPZ file ... (That compression method is not supported)
    """
    require_regular(path)
    try:
        yield
    except (ImportError, FileNotFoundError):
        raise
    except ValueError as error:
        raise error if str(error).startswith("`") else _broken(path, kind, error) from None
    except MemoryError as error:
        if Path(path).is_file() and Path(path).stat().st_size < SMALL:
            raise _broken(path, kind, error) from None
        raise ValueError(f"`{path}` must fit into memory, it does not. ({_reason(error)})") from None
    except Exception as error:
        raise _broken(path, kind, error) from None


def _broken(path: str | os.PathLike[str], kind: str, error: Exception) -> ValueError:
    return ValueError(f"`{path}` must be a whole {kind}. ({_reason(error)})")


def each_whole(path: str | os.PathLike[str], kind: str, parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts of a file one by one; what is wrong with one that is being read is told as of the file.

    Examples
    --------
    >>> list(each_whole("x.parquet", "Parquet file", iter([1, 2])))
    [1, 2]
    """
    left = iter(parts)
    while True:
        with whole(path, kind):
            part = next(left, None)
        if part is None:
            return
        yield part


def _reason(error: BaseException) -> str:
    """Return the first line of what a reader said, or the name of its error."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def require_plausible(path: str | os.PathLike[str], packed: int, unpacked: int) -> None:
    """Refuse a file that would unpack to far more than it seems to hold, before that is done."""
    if unpacked > LARGE and unpacked > RATIO * packed:
        raise ValueError(
            f"`{path}` must hold about as much as it seems to: {packed:,} bytes would become {unpacked:,}. "
            "If that is meant, store it as NPY."
        )


def require_plausible_so_far(path: str | os.PathLike[str], packed: int, unpacked: int) -> None:
    """Refuse a stream as soon as what was read of it has become far more than it was."""
    if unpacked > PIECE and unpacked > RATIO * packed:
        raise ValueError(
            f"`{path}` must hold about as much as it seems to: its first {packed:,} bytes became "
            f"{unpacked:,}. If that is meant, store it as NPY."
        )


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse names that several columns share: one of them would be lost.

    Examples
    --------
    >>> check_names(["a", "b", "a"], "t.csv")
    Traceback (most recent call last):
    ValueError: `t.csv` must have different names for columns, it repeats 'a'. Rename them.
    """
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        more = f" and {len(twice) - 5:,} more" if len(twice) > 5 else ""
        shown = ", ".join(map(repr, twice[:5])) + more
        raise ValueError(
            f"`{source}` must have different names for columns, it repeats {shown}. Rename them."
        )


def read_npy(path: str | os.PathLike[str], mmap_mode: Any = None) -> np.ndarray:
    """Read an NPY file, or map it into memory; its size must be what its header says.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "x.npy"
    >>> np.save(file, np.eye(2))
    >>> read_npy(file).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    with whole(path, NPY):
        with open(path, "rb") as stream:
            npy_header(stream, os.fstat(stream.fileno()).st_size)
            if mmap_mode is None:
                stream.seek(0)
                return np.lib.format.read_array(stream, allow_pickle=False)
        return np.load(path, mmap_mode=mmap_mode, allow_pickle=False)


def npy_header(stream: Any, n_bytes: int) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Return shape, order and type of an array that begins here, and leave the stream where its numbers do.

    One is refused that promises more than the bytes that are there, or that pickle would have to read.
    """
    head = stream.read(12)
    if not head.startswith(_MAGIC) or len(head) < 12:
        raise ValueError("it does not begin as such a file does")
    wide = head[6] > 1
    if int.from_bytes(head[8:12] if wide else head[8:10], "little") > _HEADER:
        raise ValueError("its header is too long")
    stream.seek(8)
    read = np.lib.format.read_array_header_2_0 if wide else np.lib.format.read_array_header_1_0
    shape, fortran, dtype = read(stream)
    wanted = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or stream.tell() + wanted > n_bytes:
        raise ValueError(f"its header tells of shape {shape}, {wanted:,} bytes, and there are {n_bytes:,}")
    if dtype.hasobject:
        raise ValueError("it holds pickled objects, which are never opened")
    return shape, fortran, dtype


@contextmanager
def opened_npz(path: str | os.PathLike[str]) -> Iterator[zipfile.ZipFile]:
    """Open an NPZ file; what is done with it is up to the caller."""
    with whole(path, NPZ):
        stream: IO[bytes] = open(path, "rb")  # noqa: SIM115 - closed below, after errors that are not its own
    with stream:
        with whole(path, NPZ):
            archive = zipfile.ZipFile(stream)
        with archive:
            yield archive


def npz_names(archive: zipfile.ZipFile) -> list[str]:
    """List the arrays of an NPZ file."""
    return list(dict.fromkeys(name.removesuffix(".npy") for name in archive.namelist()))


def npz_array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Read one array of an NPZ file, whose size is known before it is unpacked.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "x.npz"
    >>> np.savez(file, x=np.eye(2))
    >>> with opened_npz(file) as archive:
    ...     npz_names(archive), npz_array(archive, "x").tolist()
    (['x'], [[1.0, 0.0], [0.0, 1.0]])
    """
    path = str(archive.filename or getattr(archive.fp, "name", ""))
    with whole(path, NPZ):
        member = archive.getinfo(f"{name}.npy")
    require_plausible(path, member.compress_size, member.file_size)
    with whole(path, NPZ), archive.open(member) as stream:
        npy_header(stream, member.file_size)
        stream.seek(0)
        return np.lib.format.read_array(stream, allow_pickle=False)


def parse_json(text: str | bytes, name: str) -> Any:
    """Read a JSON document that is not too deep, and say plainly when it is none.

    Examples
    --------
    >>> parse_json("[1, 2]", "one.json")
    [1, 2]
    >>> parse_json("[" * 999 + "]" * 999, "deep.json")
    Traceback (most recent call last):
    ValueError: `path` must be a whole JSON document, got 'deep.json': it is nested too deeply
    """
    try:
        found = json.loads(text)
        _check_depth(found)
    except (ValueError, RecursionError) as error:
        said = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ValueError(f"`path` must be a whole JSON document, got {name!r}: {said}") from None
    return found


def _check_depth(document: Any) -> None:
    level = [document]
    for _ in range(DEPTH):
        nested = [each for each in level if isinstance(each, dict | list)]
        if not nested:
            return
        level = [part for each in nested for part in (each.values() if isinstance(each, dict) else each)]
    raise RecursionError


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a file that holds a JSON document.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "one.json"
    >>> _ = file.write_text("[1, 2]")
    >>> read_json(file)
    [1, 2]
    """
    return parse_json(require_regular(path).read_bytes(), Path(path).name)


def read_object(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a file that holds one JSON object: names and what they stand for.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "one.json"
    >>> _ = file.write_text("5")
    >>> read_object(file)
    Traceback (most recent call last):
    ValueError: `path` must be a JSON object, got 'one.json', which holds int.
    """
    return as_object(read_json(path), Path(path).name)


def as_object(document: Any, name: str) -> dict[str, Any]:
    """Return a document that is an object, and refuse every other."""
    if not isinstance(document, dict):
        raise ValueError(
            f"`path` must be a JSON object, got {name!r}, which holds {type(document).__name__}."
        )
    return document
