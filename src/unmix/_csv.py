"""Tables of numbers in CSV and TSV files, with errors that name the cell."""

import csv
import io
from pathlib import Path

import numpy as np


def read_csv(file: Path) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Return the numbers of a CSV or TSV file and the names of its columns, None without a header."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"`{file}` must be text in UTF-8. Save it again as UTF-8.") from None
    cells = [
        [cell.strip() for cell in row]
        for row in csv.reader(io.StringIO(text), delimiter=_delimiter(file, text))
    ]
    table = [row for row in cells if any(row)]
    if not table:
        raise ValueError(f"`{file}` must hold numbers, it is empty.")
    first, *rest = table
    header = not all(map(_is_number, first))
    rows = rest if header else [first, *rest]
    skip = int(header and first[0] == "" and len(first) > 1)  # row labels
    fault = _first_fault(rows, first, header, skip)
    if fault:
        raise ValueError(f"`{file}` must {fault}")
    return np.array([row[skip:] for row in rows], dtype=float), tuple(first[skip:]) if header else None


def _delimiter(file: Path, text: str) -> str:
    """Return the mark between cells: by the suffix, else the first of `,` tab `;` on the first line."""
    first_line = text.lstrip().partition("\n")[0]
    return (
        "\t" if file.suffix.lower() == ".tsv" else next((mark for mark in ",\t;" if mark in first_line), ",")
    )


def _first_fault(rows: list[list[str]], first: list[str], header: bool, skip: int) -> str | None:
    """Say in words what keeps the cells of a CSV file from being a table of numbers."""
    for number, row in enumerate(rows, start=1):
        if len(row) != len(first):
            return f"have {len(first)} cells in every row, data row {number} has {len(row)}. Mend that row."
        for column, cell in enumerate(row[skip:], start=skip):
            if not _is_number(cell):
                name = repr(first[column]) if header else str(column + 1)
                held = f"the text {cell!r}" if cell else "an empty cell"
                where = f"data row {number}, column {name}"
                return f"hold numbers only, {where} holds {held}. Drop or encode that column, or fill it in."
    return None if rows else "hold rows of numbers, it has only a header."


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
