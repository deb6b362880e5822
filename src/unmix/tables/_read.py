"""One reader for all: a path or an object in, a table of finite numbers with everything beside it out."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ._arrays import read_stored, split_key, stored
from ._arrow_files import read_arrow
from ._choice import EMPTY, NUMBER, Choice, choose
from ._csv import read_csv
from ._holes import without_holes
from ._labels import paired
from ._names import listed
from ._numbers import as_numbers
from ._objects import read_h5ad, read_object
from ._raw import Raw, kinds_of, numbers, plain, text_of
from ._table import EVERY, Columns, Recipe, Table, generated

TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".txt", ".txt.gz")
READABLE = (
    ".csv",
    ".csv.gz",
    ".tsv",
    ".tsv.gz",
    ".parquet",
    ".feather",
    ".h5ad",
    ".npy",
    ".npz",
    ".safetensors",
)
_ARROW, _ARRAYS = (".parquet", ".feather", ".arrow"), (".npy", ".npz", ".safetensors")


def read(source: Any, *, columns: Columns = EVERY, keys: Sequence[str] = ("x",)) -> Table:
    r"""Read a table: numeric columns are features, all others come along as metadata.

    Parameters
    ----------
    source : path, array, pandas or Polars frame, or AnnData object
        A CSV or TSV file (also gzipped), Parquet, Feather, H5AD, NPY, NPZ or safetensors. `file.npz:key`
        picks one array of a file that holds several.
    columns : Columns
        Which columns are features, and what becomes of missing values.
    keys : sequence of str
        The arrays to look for, in this order, in a file that holds several.

    Returns
    -------
    Table

    Notes
    -----
    A first line of a CSV file is a header if any cell is text other than a mark for a missing value. A
    first column without a name, the index of a pandas frame that is not a mere count, and the `obs_names`
    of AnnData are ids of rows. Dates and columns of true and false are metadata; `features` takes the
    latter as 0 and 1.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "points.csv"
    >>> _ = path.write_text("well,a,b\nA01,1,2\nA02,3,4\n")
    >>> table = read(path)
    >>> table.names, table.metadata["well"].tolist()
    (('a', 'b'), ['A01', 'A02'])
    """
    if isinstance(source, Table):
        return source
    raw, called, _ = read_raw(source, columns, keys)
    return without_holes(table_of(raw, columns, called), columns, called)


def read_with(
    path: str | Path, *, columns: Columns = EVERY, keys: Sequence[str] = ("x",), also: Sequence[str] = ()
) -> tuple[Table, dict[str, np.ndarray]]:
    """Read a table as `read` does, and from the same NPZ file other arrays, where it has them."""
    raw, called, more = read_raw(path, columns, keys, also)
    table = table_of(raw, columns, called)
    if not len(table.values):
        raise ValueError(f"`{called}` must have rows, it has none. Check the export.")
    return without_holes(table, columns, called), more


def read_array(path: str | Path) -> np.ndarray:
    """Read one array as it is stored, of any shape and type; of a table its numbers."""
    file, key = split_key(str(path))
    if _suffix(file) in _ARRAYS:
        check_file(file)
        return np.asarray(read_stored(file, key, ())[0])
    return read(path).values


def is_array_file(path: str | Path) -> bool:
    """Whether a file holds arrays rather than columns."""
    return _suffix(split_key(str(path))[0]) in _ARRAYS


def read_column(path: str | Path, option: str = "--domains") -> np.ndarray:
    """Read a file that holds one column, of numbers or text."""
    raw, called, _ = read_raw(path, Columns(metadata_prefix=("",)))
    n = 0 if raw.arrow is None else raw.arrow.num_columns
    if n != 1 or raw.origin is not None:
        raise ValueError(
            f"`{option}` must hold one label per row, `{called}` has {n} columns. Pick one column."
        )
    return as_numbers(plain(raw.arrow.column(0)))


def read_raw(
    source: Any, columns: Columns, keys: Sequence[str] = (), also: Sequence[str] = ()
) -> tuple[Raw, str, dict[str, np.ndarray]]:
    """Read what a source holds, unchecked; what errors call it, and other arrays of an NPZ file."""
    if not isinstance(source, str | os.PathLike):
        return read_object(source, columns), "X", {}
    file, key = split_key(str(source))
    check_file(file)
    suffix = _suffix(file)
    if suffix in _ARRAYS:
        return _read_arrays(file, key, keys, also, columns.id)
    if suffix == ".h5ad":
        return read_h5ad(file, columns), str(file), {}
    return (read_arrow(file) if suffix in _ARROW else read_csv(file, columns)), str(file), {}


def _read_arrays(
    file: Path, key: str | None, keys: Sequence[str], also: Sequence[str], named: str | None
) -> tuple[Raw, str, dict[str, np.ndarray]]:
    """Read an array; in an NPZ file another array, of words or numbers, may name its rows."""
    held = [] if named is None else stored(file)
    wanted = (*also, str(named)) if named in held else tuple(also)
    matrix, names, ids, more = read_stored(file, key, keys, wanted)
    source, raw = str(file) if key is None else f"{file}:{key}", Raw(_suffix(file)[1:])
    if named in held:
        ids, id_name = _row_names(more.pop(str(named)), len(matrix), str(named), source), str(named)
        raw = raw._replace(id_name=id_name)
    return raw._replace(matrix=np.asarray(matrix), names=names, ids=ids), source, more


def _row_names(found: np.ndarray, n_rows: int, name: str, source: str) -> np.ndarray:
    """Return an array as the names of rows, each of which must be there once."""
    if found.shape != (n_rows,):
        raise ValueError(
            f"`--id` must name an array with one value for each of the {n_rows:,} rows, {name!r} of "
            f"`{source}` has shape {found.shape}. Choose another."
        )
    return _once(text_of(found), name)


def suffix_of(path: str | Path) -> str:
    """Return the suffix of a file, with `.csv.gz` as one."""
    return _suffix(Path(path))


def _suffix(file: Path) -> str:
    last = [suffix.lower() for suffix in file.suffixes[-2:]]
    return "".join(last) if last[-1:] == [".gz"] else "".join(last[-1:])


def check_file(file: Path) -> None:
    """Refuse a path that is no table before it is read."""
    if file.is_dir():
        raise ValueError(f"`{file}` must be a file, it is a folder. Name a file in it.")
    suffix = _suffix(file)
    if suffix in (".xlsx", ".xls", ".ods"):
        raise ValueError(
            f"`{file.name}` must be a table that is read, not a spreadsheet. Save the sheet as CSV."
        )
    if suffix not in (*READABLE, *TEXT, *_ARROW):
        raise ValueError(
            f"`{file.name}` must end in one of {', '.join(READABLE)}. Convert or rename the file."
        )
    if not file.is_file():
        raise ValueError(f"`{file}` must be a file that exists. Check the path.")


def table_of(raw: Raw, columns: Columns, source: str) -> Table:
    """Choose columns; holes are still NaN."""
    if raw.matrix is not None and raw.order is None:
        _check_matrix(raw, source)
    own = raw.named and raw.names is not None
    names = raw.names if raw.names is not None else generated(_width(raw))
    kinds = _kinds(raw, names)
    columns = replace(columns, drop=()) if raw.order is not None else columns  # those were not even read
    told = bool(raw.id_name) and raw.id_name == columns.id  # an index, or another array of the file
    choice = choose(kinds, replace(columns, id=None) if told else columns, source)
    raw = raw._replace(names=names, named=own)
    ids, id_name = (_ids(raw, choice.ids), choice.ids[0]) if choice.ids else (raw.ids, raw.id_name)
    plain_arrow = raw.arrow is not None and raw.origin is None
    return Table(
        _values(raw, choice.features),
        choice.features if own else None,
        {name: _metadata(raw, name) for name in choice.metadata},
        ids,
        _recipe(raw, choice, kinds, columns),
        raw.kind,
        id_name,
        choice.ids if len(choice.ids) > 1 else (),
        origin=raw.origin,
        beside=_stored(raw, choice.metadata) if plain_arrow else None,
    )


def _recipe(raw: Raw, choice: Choice, kinds: dict[str, str], columns: Columns) -> Recipe:
    """Begin to write down what is done."""
    return Recipe(
        choice.features,
        raw.named,
        len(kinds) if raw.order is not None else len(raw.names or ()),
        columns.missing,
        dropped={name: "no number in it" for name in choice.metadata if kinds[name] == EMPTY},
        units={name: raw.units[name] for name in choice.features if name in raw.units},
        notes=choice.notes,
        layer=columns.layer,
        obsm=columns.obsm,
    )


def _width(raw: Raw) -> int:
    return 0 if raw.matrix is None else raw.matrix.shape[1]


def _check_matrix(raw: Raw, source: str) -> None:
    matrix = raw.matrix
    assert matrix is not None
    if matrix.dtype.kind == "O":
        raise ValueError(f"`{source}` must hold real numbers, got objects. Pass numbers, or a data frame.")
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"`{source}` must hold real numbers, got the type {matrix.dtype}.")
    if matrix.ndim != 2 or 0 in matrix.shape:
        grey = ", or give grey images an axis of channels, `X[..., None]`" if matrix.ndim == 3 else ""
        raise ValueError(
            f"`{source}` must have rows and columns, got shape {matrix.shape}. Reshape it to (n, d){grey}."
        )
    if raw.names is not None and len(raw.names) != matrix.shape[1]:
        raise ValueError(
            f"`{source}` must have one name per column, got {len(raw.names)} for {matrix.shape[1]}."
        )
    if raw.names is not None and raw.arrow is not None:
        shared = [name for name in raw.names if name in raw.arrow.column_names]
        if shared:
            raise ValueError(
                f"`{source}` must have different names in obs and var, both have {listed(shared)}. Rename."
            )


def _kinds(raw: Raw, names: tuple[str, ...]) -> dict[str, str]:
    """Say what each column holds, in the source's order; obs of AnnData are never features."""
    beside = {} if raw.arrow is None else kinds_of(raw.arrow.schema)
    if raw.matrix is None:
        return beside
    if raw.origin is not None:
        beside = {name: f"obs ({kind})" for name, kind in beside.items()}
    found = dict.fromkeys(names, NUMBER) | beside
    return found if raw.order is None else {name: found[name] for name in raw.order}


