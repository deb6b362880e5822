"""What a metric accepts: two finite tables with the same rows."""

import numpy as np
from numpy.typing import ArrayLike


def table(values: ArrayLike, name: str) -> np.ndarray:
    """Return a finite float64 array of shape (n, d), or say what is wrong with it."""
    entries = np.asarray(values)
    if entries.dtype.kind not in "buif":
        raise TypeError(f"`{name}` must hold numbers, got {entries.dtype}. Encode categories as integers.")
    if entries.ndim != 2 or 0 in entries.shape:
        raise ValueError(
            f"`{name}` must have shape (n_samples, n_columns), both at least 1, got {entries.shape}. "
            "A single variable needs `.reshape(-1, 1)`."
        )
    if not np.isfinite(entries).all():
        row, column = np.argwhere(~np.isfinite(entries))[0].tolist()
        raise ValueError(
            f"`{name}` must be finite, got {entries[row, column]} in row {row}, column {column}. "
            "Drop or impute such rows first."
        )
    return entries.astype(np.float64)


def paired(z_true: ArrayLike, z_hat: ArrayLike, n_least: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return factors and codes as float64 arrays of equal length, factors that vary, or say what is wrong."""
    truth, codes = table(z_true, "z_true"), table(z_hat, "z_hat")
    if len(truth) != len(codes):
        raise ValueError(
            f"`z_hat` must have as many rows as `z_true`, got {len(codes)} and {len(truth)}. "
            "Rows are samples in the same order."
        )
    if len(truth) < n_least:
        raise ValueError(f"`z_true` must have at least {n_least} rows, got {len(truth)}. Use more samples.")
    if is_constant(truth).any():
        column = int(np.argmax(is_constant(truth)))
        raise ValueError(
            f"`z_true` must vary in every column, got a constant column {column}. Drop that factor."
        )
    return truth, codes


def is_constant(values: np.ndarray) -> np.ndarray:
    """Say which columns spread by no more than rounding does, relative to their size; shape (d,)."""
    columns = np.ascontiguousarray(values.T)  # long inner loops: reductions over few, long rows are faster
    low, high = columns.min(1), columns.max(1)
    largest = np.maximum(np.abs(low), np.abs(high))
    unit = np.where(largest > 0, largest, 1.0)
    return high / unit - low / unit <= 4 * np.finfo(np.float64).eps


def standardised(values: np.ndarray) -> np.ndarray:
    """Centre each column and scale it to unit variance; constant columns become exactly zero."""
    return unit_rows(values.T).T * np.sqrt(len(values))


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Centre each row and scale it to unit norm; constant rows become exactly zero."""
    largest = np.abs(rows).max(1, keepdims=True)
    bounded = rows / np.where(
        largest > 0, largest, 1.0
    )  # so that squares of huge or tiny entries stay in range
    centred = bounded - bounded.mean(1, keepdims=True)
    spread = np.sqrt(np.einsum("dn,dn->d", centred, centred) / rows.shape[1])[:, None]
    varies = spread > 4 * np.finfo(np.float64).eps
    return np.where(varies, centred / np.where(varies, spread * np.sqrt(rows.shape[1]), 1.0), 0.0)
