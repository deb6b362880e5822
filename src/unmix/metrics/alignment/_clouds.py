"""Two tables of the same rows, in memory or in files, read in blocks: checked once, centred, condensed."""

import os
from typing import Any, NamedTuple

import numpy as np

from ...rows import Rows, array_rows, changed, file_rows
from .._checks import _RANGE, _in_range, is_constant, table

ENTRIES = 2**22  # numbers of both tables that are read at a time


class Cloud(NamedTuple):
    """A table of finite numbers in double precision, and the least and largest entry of each column."""

    rows: Rows
    ends: np.ndarray  # (2, n_columns)


def clouds(z1: Any, z2: Any) -> tuple[Rows, Rows]:
    """Open two runs of the same inputs, or say what is wrong with one."""
    runs = [_opened(z, name) for z, name in ((z1, "z1"), (z2, "z2"))]
    if runs[0].n_rows != runs[1].n_rows:
        raise ValueError(
            f"`z2` must have as many rows as `z1`, got {runs[1].n_rows} and {runs[0].n_rows}. "
            "Row i of both must come from the same input."
        )
    if runs[0].n_rows < 3:
        raise ValueError(f"`z1` must have at least 3 rows, got {runs[0].n_rows}. Use more samples.")
    block = max(1, ENTRIES // sum(run.n_features for run in runs))
    checked = [
        _checked(run._replace(block=block), name) for run, name in zip(runs, ("z1", "z2"), strict=True)
    ]
    for cloud, name in zip(checked, ("z1", "z2"), strict=True):
        if is_constant(cloud.ends).all():
            n_rows = cloud.rows.n_rows
            raise ValueError(f"`{name}` must vary, got the same row {n_rows} times. Check the run.")
    return checked[0].rows, checked[1].rows


def _opened(z: Any, name: str) -> Rows:
    """Return a run as rows: a path is left where it is, and so is an array that is long."""
    if isinstance(z, Rows):
        return z
    if isinstance(z, str | os.PathLike):
        return file_rows(z, lambda n_columns: max(1, ENTRIES // n_columns))
    shape = np.shape(z)
    if len(shape) != 2 or np.prod(shape) <= ENTRIES or np.ma.is_masked(z):
        whole = table(z, name)
        return array_rows(whole, len(whole))
    values = np.asarray(z)
    table(values[:1], name)  # refuses what holds no numbers
    return array_rows(values, len(values))


def _checked(rows: Rows, name: str) -> Cloud:
    """Read a run once: refuse what is not finite, and bring columns of extreme units into range."""
    low, high = np.full(rows.n_features, np.inf), np.full(rows.n_features, -np.inf)
    for number, block in enumerate(rows.blocks()):
        values = np.asarray(block)
        _check_finite(values, name, number * rows.block)
        low, high = np.minimum(low, values.min(0)), np.maximum(high, values.max(0))
    ends = np.array([low, high], dtype=np.float64)
    largest = np.abs(ends).max(0)
    outside = (largest > 0) & ((largest < _RANGE[0]) | (largest > _RANGE[1]))
    power = np.where(outside, -np.frexp(largest)[1], 0)
    scaled = changed(rows, lambda block: np.ldexp(block.astype(np.float64), power))
    plain = changed(rows, lambda block: block.astype(np.float64, copy=False))
    made = (scaled if outside.any() else plain)._replace(dtype=np.dtype(np.float64))
    return Cloud(made, _in_range(ends, name))


def _check_finite(values: np.ndarray, name: str, start: int) -> None:
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0].tolist()
        raise ValueError(
            f"`{name}` must be finite, got {values[row, column]} in row {start + row}, column {column}. "
            "Drop or impute such rows first."
        )


def mean_of(rows: Rows) -> np.ndarray:
    """Return the mean of each column."""
    return np.asarray(sum(block.sum(0) for block in rows.blocks()) / rows.n_rows)


def centred(rows: Rows, mean: np.ndarray) -> Rows:
    """Return rows about a mean; those of one block are kept in memory."""
    made = changed(rows, lambda block: block - mean)
    if rows.n_rows > rows.block:
        return made
    return array_rows(made.take(0, rows.n_rows), rows.n_rows)._replace(block=rows.block)


def condensed(a: Rows, b: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return two tables of few rows with the same sums of squares and products: R of (a b) = Q R.

    Tables of one block are returned as they are.
    """
    if a.n_rows <= a.block:
        return np.asarray(a.take(0, a.n_rows)), np.asarray(b.take(0, b.n_rows))
    r = np.zeros((0, a.n_features + b.n_features))
    for first, second in zip(a.blocks(), b.blocks(), strict=True):
        r = np.asarray(np.linalg.qr(np.vstack([r, np.hstack([first, second])]), mode="r"))
    return r[:, : a.n_features], r[:, a.n_features :]
