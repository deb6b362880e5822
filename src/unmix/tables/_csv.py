"""CSV and TSV files, plain or gzipped, through Arrow; what stands in the first line decides how."""

import csv
import gzip
import io
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from unmix._untrusted import check_names, require_plausible_so_far, whole

from ._choice import NUMBER, ids_in, matched
from ._csv_faults import check_bytes, check_first_line, fault_of, odd_text
from ._names import names_in
from ._numbers import MARKERS, is_number
from ._raw import Raw, kinds_of, numbers, plain, text_of
from ._table import Columns

_HEAD = 1 << 20
_PIECE, _WIDE, _WIDE_PIECE = 1 << 21, 1000, 1 << 23  # bytes, columns, and bytes where there are as many
_WORKERS = 16  # at most: each has a piece
_TOGETHER = 20_000  # columns that Arrow is asked for at a time: each takes ten kilobytes while it is read
_LINE = 1 << 26  # bytes of a line
_DELIMITERS = ",\t;"


class Layout(NamedTuple):
    """How a file is written: what separates cells, its first row, if that is a header, and blank lines."""

    delimiter: str
    first: list[str]
    header: bool
    blank: int = 0


def read_csv(file: Path, columns: Columns) -> Raw:
    """Read a file whole; a header is a first line in which any cell is text."""
    head = _head(file)
    check_bytes(file, head)
    layout = layout_of(file, head)
    names = _names(layout, file)
    matched(names, columns.drop, "--drop", str(file))
    parts = _parsed(file, layout, names, columns)
    if not len(parts.rest) and not len(parts.values):
        raise ValueError(f"`{file}` must hold rows of numbers, it has only a header. Check the export.")
    odd_text(file, parts.rest, _meant(names, columns), names if layout.header else ())
    return _raw(file, layout, parts, names)


def _head(file: Path) -> bytes:
    with whole(file, "file; copy or download it again"), opened(file) as stream:
        return stream.read(_HEAD)


def opened(file: Path) -> Any:
    """Open a file, unzipped where it is gzipped, whatever it is called."""
    return gzip.open(file, "rb") if _zipped(file) else file.open("rb")


