"""Arrays in files: NPY, NPZ and safetensors, never with pickle; broken files get a clear error."""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unmix._untrusted import check_names, npz_array, npz_names, opened_npz, read_npy
from unmix.rows import keys_of, read_tensor

NAMES, IDS = "_names", "_ids"  # in an NPZ file `x_names` holds the column names of `x`, `x_ids` those of rows
_SHOWN = 20  # names, at most

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
    return read_npy(file), None, None, {}


def stored(path: str | Path) -> tuple[str, ...]:
    """List the arrays of an NPZ file; other files have none by name."""
    file, _ = split_key(str(path))
    if file.suffix.lower() != ".npz":
        return ()
    with opened_npz(file) as archive:
        return tuple(npz_names(archive))


def _read_npz(file: Path, key: str | None, keys: Sequence[str], also: Sequence[str]) -> Stored:
    with opened_npz(file) as archive:
        held = npz_names(archive)
        name = _pick(held, key, keys, str(file))
        names, ids = (_labels(archive, name + end) if name + end in held else None for end in (NAMES, IDS))
        check_names([] if names is None else [str(each) for each in names], str(file))
        more = {other: npz_array(archive, other) for other in also if other in held}
        return npz_array(archive, name), None if names is None else tuple(map(str, names)), ids, more


def _labels(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Read the names of columns or rows."""
    found = npz_array(archive, name)
    if found.ndim != 1:
        raise ValueError(f"`{name}` must be a list of names, got shape {found.shape}.")
    return found.astype(object)


def _pick(held: list[str], key: str | None, keys: Sequence[str], source: str) -> str:
    """Choose one array of a file, or say which there are."""
    arrays = [name for name in held if not name.endswith((NAMES, IDS))]
    if key is not None and key not in arrays:
        raise ValueError(f"`{source}` must hold an array {key!r}, it holds {_few(arrays)}.")
    if key is not None:
        return key
    wanted = [name for name in keys if name in arrays] or (arrays if len(arrays) == 1 else [])
    if not wanted:
        called = f" or one called {' or '.join(keys)}" if keys else ""
        raise ValueError(
            f"`{source}` must hold one array{called}, it holds {_few(arrays)}. "
            f"Pick one as `{Path(source).name}:name`."
        )
    return wanted[0]


def _few(names: list[str]) -> str:
    """Name a few of thousands."""
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more or "none"
