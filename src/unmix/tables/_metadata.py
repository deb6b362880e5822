"""Metadata by themselves: every column of a file as it is, numbers or text."""

from pathlib import Path

import numpy as np
import pyarrow.parquet

from unmix.rows import opened_parquet

from ._arrow_files import check_parquet, index_of, of_arrow, units_of, whole
from ._choice import EMPTY, choose
from ._labels import paired
from ._numbers import as_numbers
from ._raw import kinds_of, plain, text_of
from ._read import check_file, read_raw
from ._table import Columns, Recipe, Table


def read_metadata(path: str | Path) -> dict[str, np.ndarray]:
    r"""Read every column of a table, whatever it holds; missing values are None or NaN.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "wells.csv"
    >>> _ = path.write_text("well,plate\nA01,1\nA02,2\n")
    >>> {name: column.tolist() for name, column in read_metadata(path).items()}
    {'well': ['A01', 'A02'], 'plate': [1, 2]}
    """
    raw, called, _ = read_raw(path, Columns(metadata_prefix=("",)))
    if raw.arrow is None:
        raise ValueError(f"`{called}` must have named columns, it holds an array. Use CSV or Parquet.")
    text = raw.kind.startswith(("csv", "tsv"))
    columns = {name: plain(raw.arrow.column(name)) for name in raw.arrow.column_names}
    return {name: as_numbers(column) if text else column for name, column in columns.items()}


def n_rows_in(file: Path) -> tuple[int, int]:
    """Return how many rows and columns a Parquet file has."""
    with opened_parquet(file) as opened:
        return int(opened.metadata.num_rows), int(opened.metadata.num_columns)


def read_beside(path: str | Path, columns: Columns, *, every: int = 1) -> tuple[Table, Recipe]:
    """Read a Parquet file but for its features: ids and metadata, and a recipe by which features are read.

    The values of the table have all rows, or every so many, and no column.

    Examples
    --------
    >>> import tempfile
    >>> from unmix.tables import write
    >>> like = Table(np.eye(2), None, {"plate": np.array(["p", "q"], dtype=object)})
    >>> path = write(tempfile.mkdtemp() + "/t.parquet", np.eye(2), ["a", "b"], like=like)
    >>> table, recipe = read_beside(path, Columns())
    >>> table.values.shape, table.metadata["plate"].tolist(), recipe.features
    ((2, 0), ['p', 'q'], ('a', 'b'))
    """
    file = Path(path)
    check_file(file)
    check_parquet(file)
    schema = whole(file, lambda: pyarrow.parquet.read_schema(file))
    index = [name for name in index_of(schema) if name in schema.names]
    kinds = {name: kind for name, kind in kinds_of(schema).items() if name not in index}
    choice = choose(kinds, columns, str(file))
    wanted = list(dict.fromkeys([*index, *choice.ids, *choice.metadata]))
    held = whole(file, lambda: pyarrow.parquet.read_table(file, columns=wanted))
    n_rows = held.num_rows if wanted else n_rows_in(file)[0]
    if every > 1:
        held = held.take(np.arange(0, held.num_rows, every))
    raw = of_arrow(held, "parquet", str(file))
    named = [text_of(plain(raw.arrow.column(name))) for name in choice.ids]
    ids = paired(named) if len(named) > 1 else named[0] if named else raw.ids
    metadata = {name: plain(raw.arrow.column(name)) for name in choice.metadata}
    units = units_of(schema)
    recipe = Recipe(
        choice.features,
        True,
        len(kinds),
        dropped={name: "no number in it" for name in choice.metadata if kinds[name] == EMPTY},
        units={name: units[name] for name in choice.features if name in units},
        notes=choice.notes,
    )
    name, several = choice.ids[0] if choice.ids else raw.id_name, choice.ids if len(named) > 1 else ()
    values = np.empty((-(-n_rows // every), 0))
    return Table(values, None, metadata, ids, recipe, "parquet", name, several), recipe
