"""Text that is numbers, and the marks that stand for a missing value."""

import numpy as np

MARKERS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-NaN", "NULL", "null", "None", "<NA>", "na", "NAN")


def as_numbers(column: np.ndarray) -> np.ndarray:
    """Return text that is numbers as numbers, unless that would lose how it is written (`007`).

    >>> as_numbers(np.array(["1", "20"], dtype=object)), as_numbers(np.array(["007"], dtype=object))
    (array([ 1, 20]), array(['007'], dtype=object))
    """
    text = [cell for cell in column.tolist() if cell is not None and cell not in MARKERS]
    if not text or not all(isinstance(cell, str) and is_number(cell) for cell in text):
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


def is_number(cell: str) -> bool:
    """Whether a cell is a number as files write it.

    >>> [is_number(cell) for cell in ("1e-3", "-inf", "1,5", "1_000", "")]
    [True, True, False, False, False]
    """
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python's own `1_000`