def _values(raw: Raw, chosen: tuple[str, ...]) -> np.ndarray:
    """Return the features as one array, without a copy where the matrix is just that."""
    if raw.matrix is None or not set(chosen) <= set(raw.names or ()):
        return _column_by_column(raw, chosen)
    at = {name: j for j, name in enumerate(raw.names or ())}
    picked = raw.matrix if chosen == raw.names else raw.matrix[:, [at[name] for name in chosen]]
    single = picked.dtype == np.float32
    return np.ascontiguousarray(picked, dtype=np.float32 if single else np.float64)


def _column_by_column(raw: Raw, chosen: tuple[str, ...]) -> np.ndarray:
    if raw.matrix is None:
        return numbers(raw.arrow, chosen)
    return numbers(_stored(raw, chosen), chosen)


def _stored(raw: Raw, names: Sequence[str]) -> Any:
    """Return columns as Arrow's, from where they are."""
    held = set(raw.arrow.column_names)
    at = {name: j for j, name in enumerate(raw.names or ())}
    columns = [
        raw.arrow.column(n) if n in held else pa.array(raw.matrix[:, at[n]], from_pandas=True)  # type: ignore[index]
        for n in names
    ]
    return pa.table(columns, names=list(names))


def _metadata(raw: Raw, name: str) -> np.ndarray:
    if raw.matrix is not None and name in (raw.names or ()):
        return np.array(raw.matrix[:, (raw.names or ()).index(name)])
    held = plain(raw.arrow.column(name))
    return as_numbers(held) if raw.kind.startswith(("csv", "tsv")) else held


def _ids(raw: Raw, names: Sequence[str]) -> np.ndarray:
    """Return the names of the rows, from one column or several; each must be there once."""
    columns = [
        text_of(_metadata(raw, name) if raw.arrow is None else plain(_stored(raw, [name]).column(0)))
        for name in names
    ]
    return _once(columns[0] if len(columns) == 1 else paired(columns), ",".join(names))


def _once(ids: np.ndarray, name: str) -> np.ndarray:
    """Refuse names of rows that repeat."""
    values, counts = np.unique(ids.astype(str), return_counts=True)
    if counts.max(initial=1) > 1:
        often = counts.argmax()
        raise ValueError(
            f"`--id` must name a column that differs in every row, {name!r} holds {str(values[often])!r} "
            f"{counts[often]:,} times. Choose another, several (plate,well), or leave --id out."
        )
    return ids
