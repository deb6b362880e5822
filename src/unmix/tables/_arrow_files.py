"""Parquet and Feather files, with the index that pandas may have left in them as ids."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from ._names import check_names
from ._raw import Raw, plain, text_of


def read_arrow(file: Path) -> Raw:
    """Read a Parquet or Feather file."""
    feather = file.suffix.lower() != ".parquet"
    read: Callable[..., Any] = pa.feather.read_table if feather else pa.parquet.read_table
    table = whole(file, lambda: read(file))
    return of_arrow(table, "feather" if feather else "parquet", str(file))


def of_arrow(table: pa.Table, kind: str, source: str) -> Raw:
    """Separate the index of a pandas frame from the columns of an Arrow table."""
    check_names(table.column_names, source)
    index = [name for name in index_of(table.schema) if name in table.column_names]
    ids = _joined([text_of(plain(table.column(name))) for name in index])
    name = index[0] if len(index) == 1 and not index[0].startswith("__index_level_") else ""
    rest = table.drop_columns(index) if index else table
    units = units_of(rest.schema)
    return Raw(kind, arrow=rest, names=tuple(rest.column_names), ids=ids, id_name=name, units=units)


def index_of(schema: pa.Schema) -> list[str]:
    """Return the columns that are the index of a pandas frame; a mere count of rows is none."""
    stored = (schema.metadata or {}).get(b"pandas")
    named = json.loads(stored).get("index_columns", []) if stored else []
    return [name for name in named if isinstance(name, str)]


def units_of(schema: pa.Schema) -> dict[str, str]:
    """Return the units that columns carry in their own metadata, as `unit` or `units`."""
    found = {}
    for field in schema:
        told = field.metadata or {}
        unit = told.get(b"unit") or told.get(b"units")
        if unit:
            found[field.name] = unit.decode(errors="replace")
    return found


def whole(file: Path, use: Callable[[], Any]) -> Any:
    """Say plainly which file is broken."""
    try:
        return use()
    except (pa.ArrowException, OSError) as error:
        kind = "Parquet" if file.suffix.lower() == ".parquet" else "Feather"
        first_line = (str(error).splitlines() or [""])[0]
        raise ValueError(f"`{file}` must be a whole {kind} file. ({first_line})") from None


def _joined(parts: list[np.ndarray]) -> np.ndarray | None:
    """Join the levels of an index; none of one level."""
    if not parts:
        return None
    return np.array(["|".join(row) for row in zip(*parts, strict=True)], dtype=object)
