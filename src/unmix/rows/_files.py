"""Files and folders as blocks of rows: NPY, Parquet and safetensors."""

import os
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from unmix._untrusted import read_npy

from . import _parquet
from ._rows import Rows
from ._safetensors import keys_of, read_tensor, tensor_shape

Block = Callable[[int], int]  # rows of a block, from the number of columns


def file_rows(path: str | os.PathLike[str], block: Block, *, names: tuple[str, ...] | None = None) -> Rows:
    """Open an NPY, Parquet or safetensors file, or a folder of such files, as one table.

    Parameters
    ----------
    path : path-like
        Files of a folder (shards) follow each other by name, and must have the same columns.
    block : callable
        Tells the rows of a block from the number of columns.
    names : tuple of str, optional
        Of a Parquet file the columns to read, by default all that hold numbers.

    Returns
    -------
    Rows

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name, part in (("0.npy", np.zeros((3, 2))), ("1.npy", np.ones((2, 2)))):
    ...     np.save(folder / name, part)
    >>> rows = file_rows(folder, lambda n_columns: 4)
    >>> rows.n_rows, rows.take(2, 4).tolist()
    (5, [[0.0, 0.0], [1.0, 1.0]])
    """
    place = Path(path)
    if place.is_dir():
        shards = sorted(file for file in place.iterdir() if file.suffix.lower() in _READERS)
        return joined_rows([file_rows(file, block, names=names) for file in shards], str(path))
    if place.suffix.lower() not in _READERS:
        raise ValueError(
            "`X` must be an array, or the path of an NPY, Parquet or safetensors file or of a folder of "
            f"them, got {str(path)!r}. Convert it."
        )
    if not place.is_file():
        raise ValueError(f"`X` must be a file that exists, got {str(path)!r}. Check the path.")
    if names is not None and place.suffix.lower() == ".parquet":
        return _parquet_rows(place, block, names)
    return _READERS[place.suffix.lower()](place, block)


def joined_rows(parts: Sequence[Rows], source: str) -> Rows:
    """Return the rows of several tables as one."""
    if not parts:
        raise ValueError(f"`X` must be a folder of NPY, Parquet or safetensors files, {source!r} has none.")
    alike = {(part.n_features, part.names) for part in parts}
    if len(alike) > 1:
        shapes = sorted({part.n_features for part in parts})
        raise ValueError(
            f"`X` must have the same columns in every shard, {source!r} has {shapes} columns or other names."
        )
    ends = list(accumulate(part.n_rows for part in parts))

    def take(start: int, stop: int) -> np.ndarray:
        pieces = []
        for number in range(bisect_right(ends, start), len(parts)):
            first = ends[number] - parts[number].n_rows
            if first >= stop:
                break
            pieces.append(parts[number].take(max(start - first, 0), min(stop, ends[number]) - first))
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    dtype = np.result_type(*(part.dtype for part in parts))
    return parts[0]._replace(take=take, n_rows=ends[-1], dtype=dtype)


def _npy_rows(file: Path, block: Block) -> Rows:
    mapped = _mapped(file)
    _check_table(mapped.shape, mapped.dtype, file)
    n_rows, n_columns = mapped.shape

    def take(start: int, stop: int) -> np.ndarray:
        # mapped again for each block: what was read before does not stay in the memory of this process
        return np.array(_mapped(file)[start:stop])

    return Rows(take, n_rows, n_columns, mapped.dtype, block(n_columns))


def _mapped(file: Path) -> np.ndarray:
    return read_npy(file, mmap_mode="r")


def _parquet_rows(file: Path, block: Block, chosen: tuple[str, ...] | None = None) -> Rows:
    names, dtype, n_rows = _parquet.described(file, chosen)
    _check_table((n_rows, len(names)), dtype, file)
    return Rows(
        _parquet.reader(file, names, dtype), n_rows, len(names), dtype, block(len(names)), names=names
    )


def _safetensors_rows(file: Path, block: Block) -> Rows:
    held = keys_of(file)
    if len(held) != 1:
        raise ValueError(f"`X` must be a safetensors file with one table, {str(file)!r} holds {held}.")
    shape, dtype = tensor_shape(file, held[0]), read_tensor(file, held[0], slice(0, 1)).dtype
    _check_table(shape, dtype, file)
    n_rows, n_columns = shape
    return Rows(
        lambda a, b: read_tensor(file, held[0], slice(a, b)), n_rows, n_columns, dtype, block(n_columns)
    )


_READERS: dict[str, Callable[[Path, Block], Rows]] = {
    ".npy": _npy_rows,
    ".parquet": _parquet_rows,
    ".safetensors": _safetensors_rows,
}


def _check_table(shape: tuple[int, ...], dtype: np.dtype, file: Path) -> None:
    if dtype.kind not in "fiu":
        raise ValueError(f"`X` must hold real numbers, {str(file)!r} holds {dtype}.")
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"`X` must have rows and columns, {str(file)!r} has shape {shape}.")
