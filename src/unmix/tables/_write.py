"""Tables out: ids and metadata first, then the new columns, in the format that the suffix names."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from unmix._files import atomic_path

from ._arrays import IDS, NAMES
from ._choice import EMPTY, FLAG, NUMBER
from ._raw import as_text, kinds_of
from ._read import suffix_of
from ._table import Table

WRITABLE = (
    *(".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".feather", ".h5ad"),
    *(".npy", ".npz", ".safetensors"),
)


def write(
    path: str | Path,
    values: np.ndarray,
    names: Sequence[str] | None = None,
    *,
    like: Table | None = None,
    key: str = "x",
    cells: Mapping[str, Any] | None = None,
) -> Path:
    """Write columns beside the ids and metadata of the table that they belong to, atomically.

    Parameters
    ----------
    path : str or Path
        Its suffix names the format: CSV or TSV (also gzipped), Parquet, Feather, H5AD, NPY, NPZ or
        safetensors. NPY and safetensors hold the numbers alone, NPZ also names and ids.
    values : array of shape (n_rows, n_columns)
    names : sequence of str, optional
        Of the columns; without names `x0`, `x1`, ..., after `key`.
    like : Table, optional
        The table that the rows belong to, row by row.
    key : str
        What an NPZ or safetensors file calls the array.
    cells : mapping, optional
        Of an H5AD file: `obsm`, `varm` and `uns`, each a mapping, to put in besides the values; `key`, what
        obsm is to call these, if not `X_unmix`; `features`, the variables that rows of `varm` belong to, if
        not all of the file.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> table = Table(np.eye(1), None, {"well": np.array(["A01"], dtype=object)})
    >>> path = write(tempfile.mkdtemp() + "/latents.csv", np.array([[1.0, 2.5]]), ["z0", "z1"], like=table)
    >>> print(path.read_text().strip())
    well,z0,z1
    A01,1,2.5
    """
    file, suffix = check_writable(path), suffix_of(path)
    columns = list(names) if names is not None else [f"{key}{j}" for j in range(values.shape[1])]
    if suffix == ".npz":
        named = {} if names is None else {key + NAMES: np.array(columns, dtype=str)}
        known = {} if like is None or like.ids is None else {key + IDS: like.ids.astype(str)}
        return write_npz(file, {key: values, **named, **known})
    if suffix == ".npy":
        return _save(file, lambda stream: np.save(stream, values, allow_pickle=False))
    if suffix == ".safetensors":
        from safetensors.numpy import save

        return _save(file, lambda stream: stream.write(save({key: np.ascontiguousarray(values)})))
    if suffix == ".h5ad":
        from ._cells import write_cells

        return write_cells(file, values, columns, like, cells or {})
    table = joined(values, columns, like)
    return _save(file, lambda stream: _write_arrow(stream, table, suffix))


def write_npz(path: str | Path, arrays: Mapping[str, np.ndarray]) -> Path:
    """Write several named arrays into one NPZ file, atomically."""
    plain: dict[str, Any] = dict(arrays)
    return _save(check_writable(path, (".npz",)), lambda stream: np.savez_compressed(stream, **plain))


def check_writable(path: str | Path, suffixes: Sequence[str] = WRITABLE) -> Path:
    """Refuse a path that can't be written before the work starts rather than after it."""
    file = Path(path)
    if suffix_of(file) not in suffixes:
        raise ValueError(f"`--out` must end in {', '.join(suffixes)}, got {file.name!r}.")
    if file.is_dir():
        raise ValueError(f"`--out` must be a file, got the folder {str(file)!r}. Add a file name.")
    if not file.parent.is_dir():
        raise ValueError(
            f"`--out` must lie in a folder that exists, got {str(file)!r}. Make the folder first."
        )
    return file


def joined(values: np.ndarray, names: Sequence[str], like: Table | None) -> pa.Table:
    """Put ids and metadata before the columns; a name that is taken gets a `_` behind it."""
    before: dict[str, Any] = {}
    if like is not None and like.ids is not None and not like.ids_from:
        before[_free(like.id_name or "id", like.metadata)] = pa.array(like.ids.tolist(), pa.string())
    if like is not None and like.beside is not None:
        before |= dict(zip(like.beside.column_names, like.beside.columns, strict=True))
    elif like is not None:
        before |= {name: _arrow(column) for name, column in like.metadata.items()}
    columns = np.ascontiguousarray(values.T)  # thousands of strided columns take longer than one copy
    holes = columns.dtype.kind == "f" and bool(np.isnan(columns).any())
    new = {_free(n, before): pa.array(c, from_pandas=holes) for n, c in zip(names, columns, strict=True)}
    return pa.table(before | new)


def _free(name: str, taken: Any) -> str:
    while name in taken:
        name += "_"
    return name


def _arrow(column: np.ndarray) -> pa.Array:
    if column.dtype.kind == "O":
        return pa.array([None if v is None else str(v) for v in column.tolist()], pa.string())
    return pa.array(column, from_pandas=column.dtype.kind == "f")


def csv_ready(table: pa.Table) -> pa.Table:
    """Write dates, categories and the like as text."""
    texts = {n for n, kind in kinds_of(table.schema).items() if kind not in (NUMBER, FLAG, EMPTY)}
    columns = [
        as_text(c) if n in texts else c for n, c in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


def _write_arrow(stream: Any, table: pa.Table, suffix: str) -> None:
    if suffix == ".parquet":
        pa.parquet.write_table(table, stream)
    elif suffix == ".feather":
        pa.feather.write_feather(table, stream)
    else:
        with csv_stream(stream, suffix) as text:
            table = csv_ready(table)
            text.write(csv_header(table.column_names, suffix))
            pa.csv.write_csv(table, text, csv_options(table, suffix))


def csv_stream(stream: Any, suffix: str) -> Any:
    """Return a stream of text cells, zipped where the suffix says so."""
    return pa.CompressedOutputStream(stream, "gzip") if suffix.endswith(".gz") else pa.PythonFile(stream, "w")


def csv_header(names: Sequence[str], suffix: str) -> bytes:
    """Write the first line, with quotes only where they are needed."""
    import csv
    import io

    text = io.StringIO()
    csv.writer(text, delimiter=csv_mark(suffix), lineterminator="\n").writerow(names)
    return text.getvalue().encode()


def csv_mark(suffix: str) -> str:
    """Return what separates cells."""
    return "\t" if suffix.startswith(".tsv") else ","


def csv_options(table: Any, suffix: str) -> Any:
    """Write cells without a header, and with quotes only where a text could be taken for several."""
    texts = [column for column in table.columns if pa.types.is_string(column.type)]
    special = any(pc.any(pc.match_substring_regex(column, '[,;\t"\r\n]')).as_py() for column in texts)
    style = "needed" if special else "none"
    return pa.csv.WriteOptions(include_header=False, delimiter=csv_mark(suffix), quoting_style=style)


def _save(file: Path, save: Any) -> Path:
    with atomic_path(file) as draft, Path(draft).open("wb") as stream:
        save(stream)
    return file
