"""CSV and TSV files, plain or gzipped, through Arrow; what stands in the first line decides how."""

import csv
import gzip
import io
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from ._choice import listed
from ._csv_faults import MARKERS, check_bytes, fault_of, odd_text
from ._names import names_in
from ._raw import Raw, plain, text_of
from ._table import Columns

_HEAD = 1 << 20
_DELIMITERS = ",\t;"


class Layout(NamedTuple):
    """How a file is written: what separates cells, its first row, and whether that is a header."""

    delimiter: str
    first: list[str]
    header: bool


def read_csv(file: Path, columns: Columns) -> Raw:
    """Read a file whole; a header is a first line in which any cell is text."""
    with opened(file) as stream:
        head = stream.read(_HEAD)
    check_bytes(file, head)
    layout = layout_of(file, head)
    names = _names(layout, file)
    table = _parsed(file, layout, names, columns)
    if not len(table):
        raise ValueError(f"`{file}` must hold rows of numbers, it has only a header. Check the export.")
    meant = [name for name in _meant(names, columns) if name in table.column_names]
    odd_text(file, table, meant, layout.header)
    return _raw(file, layout, table)


def opened(file: Path) -> Any:
    """Open a file, unzipped where it is gzipped, whatever it is called."""
    with file.open("rb") as stream:
        zipped = stream.read(2) == b"\x1f\x8b"
    return gzip.open(file, "rb") if zipped else file.open("rb")


def layout_of(file: Path, head: bytes) -> Layout:
    """Look at the first lines of a file."""
    text = head.decode("utf-8-sig", errors="replace").lstrip("\r\n")
    if not text.strip():
        raise ValueError(f"`{file}` must hold numbers, it is empty. Check the path or the export.")
    line = text.partition("\n")[0]
    tabs = ".tsv" in [suffix.lower() for suffix in file.suffixes]
    delimiter = "\t" if tabs else next((mark for mark in _DELIMITERS if mark in line), ",")
    first = [cell.strip() for cell in next(csv.reader(io.StringIO(text), delimiter=delimiter))]
    return Layout(delimiter, first, any(not _is_number(cell) and cell not in MARKERS for cell in first))


def _names(layout: Layout, file: Path) -> list[str]:
    """Name the columns; the first may lack a name, for it then holds labels of rows."""
    if not layout.header:
        return [f"x{j}" for j in range(len(layout.first))]
    names = list(layout.first)
    empty = [j for j, name in enumerate(names) if not name and j]
    if empty:
        raise ValueError(
            f"`{file}` must have a name for every column but the first, column {empty[0] + 1} has none. "
            "Name it, or remove the delimiter at the end of lines."
        )
    check_names(names, str(file))
    return names


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse names that several columns share."""
    if len(set(names)) == len(names):
        return
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    twice = [name for name, count in seen.items() if count > 1]
    raise ValueError(
        f"`{source}` must have different names for columns, it repeats {listed(twice)}. Rename them."
    )


def _aside(names: Sequence[str], columns: Columns) -> list[str]:
    """Return the columns that are no features whatever they hold: they keep the form they are written in."""
    named = {columns.id, *names_in(columns.labels, names)}
    return [n for n in names if n in named or n == "" or n.startswith(columns.metadata_prefix)]


def _meant(names: Sequence[str], columns: Columns) -> list[str]:
    """Return the columns that could be features."""
    aside = set(_aside(names, columns))
    asked = names_among(names, columns.features) if columns.features else names
    return [n for n in asked if n not in aside]


def names_among(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Return the names that patterns name; a pattern may match none."""
    split = names_in(patterns, names)
    return [name for name in names if _among(name, split)]


def _among(name: str, patterns: Sequence[str]) -> bool:
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def _parsed(file: Path, layout: Layout, names: list[str], columns: Columns) -> pa.Table:
    """Let Arrow read the file; where it can't, look for the fault row by row and say where it is."""
    text = {name: pa.string() for name in _aside(names, columns)}
    gone = set(names_among(names, columns.drop))
    kept = [name for name in names if name not in gone]
    convert = pcsv.ConvertOptions(
        null_values=list(MARKERS), strings_can_be_null=False, column_types=text, include_columns=kept or names
    )
    skip = int(layout.header)
    reading = pcsv.ReadOptions(column_names=names, skip_rows=skip)
    error: Exception | None = None
    for across in (False, True):  # cells with line breaks are rare, and cost time
        parse = pcsv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=across)
        try:
            with opened(file) as stream:
                source = file if isinstance(stream, io.BufferedReader) else stream
                return pcsv.read_csv(source, reading, parse, convert)
        except (pa.ArrowInvalid, pa.ArrowKeyError, OSError, EOFError) as failed:
            error = failed
    raise ValueError(fault_of(file, opened, layout, str(error)))


def _raw(file: Path, layout: Layout, table: pa.Table) -> Raw:
    """Take the labels of rows out, and turn columns of numbers that were kept as text into numbers."""
    kind = "tsv" if layout.delimiter == "\t" else "csv"
    kind += ".gz" if file.suffix.lower() == ".gz" else ""
    for j, column in enumerate(table.columns):
        if pa.types.is_string(column.type):  # what is missing comes back as missing
            blank = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
            table = table.set_column(j, table.column_names[j], blank)
    if not layout.header:
        return Raw(kind, arrow=table, names=None)
    ids = None
    if table.column_names[0] == "" and len(table.column_names) > 1:
        ids = text_of(plain(table.column(0)))
        table = table.remove_column(0)
    return Raw(kind, arrow=table, names=tuple(table.column_names), ids=ids)


def as_numbers(column: np.ndarray) -> np.ndarray:
    """Return text that is numbers as numbers, unless that would lose how it is written (`007`)."""
    text = [cell for cell in column.tolist() if cell is not None and cell not in MARKERS]
    if not text or not all(isinstance(cell, str) and _is_number(cell) for cell in text):
        return column
    if any(_padded(cell) for cell in text):
        return column
    whole = len(text) == len(column) and all(cell.lstrip("+-").isdecimal() for cell in text)
    if whole and all(len(cell) < 18 for cell in text):
        return np.array([int(cell) for cell in column.tolist()])
    return np.array([np.nan if c is None or c in MARKERS else float(c) for c in column.tolist()])


def _padded(cell: str) -> bool:
    digits = cell.lstrip("+-")
    return cell[:1] == "+" or (len(digits) > 1 and digits[0] == "0" and digits[1].isdecimal())


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python's own `1_000`