def _zipped(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def layout_of(file: Path, head: bytes) -> Layout:
    """Look at the first lines of a file."""
    decoded = head.decode("utf-8-sig", errors="replace")
    text = decoded.lstrip("\r\n")
    if not text.strip():
        raise ValueError(f"`{file}` must hold numbers, it is empty. Check the path or the export.")
    line = text.partition("\n")[0]
    tabs = ".tsv" in [suffix.lower() for suffix in file.suffixes]
    delimiter = "\t" if tabs else _delimiter(line)
    with whole(file, "CSV file"):
        first = [cell.strip() for cell in next(csv.reader(io.StringIO(text), delimiter=delimiter))]
    words = [cell for cell in first if cell not in MARKERS and not is_number(cell.replace(",", "."))]
    check_first_line(file, first, words)
    counted = first[0] == "" and first[1:] == [str(j) for j in range(len(first) - 1)]  # as pandas writes
    header = bool(words) or (counted and len(first) > 1)
    blank = len(decoded) - len(text)
    return Layout(delimiter, first, header, decoded.count("\n", 0, blank))


def _delimiter(line: str) -> str:
    """Return the mark that the first line has most of; beside semicolons a comma may be that of a number."""
    plain = re.sub(r'"[^"]*"', "", line)
    plain = re.sub(r"(?<=\d),(?=\d)", "", plain) if ";" in plain else plain
    return max(_DELIMITERS, key=plain.count)


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


def _aside(names: Sequence[str], columns: Columns) -> list[str]:
    """Return the columns that are no features whatever they hold: they keep the form they are written in."""
    named = {"", *ids_in(columns, names), *names_in(columns.labels, names)}
    asked = names_in(columns.features, names)
    return [n for n in names if n in named or (n.startswith(columns.metadata_prefix) and n not in asked)]


def _meant(names: Sequence[str], columns: Columns) -> list[str]:
    """Return the columns that could be features."""
    aside = set(_aside(names, columns))
    asked = names_among(names, columns.features) if columns.features else names
    return [n for n in asked if n not in aside]


def names_among(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Return the names that patterns name; a pattern may match none."""
    split = names_in(patterns, names)
    exact, there = set(split), set(names)
    globs = [pattern for pattern in split if pattern not in there]
    return [name for name in names if name in exact or any(fnmatchcase(name, glob) for glob in globs)]


class Parts(NamedTuple):
    """A table in two: its numbers as one array, and the columns that are none."""

    names: tuple[str, ...]
    values: np.ndarray
    rest: pa.Table


def _parsed(file: Path, layout: Layout, names: list[str], columns: Columns) -> Parts:
    """Let Arrow read the file; where it can't, look for the fault row by row and say where it is."""
    gone = set(names_among(names, columns.drop))
    text = {name: pa.string() for name in _aside(names, columns)}
    settings = {
        "null_values": list(MARKERS),
        "strings_can_be_null": False,
        "include_columns": [name for name in names if name not in gone] or names,
    }
    ways = (partial(_in_pieces, file=file), partial(_at_once, across=False), partial(_at_once, across=True))
    error: Exception | None = None
    for way in ways:  # a later column of another type, or a line break in a cell, takes the slower ones
        try:
            with file.open("rb") as packed:
                stream = _Counted(packed, file) if _zipped(file) else pa.PythonFile(packed, "r")
                return _joined(list(way(stream, layout, names, settings, text)))
        except (pa.ArrowInvalid, pa.ArrowKeyError, OSError, EOFError) as failed:
            error = failed
    raise ValueError(fault_of(file, opened, layout, str(error)))


class _Counted:
    """A stream that is unpacked while it is read, and refused once it has become far larger than it was."""

    closed = False

    def __init__(self, packed: Any, file: Path) -> None:
        self.packed, self.file, self.n_bytes = packed, file, 0
        self.stream = pa.CompressedInputStream(pa.PythonFile(packed, "r"), "gzip")

    def read(self, size: int) -> bytes:
        block = self.stream.read(size)
        self.n_bytes += len(block)
        require_plausible_so_far(self.file, self.packed.tell(), self.n_bytes)
        return block


def _split(table: pa.Table) -> Parts:
    """Turn numbers into rows at once, so that Arrow's columns can be forgotten."""
    kinds = kinds_of(table.schema)
    chosen = tuple(name for name, kind in kinds.items() if kind == NUMBER)
    rest = [name for name, kind in kinds.items() if kind != NUMBER]  # dropping one by one takes too long
    return Parts(chosen, numbers(table, chosen), table.select(rest))


def _joined(parts: list[Parts]) -> Parts:
    """Join the pieces of a table from the last to the first: so memory that is freed goes back at once."""
    names, rest = parts[0].names, pa.concat_tables([part.rest for part in parts])
    blocks = [part.values for part in parts]
    parts.clear()
    if len(blocks) == 1:
        return Parts(names, blocks[0], rest)
    values = np.empty((sum(map(len, blocks)), len(names)))
    end = len(values)
    while blocks:
        block = blocks.pop()
        values[end - len(block) : end] = block
        end -= len(block)
    return Parts(names, values, rest)


def _at_once(
    stream: Any, layout: Layout, names: list[str], settings: dict[str, Any], types: Any, across: bool = False
) -> Iterator[Parts]:
    """Read all that a stream holds; cells may hold line breaks, which costs time."""
    yield _split(_arrow(stream, layout, names, settings, types, across=across))


def _arrow(
    stream: Any, layout: Layout, names: list[str], settings: dict[str, Any], types: Any, **how: Any
) -> pa.Table:
    """Let Arrow read a stream: at once, or where there are very many columns some of them after others."""
    wanted = settings["include_columns"]
    if len(wanted) <= _TOGETHER:
        return _some(stream, layout, names, settings, types, **how)
    held = b"".join(iter(lambda: stream.read(_PIECE), b""))
    tables, how = [], {"block_size": max(_PIECE, len(held))} | how
    for start in range(0, len(wanted), _TOGETHER):
        few = wanted[start : start + _TOGETHER]
        known = {name: types[name] for name in few if name in types}
        chosen = settings | {"include_columns": few}
        tables.append(_some(pa.BufferReader(held), layout, names, chosen, known, **how))
    return pa.table([column for table in tables for column in table.columns], names=wanted)


def _some(
    stream: Any,
    layout: Layout,
    names: list[str],
    settings: dict[str, Any],
    types: Any,
    *,
    across: bool = False,
    **reading: Any,
) -> pa.Table:
    alone = len(names) == 1  # a row whose one cell is missing is a blank line
    skipped = layout.blank + layout.header
    reading = {"use_threads": False} | reading  # one of Arrow's would let go of a stream while Python ends
    return pcsv.read_csv(
        stream,
        pcsv.ReadOptions(column_names=names, skip_rows=skipped, **reading),
        pcsv.ParseOptions(
            delimiter=layout.delimiter, newlines_in_values=across, ignore_empty_lines=not alone
        ),
        pcsv.ConvertOptions(column_types=types, **settings),
    )


def _in_pieces(
    stream: Any, layout: Layout, names: list[str], settings: dict[str, Any], types: Any, file: Path
) -> Iterator[Parts]:
    """Read piece by piece, for Arrow by itself would hold all the text; the first piece tells the types."""
    size = _WIDE_PIECE if len(names) > _WIDE else _PIECE
    pieces = _pieces(stream, file, size, blanks=len(names) == 1)
    part = _arrow(pa.BufferReader(next(pieces)), layout, names, settings, types)
    part = part.cast(_wider(part.schema))
    known, further = {field.name: field.type for field in part.schema}, layout._replace(header=False, blank=0)
    yield _split(part)

    def parsed(piece: bytes) -> Parts:
        size = max(_PIECE, len(piece))
        return _split(_arrow(pa.BufferReader(piece), further, names, settings, known, block_size=size))

    yield from _side_by_side(parsed, pieces)


def _side_by_side(parsed: Callable[[bytes], Parts], pieces: Iterator[bytes]) -> Iterator[Parts]:
    """Parse pieces on all processors, in order, with one piece for each in memory."""
    n_workers = max(1, min(_WORKERS, pa.cpu_count()))
    waiting: deque[Future[Parts]] = deque()
    with ThreadPoolExecutor(n_workers) as pool:
        for piece in pieces:
            waiting.append(pool.submit(parsed, piece))
            if len(waiting) > n_workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _wider(schema: pa.Schema) -> pa.Schema:
    """Take whole numbers for numbers: what comes later may have a point."""
    whole = [pa.types.is_integer(field.type) for field in schema]
    return pa.schema([f.with_type(pa.float64()) if w else f for f, w in zip(schema, whole, strict=True)])


def _pieces(stream: Any, file: Path, size: int, *, blanks: bool) -> Iterator[bytes]:
    """Cut a stream after line breaks; pieces have no half of a quoted cell, and a last line is no piece.

    Where blank lines are rows, those between others are kept, and those at the end are none.
    """
    last = rest = b""
    while block := stream.read(size):
        held = rest + block
        cut = held.rfind(b"\n") + 1
        if held.count(b'"', 0, cut) % 2:
            raise pa.ArrowInvalid("a quoted cell may hold a line break")
        piece, rest = held[:cut], held[cut:]
        if piece and not piece.isspace():
            if last:
                yield last
            last = piece
        elif blanks:
            last += piece
        if len(rest) > _LINE:
            raise ValueError(f"`{file}` must have shorter lines, one has {len(rest):,} bytes without an end.")
    yield (last + rest if rest.strip() else last).rstrip(b"\r\n") + b"\n"


def _without_blanks(column: Any) -> Any:
    """Mark missing text as missing."""
    if not pa.types.is_string(column.type):
        return column
    some = pc.binary_length(column).cast(pa.bool_())  # a comparison with "" would import pandas
    return pc.if_else(some, column, pa.nulls(1, pa.string())[0])


def _raw(file: Path, layout: Layout, parts: Parts, names: list[str]) -> Raw:
    """Take the labels of rows out of the table."""
    kind = "tsv" if layout.delimiter == "\t" else "csv"
    kind += ".gz" if file.suffix.lower() == ".gz" else ""
    rest, ids = parts.rest, None
    rest = pa.table([_without_blanks(column) for column in rest.columns], names=rest.column_names)
    if "" in rest.column_names and len(names) > 1:
        ids = text_of(plain(rest.column("")))
        rest = rest.drop_columns([""])
    held = {*parts.names, *rest.column_names}
    order = tuple(name for name in names if name in held)
    return Raw(kind, rest, parts.values, parts.names, order, layout.header, ids)
