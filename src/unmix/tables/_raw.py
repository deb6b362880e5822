"""What a source holds before columns are chosen: an Arrow table, or one array with names."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ._choice import DATE, EMPTY, FLAG, NUMBER, OTHER, TEXT

_BLOCK = 2048  # rows that are turned from columns into rows at a time: they fit into the cache


class Raw(NamedTuple):
    """Columns of a source, unchecked: `arrow` holds them all, or those beside the numbers of a `matrix`.

    `names` are those of the matrix, or of all columns where there is none; `order` is that of the source, and
    `named` says whether the names are its own.
    """

    kind: str
    arrow: Any = None  # a pyarrow.Table
    matrix: np.ndarray | None = None
    names: tuple[str, ...] | None = None
    order: tuple[str, ...] | None = None
    named: bool = True
    ids: np.ndarray | None = None
    id_name: str = ""
    units: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()
    origin: Any = None


def kinds_of(schema: pa.Schema) -> dict[str, str]:
    """Say in a word what each column holds."""
    return {field.name: _kind(field.type) for field in schema}


def _kind(kind: Any) -> str:
    types = pa.types
    if types.is_dictionary(kind):
        return TEXT if _kind(kind.value_type) == TEXT else _kind(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return NUMBER
    if types.is_boolean(kind):
        return FLAG
    if types.is_temporal(kind):
        return DATE
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return TEXT
    return EMPTY if types.is_null(kind) else OTHER


def numbers(table: pa.Table, names: Sequence[str]) -> np.ndarray:
    """Return columns as one array (n_rows, n_columns), NaN where a value is missing."""
    chosen = table.select(list(names))
    floats = all(pa.types.is_float32(field.type) for field in chosen.schema)
    values = np.empty((len(chosen), len(names)), np.float32 if floats else np.float64)
    start = 0
    for batch in chosen.to_batches(max_chunksize=_BLOCK):
        rows = values[start : start + len(batch)]
        for j, column in enumerate(batch.columns):
            rows[:, j] = _floats(column)
        start += len(batch)
    return values


def _floats(column: Any) -> np.ndarray:
    """Return a column as numbers, without a copy where it holds such; `to_numpy` would import pandas."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not (pa.types.is_float64(column.type) or pa.types.is_float32(column.type)):
        column = column.cast(pa.float64(), safe=False)
    if column.null_count:
        column = pc.fill_null(column, float("nan"))
    kind = np.dtype(np.float32 if pa.types.is_float32(column.type) else np.float64)
    if not len(column):
        return np.empty(0, kind)
    return np.frombuffer(column.buffers()[1], kind, len(column), column.offset * kind.itemsize)


def plain(column: Any) -> np.ndarray:
    """Return a column of metadata: numbers as they are, everything else as text, None where missing."""
    kind = _kind(column.type)
    if kind == NUMBER:
        return _numeric(column)
    if kind == FLAG and not column.null_count:
        return column.to_numpy()
    values = as_text(column).to_pylist()  # `to_numpy` would import pandas
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _numeric(column: Any) -> np.ndarray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type) or (column.null_count and pa.types.is_integer(column.type)):
        column = column.cast(pa.float64())
    return np.array(column.to_numpy(zero_copy_only=False))


def as_text(column: Any) -> Any:
    """Write any column as text; lists and the like as Python shows them."""
    try:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return pc.cast(column, pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return pa.array([None if item is None else str(item) for item in column.to_pylist()], pa.string())


def text_of(values: np.ndarray) -> np.ndarray:
    """Return ids as text."""
    return np.array(["" if v is None else str(v) for v in values.tolist()], dtype=object)
