"""Structures as files: CSV for people, NPY for arrays, JSON for everything else."""

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from unmix._files import atomic_path, atomic_write
from unmix._untrusted import read_json, read_npy, whole

_WORDS = {"true": 1.0, "false": 0.0}


def load(path: str | os.PathLike[str]) -> tuple[Any, float | None]:
    """Return the support in a file, not yet checked for being binary, and its margin if there is one."""
    reader = {".csv": _load_csv, ".npy": _load_npy, ".json": _load_json}[_suffix(path)]
    return reader(Path(path))


def save(path: str | os.PathLike[str], support: np.ndarray, margin: float | None) -> Path:
    """Write a support (and, in JSON, its margin) atomically."""
    entries, suffix = support.astype(np.uint8), _suffix(path)
    if suffix == ".npy":
        with atomic_path(path) as temporary:
            np.save(temporary, entries, allow_pickle=False)
        return Path(path)
    if suffix == ".csv":
        return atomic_write(path, "".join(",".join(map(str, row)) + "\n" for row in entries.tolist()))
    # JSON knows no infinity: `str` keeps it readable, and `float` reads it back
    document = {"support": entries.tolist(), "margin": None if margin is None else str(margin)}
    return atomic_write(path, json.dumps(document) + "\n")


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in {".csv", ".npy", ".json"}:
        raise ValueError(
            f"`path` must end in .csv, .npy or .json, got {str(path)!r}. Rename or convert the file."
        )
    return suffix


def _load_npy(path: Path) -> tuple[Any, None]:
    return read_npy(path), None


def _load_json(path: Path) -> tuple[Any, float | None]:
    document = read_json(path)
    if isinstance(document, list):
        return document, None
    if not isinstance(document, dict) or "support" not in document:
        raise ValueError(f"`path` must hold a list of rows or a `support` key, got neither in {path.name!r}.")
    return document["support"], _margin(document.get("margin"), path)


def _margin(value: Any, path: Path) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"`margin` must be a number, got {value!r} in {path.name!r}.") from error


def _load_csv(path: Path) -> tuple[np.ndarray, None]:
    with whole(path, "text file of cells in UTF-8"):
        text = path.read_text(encoding="utf-8-sig")
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if row]
    if not rows:
        raise ValueError(f"`path` must hold at least one row, got {path.name!r} without any.")
    _check_lengths(rows, path)
    rows, labelled = _without_header(rows)
    if not rows:
        raise ValueError(f"`path` must hold rows of 0 and 1, got only a header in {path.name!r}.")
    labelled = labelled or all(_number(row[0]) is None and row[0] for row in rows)
    return np.array([_numbers(row[labelled:], path) for row in rows]), None


def _check_lengths(rows: list[list[str]], path: Path) -> None:
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"`path` must hold rows of equal length, got {len(row)} cells in row {number} and "
                f"{len(rows[0])} in row 1 of {path.name!r}. The file may be cut off."
            )


def _without_header(rows: list[list[str]]) -> tuple[list[list[str]], bool]:
    """Drop a header: names only, or counted columns under an empty corner, the mark of row labels."""
    corner, *rest = rows[0]
    named = all(cell and _number(cell) is None for cell in rest or [corner])
    counted = corner == "" and rest == [str(j) for j in range(len(rest))]
    return (rows[1:], corner == "") if named or counted else (rows, False)


def _numbers(row: list[str], path: Path) -> list[float]:
    numbers = [_number(cell) for cell in row]
    if None in numbers:
        cell = row[numbers.index(None)]
        raise ValueError(f"`path` must hold only 0 and 1, got {cell!r} in {path.name!r}.")
    return [number for number in numbers if number is not None]


def _number(cell: str) -> float | None:
    try:
        return _WORDS[cell.lower()] if cell.lower() in _WORDS else float(cell)
    except ValueError:
        return None
