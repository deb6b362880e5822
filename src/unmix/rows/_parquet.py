"""Parquet files as arrays of numbers, whole or some rows at a time."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

_BATCH = 8192
_BUFFER = 1 << 16  # bytes of each column that are read ahead


def arrow() -> Any:
    """Import pyarrow, where it is needed: it takes a tenth of a second."""
    import pyarrow
    import pyarrow.parquet

    return pyarrow


def described(file: Path) -> tuple[tuple[str, ...], np.dtype, int]:
    """Return the names of the numeric columns, the type that holds them, and the number of rows.

    Text and dates, the index of a pandas frame and columns called `Metadata_...` are no features.
    """
    schema = _opened(file, lambda parquet: parquet.read_schema(file))
    names = tuple(field.name for field in schema if _is_feature(field))
    if not names:
        raise ValueError(
            f"`{file}` must have a numeric column, it holds {', '.join(schema.names) or 'none'}."
        )
    single = all(str(schema.field(name).type) == "float" for name in names)
    dtype = np.dtype(np.float32 if single else np.float64)
    return names, dtype, _opened(file, lambda parquet: parquet.read_metadata(file)).num_rows


def _is_feature(field: Any) -> bool:
    types = arrow().types
    numeric = types.is_integer(field.type) or types.is_floating(field.type) or types.is_boolean(field.type)
    return numeric and not field.name.startswith(("__index_level_", "Metadata_"))


def opened_parquet(file: Path) -> Any:
    """Open a file to be read in blocks: of a large group of rows no more than some pages are in memory."""
    return arrow().parquet.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER)


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
    with opened_parquet(file) as opened:
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


def _opened(file: Path, use: Callable[[Any], Any]) -> Any:
    pyarrow = arrow()
    try:
        return use(pyarrow.parquet)
    except (pyarrow.ArrowException, OSError) as error:
        first_line = str(error).splitlines()[0]
        raise ValueError(f"`{file}` must be a whole Parquet file. ({first_line})") from None
