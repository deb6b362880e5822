"""What is wrong with a CSV file, in words: looked for only after Arrow has refused it, or found odd text."""

import csv
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ._numbers import MARKERS, is_number

_EXCEL = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_COMMA = re.compile(r"\s*[+-]?\d{1,}(\.\d{3})*,\d+([eE][+-]?\d+)?\s*$")
_LOOKED_AT = 10_000  # cells of a column that tell whether it was meant to be numbers


def check_bytes(file: Path, head: bytes) -> None:
    """Refuse what is no text in UTF-8 by its first bytes."""
    if head.startswith(_EXCEL):
        raise ValueError(
            f"`{file}` must be a text file, it is an Excel workbook by another name. Save the sheet as CSV."
        )
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or head[:200].count(b"\x00") > 2:
        raise ValueError(f"`{file}` must be text in UTF-8, it looks like UTF-16. Save it again as CSV UTF-8.")
    try:
        head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:  # else a character was cut at the end of what was looked at
            raise ValueError(
                f"`{file}` must be text in UTF-8, byte {error.start + 1} is not (perhaps `µ` or `é` of a "
                "Windows encoding). Save it again as CSV UTF-8."
            ) from None


def check_first_line(file: Path, first: Sequence[str], words: Sequence[str]) -> None:
    """Refuse a first line that could be names or numbers: taken for a header, a row would be lost.

    Names that are numbers (0, 1, 2; 400.5, 401.0; years) rise or fall, behind words or among as many of them.
    """
    cells = [cell.replace(",", ".") for cell in first if cell not in MARKERS]
    numbers = [float(cell) for cell in cells if is_number(cell)]
    steps = np.sign(np.diff(numbers))
    ordered = bool((steps == 1).all() or (len(steps) > 1 and (steps == -1).all()))
    named = first[: len(words)] == words or 2 * len(words) >= len(first)
    marks = [word for word in words if not any(letter.isalnum() for letter in word)]
    if numbers and words and (marks or not (ordered and named)):
        raise ValueError(
            f"`{file}` must have names or numbers in its first line, it has both: {(marks or words)[0]!r} "
            f"and {numbers[0]:g}. Leave missing values empty, or name every column with a word."
        )


def fault_of(file: Path, opened: Callable[[Path], Any], layout: Any, error: str) -> str:
    """Say which row keeps a file from being a table; `error` is what Arrow said."""
    expected = len(layout.first)
    try:
        with opened(file) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
            rows = csv.reader(text, delimiter=layout.delimiter)
            filled = (row for row in rows if any(cell.strip() for cell in row))
            for number, row in enumerate(filled, start=1 - int(layout.header)):
                if len(row) != expected:
                    return _ragged(file, layout, number, row)
    except UnicodeDecodeError:
        return f"`{file}` must be text in UTF-8. Save it again as CSV UTF-8."
    except (OSError, EOFError, csv.Error) as broken:
        return f"`{file}` must be a whole file. ({broken})"
    return f"`{file}` must be a table of cells. ({' '.join(error.split())[:200]})"


def _ragged(file: Path, layout: Any, number: int, row: list[str]) -> str:
    expected = len(layout.first)
    where = f"data row {number} has {len(row)}"
    if layout.delimiter == "," and len(row) == 2 * expected and all(c.strip("+- ").isdecimal() for c in row):
        hint = "Are these decimal commas? Then save numbers with a point."
    elif expected == 1:
        hint = "What separates the cells? Use commas, tabs or semicolons, the same in all lines."
    else:
        hint = "Mend that row."
    return f"`{file}` must have {expected} cells in every row, {where}. {hint}"


def odd_text(file: Path, table: pa.Table, meant: Sequence[str], header: Sequence[str]) -> None:
    """Refuse columns of text that were meant to be numbers: decimal commas, or a word among numbers."""
    asked = set(meant)
    for name in table.column_names:
        column = table.column(name)
        if name not in asked or not pa.types.is_string(column.type):
            continue
        cells = column.slice(0, _LOOKED_AT).to_pylist()
        filled = [cell for cell in cells if cell.strip() not in MARKERS]
        shown = repr(name) if header else str(int(name[1:]) + 1)
        _check_commas(file, shown, filled)
        _check_words(file, shown, cells, filled)
    if len(header) == 1 == table.num_columns:
        _check_delimiter(file, table)


def _check_commas(file: Path, shown: str, filled: list[str]) -> None:
    commas = [cell for cell in filled if _COMMA.match(cell)]
    if len(commas) * 2 > len(filled):
        raise ValueError(
            f"`{file}` must write numbers with a decimal point, column {shown} holds {commas[0].strip()!r}. "
            "Replace decimal commas by points when you save it."
        )


def _check_words(file: Path, shown: str, cells: list[str], filled: list[str]) -> None:
    """Refuse a word among numbers, and numbers or marks that spaces or signs turn into text."""
    words = [cell for cell in filled if not is_number(cell)]
    if not filled or 2 * len(words) > len(filled):
        return
    spaced = [cell for cell in cells if cell.strip() in MARKERS and cell not in MARKERS]
    odd = (words or spaced or filled)[0]
    raise ValueError(
        f"`{file}` must hold numbers only in a column of numbers, data row {cells.index(odd) + 1}, column "
        f"{shown} holds the text {odd!r}. Mend the cell or leave it empty; or leave the column out with "
        "--drop, or name it with --id."
    )


def _check_delimiter(file: Path, table: pa.Table) -> None:
    """Refuse one column of text whose cells would be several with another mark between them."""
    if not pa.types.is_string(table.schema.field(0).type):
        return
    first = str(table.column(0)[0])
    for mark, word in (("|", "'|'"), (" ", "spaces"), (":", "colons")):
        if len(first.split(mark)) > 1 and np.mean([is_number(part) for part in first.split(mark)]) >= 0.5:
            raise ValueError(
                f"`{file}` must have commas, tabs or semicolons between cells, it seems to have {word}. "
                "Save it with commas."
            )
