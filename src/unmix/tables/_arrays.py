"""Arrays in files: NPY, NPZ and safetensors, never with pickle; broken files get a clear error."""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from unmix.rows import keys_of, read_tensor

NAMES, IDS = "_names", "_ids"  # in an NPZ file `x_names` holds the column names of `x`, `x_ids` those of rows
_BROKEN = (ValueError, TypeError, AttributeError, EOFError, OSError, MemoryError, zlib.error, BadZipFile)

Stored = tuple[Any, tuple[str, ...] | None, np.ndarray | None, dict[str, np.ndarray]]


def split_key(path: str) -> tuple[Path, str | None]:
    """Split `file.npz:key` or `file.safetensors:key` into file and key; every other path stays whole."""
    for suffix in (".npz", ".safetensors"):
        head, mark, key = path.rpartition(suffix + ":")
        if mark:
            return Path(head + suffix), key
    return Path(path), None


def read_stored(file: Path, key: str | None, keys: Sequence[str], also: Sequence[str] = ()) -> Stored:
    """Read one array with names of columns and rows, and other arrays of an NPZ file."""
    if file.suffix.lower() == ".npz":
        return _read_npz(file, key, keys, also)
    if file.suffix.lower() == ".safetensors":
        return read_tensor(file, _pick(keys_of(file), key, keys, str(file))), None, None, {}
    return _read_npy(file), None, None, {}


def stored(path: str | Path) -> tuple[str, ...]:
    """List the arrays of an NPZ file; other files have none by name."""
    file, _ = split_key(str(path))
    if file.suffix.lower() != ".npz":
        return ()
    with _whole(file), file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        return tuple(archive)


def _read_npy(file: Path) -> Any:
    try:
        return np.load(file, allow_pickle=False)
    except (ValueError, EOFError, OSError, MemoryError) as error:
        raise ValueError(f"`{file}` must be a whole NPY file without pickled objects. ({error})") from None


def _read_npz(file: Path, key: str | None, keys: Sequence[str], also: Sequence[str]) -> Stored:
    with ExitStack() as stack:
        with _whole(file):
            stream = stack.enter_context(file.open("rb"))
            archive = stack.enter_context(np.load(stream, allow_pickle=False))
            held = list(archive)
        name = _pick(held, key, keys, str(file))
        with _whole(file):
            names, ids = archive.get(name + NAMES), archive.get(name + IDS)
            more = {other: archive[other] for other in also if other in held}
            return archive[name], _tuple(names), None if ids is None else ids.astype(object), more


def _tuple(names: Any) -> tuple[str, ...] | None:
    return None if names is None else tuple(map(str, names))


@contextmanager
def _whole(file: Path) -> Iterator[None]:
    """Say which NPZ file is broken, however that shows."""
    try:
        yield
    except _BROKEN as error:
        raise ValueError(f"`{file}` must be a whole NPZ file without pickled objects. ({error})") from None


def _pick(held: list[str], key: str | None, keys: Sequence[str], source: str) -> str:
    """Choose one array of a file, or say which there are."""
    arrays = [name for name in held if not name.endswith((NAMES, IDS))]
    if key is not None and key not in arrays:
        raise ValueError(f"`{source}` must hold an array {key!r}, it holds {', '.join(arrays) or 'none'}.")
    if key is not None:
        return key
    wanted = [name for name in keys if name in arrays] or (arrays if len(arrays) == 1 else [])
    if not wanted:
        called = f" or one called {' or '.join(keys)}" if keys else ""
        raise ValueError(
            f"`{source}` must hold one array{called}, it holds {', '.join(arrays) or 'none'}. "
            f"Pick one as `{Path(source).name}:name`."
        )
    return wanted[0]
