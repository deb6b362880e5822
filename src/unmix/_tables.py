"""Tables in and out of files: CSV, NPY, NPZ and Parquet, with column names, never with pickle.
Safetensors files are read, too.

Everything is checked when it is read (two axes, numbers only, finite), so that the code behind it never
meets a surprise; everything is written to a temporary name first and moved into place when complete.
"""

import csv
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from ._csv import read_csv
from ._files import atomic_path, atomic_write
from .rows import keys_of, read_parquet, read_tensor, write_parquet

SUFFIXES = (".csv", ".tsv", ".npy", ".npz", ".parquet")
_READABLE = (*SUFFIXES, ".safetensors")
_BROKEN = (ValueError, TypeError, AttributeError, EOFError, OSError, MemoryError, zlib.error, BadZipFile)
_NAMES = "_names"  # in an NPZ file `x_names` holds the column names of `x`


class Table(NamedTuple):
    """A matrix of finite numbers and, where the file has them, the names of its columns."""

    values: np.ndarray
    names: tuple[str, ...] | None


def read(path: str | Path, *, keys: Sequence[str] = ("x",)) -> Table:
    r"""Read a table of finite numbers.

    Parameters
    ----------
    path : str or Path
        A CSV, TSV, NPY, NPZ, Parquet or safetensors file. `file.npz:key` picks one array of an NPZ or
        safetensors file.
    keys : sequence of str
        The arrays to look for, in this order, in a file that holds several.

    Returns
    -------
    Table
        `values` of shape (n_samples, n_columns), float32 where the file has float32, else float64.

    Notes
    -----
    A first line of a CSV file with any text in it is a header; a first column whose header is empty
    holds row labels and is left out.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "points.csv"
    >>> _ = path.write_text("a,b\n1,2\n3,4\n")
    >>> read(path).names
    ('a', 'b')
    """
    return read_with(path, keys=keys)[0]


def read_with(
    path: str | Path, *, keys: Sequence[str] = ("x",), also: Sequence[str] = ()
) -> tuple[Table, dict[str, np.ndarray]]:
    """Read a table as `read` does, and from the same NPZ file other arrays, where it has them."""
    values, names, more = _read_any(str(path), keys, also)
    return checked(values, names, source=str(path)), more


def read_array(path: str | Path) -> np.ndarray:
    """Read one array as it is stored, of any shape and type; of a table its numbers."""
    return np.asarray(_read_any(str(path))[0])


def _read_any(
    path: str, keys: Sequence[str] = (), also: Sequence[str] = ()
) -> tuple[Any, tuple[str, ...] | None, dict[str, np.ndarray]]:
    """Read what a file holds, unchecked: values, names of columns, and other arrays of an NPZ file."""
    file, key = _split_key(path)
    suffix = file.suffix.lower()
    if suffix not in _READABLE:
        raise ValueError(
            f"`{file.name}` must end in one of {', '.join(_READABLE)}. Convert or rename the file."
        )
    if not file.is_file():
        raise ValueError(f"`{file}` must be a file that exists. Check the path.")
    if suffix == ".npz":
        return _read_npz(file, key, keys, also)
    if suffix == ".safetensors":
        return read_tensor(file, _pick(keys_of(file), key, keys, str(file))), None, {}
    reader = {".npy": _read_npy, ".parquet": read_parquet}.get(suffix, read_csv)
    return (*reader(file), {})


def stored(path: str | Path) -> tuple[str, ...]:
    """List the arrays of an NPZ file; other files have none by name."""
    file, _ = _split_key(str(path))
    if file.suffix.lower() != ".npz":
        return ()
    with _whole(file), file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        return tuple(archive)


