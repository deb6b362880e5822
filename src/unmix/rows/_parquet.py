"""Parquet files as arrays of numbers, whole or some rows at a time."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from unmix._untrusted import check_names, each_whole, require_plausible, whole

_BATCH, _ENTRIES = 8192, 1 << 21  # rows and entries of a block, at most
LARGE = 1 << 29  # bytes of a group of rows
_BUFFER = 1 << 16  # bytes of each column that are read ahead


def arrow() -> Any:
    """Import pyarrow, where it is needed: it takes a tenth of a second."""
    import pyarrow
    import pyarrow.ipc
    import pyarrow.parquet

    return pyarrow


def described(file: Path, chosen: tuple[str, ...] | None = None) -> tuple[tuple[str, ...], np.dtype, int]:
    """Return the names of the numeric columns or of chosen ones, their type, and the number of rows.

    Text and dates, the index of a pandas frame and columns called `Metadata_...` are no features.
    """
    with opened_parquet(file) as opened:
        schema, n_rows = opened.schema_arrow, opened.metadata.num_rows
    names = chosen or tuple(field.name for field in schema if _is_feature(field))
    if not names:
        raise ValueError(
            f"`{file}` must have a numeric column, it holds {', '.join(schema.names) or 'none'}."
        )
    single = all(str(schema.field(name).type) == "float" for name in names)
    dtype = np.dtype(np.float32 if single else np.float64)
    return names, dtype, n_rows


def _is_feature(field: Any) -> bool:
    types = arrow().types
    numeric = types.is_integer(field.type) or types.is_floating(field.type) or types.is_boolean(field.type)
    return numeric and not field.name.startswith(("__index_level_", "Metadata_"))


def opened_parquet(file: Path) -> Any:
    """Open a file to be read in blocks: of a large group of rows no more than some pages are in memory."""
    with whole(file, "Parquet file"):
        opened = arrow().parquet.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER)
    check_names(opened.schema_arrow.names, str(file))
    require_plausible(file, file.stat().st_size, 8 * opened.metadata.num_rows * opened.metadata.num_columns)
    return opened


def parquet_batches(opened: Any, names: Sequence[str], n_rows: int, first: int = 0) -> Iterator[Any]:
    """Yield blocks of rows of an open file as Arrow tables, from a group of rows on.

    A page of each column must be in memory, which is too much of thousands of columns in groups of a million
    rows. Such a group, as most programs write it, is first laid out by rows in temporary files.
    """
    for group in range(first, opened.num_row_groups):
        if opened.metadata.row_group(group).total_byte_size > LARGE:
            yield from _laid_out(opened, group, names, n_rows)
        else:
            for batch in opened.iter_batches(n_rows, row_groups=[group], columns=list(names)):
                yield arrow().Table.from_batches([batch])


def _laid_out(opened: Any, group: int, names: Sequence[str], n_rows: int) -> Iterator[Any]:
    """Write a group of rows slab by slab, some columns at a time, and read the slabs side by side."""
    pyarrow = arrow()
    width = max(1, LARGE // 4 // (8 * opened.metadata.row_group(group).num_rows))
    slabs = [list(names[j : j + width]) for j in range(0, len(names), width)]
    with TemporaryDirectory() as folder, ExitStack() as stack:
        for k, slab in enumerate(slabs):
            table = opened.read_row_group(group, columns=slab)
            with pyarrow.ipc.new_file(f"{folder}/{k}", table.schema) as stream:
                stream.write_table(table.combine_chunks(), n_rows)
        files = [stack.enter_context(pyarrow.OSFile(f"{folder}/{k}")) for k in range(len(slabs))]
        parts = [pyarrow.ipc.open_file(file) for file in files]
        schema = pyarrow.unify_schemas([part.schema for part in parts])
        for block in range(parts[0].num_record_batches):
            batches = [part.get_batch(block) for part in parts]
            yield pyarrow.table([column for batch in batches for column in batch.columns], schema=schema)


def reader(file: Path, names: tuple[str, ...], dtype: np.dtype) -> Callable[[int, int], np.ndarray]:
    """Return a function that reads rows; reading on from where it stopped reads nothing twice."""
    at, batches, rest = 0, _from(file, names, dtype, 0), np.empty((0, len(names)), dtype)

    def take(start: int, stop: int) -> np.ndarray:
        nonlocal at, batches, rest
        if start != at:
            batches, rest = _from(file, names, dtype, start), rest[:0]
        parts, missing = [], stop - start
        while missing > 0:
            rest = rest if len(rest) else next(batches)
            parts.append(rest[:missing])
            rest, missing = rest[missing:], missing - len(parts[-1])
        at = stop
        return parts[0] if len(parts) == 1 else np.concatenate(parts or [rest[:0]])

    return take


def _from(file: Path, names: tuple[str, ...], dtype: np.dtype, start: int) -> Iterator[np.ndarray]:
    """Yield rows from a place on, without the row groups before it."""
    with opened_parquet(file) as opened:
        sizes = [opened.metadata.row_group(k).num_rows for k in range(opened.num_row_groups)]
        first = int(np.searchsorted(np.cumsum(sizes), start, side="right")) if sizes else 0
        skip = start - sum(sizes[:first])
        n_rows = max(256, min(_BATCH, _ENTRIES // len(names)))
        batches = parquet_batches(opened, names, n_rows, first)
        for batch in each_whole(file, "Parquet file", batches):
            columns = [column.to_numpy() for column in batch.columns]
            rows = np.stack(columns, axis=1).astype(dtype, copy=False)
            if skip < len(rows):
                yield rows[skip:]
            skip = max(0, skip - len(rows))
