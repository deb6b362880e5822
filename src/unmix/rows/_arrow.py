"""Arrow and Feather files as blocks of rows: one column of vectors, or a column for each feature."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from unmix._untrusted import require_plausible

from ._parquet import arrow
from ._rows import Rows


def arrow_rows(file: Path, block: Callable[[int], int]) -> Rows:
    """Open an Arrow file, memory-mapped, whose only column of vectors or whose numeric columns are features.

    Parameters
    ----------
    file : pathlib.Path
    block : callable
        Tells the rows of a block from the number of columns.

    Returns
    -------
    Rows
    """
    table = _table(file)
    require_plausible(file, file.stat().st_size, 8 * table.num_rows * table.num_columns)
    vectors = [field.name for field in table.schema if _is_vectors(field.type)]
    if vectors:
        return _of_vectors(table.column(vectors[0]), file, block)
    names = tuple(field.name for field in table.schema if _is_number(field.type))
    if not names or not table.num_rows:
        raise ValueError(
            f"`path` must hold numbers or vectors, {str(file)!r} has the columns {table.schema.names}."
        )
    dtype = np.result_type(*(np.asarray(table.column(name).slice(0, 1)).dtype for name in names))

    def take(start: int, stop: int) -> np.ndarray:
        part = table.select(list(names)).slice(start, stop - start)
        return np.stack([column.to_numpy() for column in part.columns], axis=1).astype(dtype, copy=False)

    return Rows(take, table.num_rows, len(names), dtype, block(len(names)), names=names)


def _of_vectors(column: Any, file: Path, block: Callable[[int], int]) -> Rows:
    lengths = {len(value) for value in column.slice(0, 1)} if len(column) else {0}
    d = lengths.pop()
    if not d:
        raise ValueError(f"`path` must hold vectors, the first in {str(file)!r} is empty.")

    def take(start: int, stop: int) -> np.ndarray:
        parts = [_flat(chunk, d, file) for chunk in column.slice(start, stop - start).chunks]
        return np.concatenate(parts)

    dtype = take(0, 1).dtype
    return Rows(take, len(column), d, dtype, block(d))


def _flat(chunk: Any, d: int, file: Path) -> np.ndarray:
    values = chunk.flatten().to_numpy(zero_copy_only=False)
    if len(values) != d * len(chunk):
        raise ValueError(f"`path` must hold vectors of {d} numbers each, {str(file)!r} has others too.")
    return values.reshape(len(chunk), d)


def _table(file: Path) -> Any:
    pyarrow = arrow()
    if not file.is_file():
        raise ValueError(f"`path` must be a file that exists, got {str(file)!r}. Check the path.")
    source = pyarrow.memory_map(str(file))
    for opened in (pyarrow.ipc.open_file, pyarrow.ipc.open_stream):
        try:
            return opened(source).read_all()
        except pyarrow.ArrowInvalid as error:
            reason = str(error).splitlines()[0]
            source.seek(0)
    raise ValueError(f"`path` must be a whole Arrow file, got {str(file)!r}. ({reason})")


def _is_vectors(kind: Any) -> bool:
    types = arrow().types
    listed = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return listed and types.is_floating(kind.value_type)


def _is_number(kind: Any) -> bool:
    return arrow().types.is_floating(kind) or arrow().types.is_integer(kind)