def write(
    path: str | Path, values: np.ndarray, names: Sequence[str] | None = None, *, key: str = "x"
) -> Path:
    """Write a table in the format that the suffix names, atomically; an NPZ file holds it under `key`.

    Examples
    --------
    >>> import tempfile
    >>> path = write(tempfile.mkdtemp() + "/points.csv", np.array([[1.0, 2.5]]), ["a", "b"])
    >>> print(path.read_text().strip())
    a,b
    1.0,2.5
    """
    file = check_writable(path)
    suffix = file.suffix.lower()
    if suffix == ".npz":
        named = {} if names is None else {key + _NAMES: np.array(names, dtype=str)}
        return write_npz(file, {key: values, **named})
    if suffix == ".npy":
        return _save(file, lambda stream: np.save(stream, values, allow_pickle=False))
    columns = list(names) if names is not None else [f"{key}{j}" for j in range(values.shape[1])]
    if suffix == ".parquet":
        return _save(file, lambda stream: write_parquet(stream, values, columns))
    text = io.StringIO()
    rows = csv.writer(text, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
    rows.writerow(columns)
    rows.writerows([repr(float(cell)) for cell in row] for row in values)
    atomic_write(file, text.getvalue())
    return file


def write_npz(path: str | Path, arrays: Mapping[str, np.ndarray]) -> Path:
    """Write several named arrays into one NPZ file, atomically."""
    plain: dict[str, Any] = dict(arrays)
    return _save(check_writable(path, (".npz",)), lambda stream: np.savez_compressed(stream, **plain))


def check_writable(path: str | Path, suffixes: Sequence[str] = SUFFIXES) -> Path:
    """Refuse a path that can't be written before the work starts rather than after it."""
    file = Path(path)
    if file.suffix.lower() not in suffixes:
        raise ValueError(f"`--out` must end in {', '.join(suffixes)}, got {file.name!r}.")
    if file.is_dir():
        raise ValueError(f"`--out` must be a file, got the folder {str(file)!r}. Add a file name.")
    if not file.parent.is_dir():
        raise ValueError(
            f"`--out` must lie in a folder that exists, got {str(file)!r}. Make the folder first."
        )
    return file


def _save(file: Path, save: Any) -> Path:
    with atomic_path(file) as draft, Path(draft).open("wb") as stream:
        save(stream)
    return file


def _split_key(path: str) -> tuple[Path, str | None]:
    """Split `file.npz:key` or `file.safetensors:key` into file and key; every other path stays whole."""
    for suffix in (".npz", ".safetensors"):
        head, mark, key = path.rpartition(suffix + ":")
        if mark:
            return Path(head + suffix), key
    return Path(path), None


def _read_npy(file: Path) -> tuple[Any, None]:
    try:
        return np.load(file, allow_pickle=False), None
    except (ValueError, EOFError, OSError, MemoryError) as error:
        raise ValueError(f"`{file}` must be a whole NPY file without pickled objects. ({error})") from None


def _read_npz(
    file: Path, key: str | None, keys: Sequence[str], also: Sequence[str]
) -> tuple[Any, tuple[str, ...] | None, dict[str, np.ndarray]]:
    with ExitStack() as stack:
        with _whole(file):
            stream = stack.enter_context(file.open("rb"))
            archive = stack.enter_context(np.load(stream, allow_pickle=False))
            stored = list(archive)
        name = _pick(stored, key, keys, str(file))
        with _whole(file):
            names = archive.get(name + _NAMES)
            more = {other: archive[other] for other in also if other in stored}
            return archive[name], None if names is None else tuple(map(str, names)), more


@contextmanager
def _whole(file: Path) -> Iterator[None]:
    """Say which NPZ file is broken, however that shows."""
    try:
        yield
    except _BROKEN as error:
        raise ValueError(f"`{file}` must be a whole NPZ file without pickled objects. ({error})") from None


def _pick(stored: list[str], key: str | None, keys: Sequence[str], source: str) -> str:
    """Choose one array of a file, or say which there are."""
    arrays = [name for name in stored if not name.endswith(_NAMES)]
    if key is not None and key not in arrays:
        raise ValueError(f"`{source}` must hold an array {key!r}, it holds {', '.join(arrays) or 'none'}.")
    if key is not None:
        return key
    wanted = [name for name in keys if name in arrays] or (arrays if len(arrays) == 1 else [])
    if not wanted:
        called = f" or one called {' or '.join(keys)}" if keys else ""
        raise ValueError(
            f"`{source}` must hold one array{called}, it holds {', '.join(arrays) or 'none'}. "
            f"Pick one as `{Path(source).name}:name`."
        )
    return wanted[0]


def checked(values: Any, names: tuple[str, ...] | None = None, *, source: str) -> Table:
    """Return the table when it is a finite real matrix with at least one row and column."""
    if values.dtype.kind not in "fiub":
        raise ValueError(f"`{source}` must hold real numbers, got the type {values.dtype}.")
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(
            f"`{source}` must have rows and columns, got shape {values.shape}. Reshape it to (n, d)."
        )
    if names is not None and len(names) != values.shape[1]:
        raise ValueError(f"`{source}` must have one name per column, got {len(names)} for {values.shape[1]}.")
    values = np.ascontiguousarray(values, dtype=values.dtype if values.dtype == np.float32 else np.float64)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        where = f"row {row + 1}, column {names[column]!r}" if names else f"row {row + 1}, column {column + 1}"
        raise ValueError(
            f"`{source}` must be finite, {where} holds {values[row, column]}. Drop or fill such rows."
        )
    return Table(values, names)
