"""Parquet and Feather files, with the index that pandas may have left in them as ids."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

from unmix._untrusted import check_names, parse_json, require_plausible
from unmix._untrusted import whole as untrusted
from unmix.rows import opened_parquet

from ._raw import Raw, plain, text_of


def read_arrow(file: Path) -> Raw:
    """Read a Parquet or Feather file."""
    feather = file.suffix.lower() != ".parquet"
    read: Callable[..., Any] = pa.feather.read_table if feather else pa.parquet.read_table
    (_check_feather if feather else check_parquet)(file)
    table = whole(file, lambda: read(file))
    whole(file, lambda: table.validate(full=True))
    return of_arrow(table, "feather" if feather else "parquet", str(file))


def check_parquet(file: Path) -> None:
    """Refuse a file that is none, or that a few bytes would make far larger."""
    opened_parquet(file).close()


def _check_feather(file: Path) -> None:
    """Do the same for a Feather file, whose rows are counted without unpacking them."""
    import pyarrow.dataset

    with whole(file, lambda: pa.memory_map(str(file))) as mapped:
        check_names(whole(file, lambda: pa.ipc.open_file(mapped)).schema.names, str(file))
    held = whole(file, lambda: pyarrow.dataset.dataset(file, format="feather"))
    n_entries = whole(file, lambda: held.count_rows()) * len(held.schema)
    require_plausible(file, file.stat().st_size, 8 * n_entries)


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
    told = parse_json(stored, "the metadata of pandas") if stored else {}
    named = told.get("index_columns", []) if isinstance(told, dict) else []
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []


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
    with untrusted(file, f"{'Parquet' if file.suffix.lower() == '.parquet' else 'Feather'} file"):
        return use()


def _joined(parts: list[np.ndarray]) -> np.ndarray | None:
    """Join the levels of an index; none of one level."""
    if not parts:
        return None
    return np.array(["|".join(row) for row in zip(*parts, strict=True)], dtype=object)
