"""Parquet files as arrays of numbers, whole or some rows at a time."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

_BATCH = 8192


def arrow() -> Any:
    """Import pyarrow, or say how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            "Parquet files need pyarrow: pip install 'unmix[frames]', or use CSV or NPY."
        ) from None
    return pyarrow


def described(file: Path) -> tuple[tuple[str, ...], np.dtype, int]:
    """Return the names of the columns, the type that holds all of them, and the number of rows."""
    schema = _opened(file, lambda parquet: parquet.read_schema(file))
    names = tuple(name for name in schema.names if not name.startswith("__index_level_"))  # pandas' index
    kinds = [schema.field(name).type for name in names]
    types = arrow().types
    for name, kind in zip(names, kinds, strict=True):
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise ValueError(
                f"`{file}` must hold numbers only, column {name!r} holds {kind}. Drop or encode it."
            )
    single = bool(kinds) and all(str(kind) == "float" for kind in kinds)
    dtype = np.dtype(np.float32 if single else np.float64)
    return names, dtype, _opened(file, lambda parquet: parquet.read_metadata(file)).num_rows


def read_parquet(file: Path) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return all numbers of a file and the names of its columns; missing values are an error."""
    names, dtype, _ = described(file)
    table = _opened(file, lambda parquet: parquet.read_table(file, columns=list(names)))
    for name, column in zip(names, table.columns, strict=True):
        if column.null_count:
            missing = f"column {name!r} has {column.null_count}"
            raise ValueError(f"`{file}` must have no missing values, {missing}. Fill them in.")
    columns = [column.to_numpy().astype(dtype, copy=False) for column in table.columns]
    return np.stack(columns, axis=1) if columns else np.empty((0, 0)), names


def reader(file: Path, names: tuple[str, ...], dtype: np.dtype) -> Callable[[int, int], np.ndarray]:
    """Return a function that reads rows; reading on from where it stopped reads nothing twice."""
    at, batches, rest = 0, _from(file, names, dtype, 0), np.empty((0, len(names)), dtype)

    def take(start: int, stop: int) -> np.ndarray:
        nonlocal at, batches, rest
        if start != at:
            batches, rest = _from(file, names, dtype, start), rest[:0]
        parts, missing = [rest], stop - start - len(rest)
        while missing > 0:
            parts.append(next(batches))
            missing -= len(parts[-1])
        held = np.concatenate(parts)
        at, rest = stop, held[stop - start :]
        return held[: stop - start]

    return take


def _from(file: Path, names: tuple[str, ...], dtype: np.dtype, start: int) -> Iterator[np.ndarray]:
    """Yield rows from a place on, without the row groups before it."""
    with arrow().parquet.ParquetFile(file) as opened:
        sizes = [opened.metadata.row_group(k).num_rows for k in range(opened.num_row_groups)]
        first = int(np.searchsorted(np.cumsum(sizes), start, side="right")) if sizes else 0
        skip = start - sum(sizes[:first])
        groups = list(range(first, len(sizes)))
        for batch in opened.iter_batches(_BATCH, row_groups=groups, columns=list(names)):
            columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            rows = np.stack(columns, axis=1).astype(dtype, copy=False)
            if skip < len(rows):
                yield rows[skip:]
            skip = max(0, skip - len(rows))


def write_parquet(stream: Any, values: np.ndarray, names: list[str]) -> None:
    """Write a table to an open file."""
    pyarrow = arrow()
    pyarrow.parquet.write_table(
        pyarrow.table([pyarrow.array(column) for column in values.T], names=names), stream
    )


def _opened(file: Path, use: Callable[[Any], Any]) -> Any:
    pyarrow = arrow()
    try:
        return use(pyarrow.parquet)
    except (pyarrow.ArrowException, OSError) as error:
        first_line = str(error).splitlines()[0]
        raise ValueError(f"`{file}` must be a whole Parquet file. ({first_line})") from None
