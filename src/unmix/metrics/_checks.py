"""What a metric accepts: two finite tables with the same rows."""

import operator
import warnings
from collections.abc import Iterable
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike


def table(values: ArrayLike, name: str) -> np.ndarray:
    """Return a finite float64 array of shape (n, d), or say what is wrong with it."""
    if type(values).__module__.startswith("anndata"):
        raise TypeError(
            f"`{name}` must be an array, got an AnnData object. Pass an array of it: adata.obsm['X_unmix']."
        )
    if np.ma.is_masked(values):
        masked = np.ma.count_masked(values)  # type: ignore[no-untyped-call]
        raise ValueError(
            f"`{name}` must not have masked entries, got {masked}. Drop such rows, or fill them."
        )
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
    return _in_range(entries.astype(np.float64), name)


_RANGE = 1e-100, 1e100  # squares, and sums of many of them, stay finite and keep all digits
_RESOLVED = (
    1e-12  # share of the largest entry that a column must spread by, or few of its digits say anything
)


def _in_range(entries: np.ndarray, name: str) -> np.ndarray:
    """Scale columns of extreme units by a power of two, which changes no digit; warn of lost digits."""
    largest = np.abs(entries).max(0)
    outside = (largest > 0) & ((largest < _RANGE[0]) | (largest > _RANGE[1]))
    if outside.any():
        entries[:, outside] = np.ldexp(entries[:, outside], -np.frexp(largest[outside])[1])
        largest = np.abs(entries).max(0)
    spread = entries.max(0) - entries.min(0)
    lost = (spread > 4 * np.finfo(np.float64).eps * largest) & (spread < _RESOLVED * largest)
    if lost.any():
        warnings.warn(
            f"`{name}` has lost most digits of column {int(np.argmax(lost))}: it spreads by "
            f"{spread[lost][0]:.1g} about {largest[lost][0]:.1g}. Subtract its offset earlier.",
            stacklevel=4,
        )
    return entries


def unmasked(values: ArrayLike, name: str) -> np.ndarray:
    """Return entries as an array, which has no mask; refuse those that are masked.

    Examples
    --------
    >>> unmasked(np.ma.masked_equal([1, 2], 2), "codes")
    Traceback (most recent call last):
    ValueError: `codes` must not have masked entries, got 1. Drop such rows, or fill them.
    """
    if np.ma.is_masked(values):
        masked = np.ma.count_masked(values)  # type: ignore[no-untyped-call]
        raise ValueError(
            f"`{name}` must not have masked entries, got {masked}. Drop such rows, or fill them."
        )
    return np.asarray(values)


def check_units(largest: ArrayLike, name: str) -> None:
    """Refuse entries whose squares are no numbers, where a score is in units of theirs.

    Examples
    --------
    >>> check_units([0.0, 1.0, 1e155], "x")
    Traceback (most recent call last):
    ValueError: `x` must have entries of up to 1e-100 to 1e+100, got 1e+155. Squares of others are no ...
    """
    each = np.ravel(largest)
    outside = each[(each > 0) & ((each < _RANGE[0]) | (each > _RANGE[1]))]
    if len(outside):
        raise ValueError(
            f"`{name}` must have entries of up to {_RANGE[0]:g} to {_RANGE[1]:g}, got {outside[0]:g}. "
            "Squares of others are no numbers: change the units."
        )


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
    bounded = rows / np.where(largest > 0, largest, 1.0)  # squares of huge or tiny entries stay in range
    centred = bounded - bounded.mean(1, keepdims=True)
    spread = np.sqrt(np.einsum("dn,dn->d", centred, centred) / rows.shape[1])[:, None]
    varies = spread > 4 * np.finfo(np.float64).eps
    return np.where(varies, centred / np.where(varies, spread * np.sqrt(rows.shape[1]), 1.0), 0.0)


def weighted_pair(
    z_true: ArrayLike, z_hat: ArrayLike, weights: ArrayLike | None, n_least: int = 2
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return checked factors, codes and weights that sum to 1; rows of weight 0 are left out unread.

    Equal weights are no weights: None, and the plain formulas hold to the last bit.
    """
    if weights is None:
        return *paired(z_true, z_hat, n_least), None
    w = _weights(weights)
    kept = w > 0
    rows = [_rows(values, len(w), name)[kept] for values, name in ((z_true, "z_true"), (z_hat, "z_hat"))]
    truth, codes = paired(rows[0], rows[1], n_least)
    share = w[kept] / w[kept].sum()
    return truth, codes, None if np.ptp(share) == 0 else share


def _weights(weights: ArrayLike) -> np.ndarray:
    w = unmasked(weights, "weights")
    if w.dtype.kind not in "buif" or w.ndim != 1:
        raise TypeError(
            f"`weights` must be one number or boolean per row, got {w.dtype} of shape {w.shape}. "
            "Pass a vector of length n_samples."
        )
    w = w.astype(np.float64)
    if not np.isfinite(w).all() or (w < 0).any() or not w.any():
        raise ValueError(
            "`weights` must be finite, not negative and not all zero, "
            f"got values from {w.min()} to {w.max()}. A weight of 0 leaves a row out."
        )
    return w


def _rows(values: ArrayLike, n_samples: int, name: str) -> np.ndarray:
    entries = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    if entries.ndim == 0 or len(entries) != n_samples:
        raise ValueError(
            f"`weights` must have one entry per row of `{name}`, got {n_samples} for shape {entries.shape}. "
            "Rows are samples."
        )
    return entries


def group_labels(groups: ArrayLike, n_samples: int, name: str) -> np.ndarray:
    """Return labels 0, 1, ... of groups of at least two samples each; shape (n_samples,)."""
    labels = np.asarray(groups)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"`{name}` must have one label per sample, shape ({n_samples},), got {labels.shape}. "
            "Pass the domain of each row."
        )
    _, index, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if sizes.min() < 2:
        raise ValueError(
            f"`{name}` must have at least 2 samples in every group, got a group of {sizes.min()}. "
            "Merge or drop small groups."
        )
    return index


def column_blocks(
    blocks: Iterable[Iterable[SupportsIndex]] | None, n_columns: int, name: str
) -> list[list[int]]:
    """Return blocks of columns as lists of indices; every column by itself when none are given."""
    if blocks is None:
        return [[j] for j in range(n_columns)]
    parts = [[operator.index(j) for j in block] for block in blocks]
    if not parts or not all(parts) or not all(0 <= j < n_columns for part in parts for j in part):
        raise ValueError(
            f"`{name}` must hold blocks of columns 0 to {n_columns - 1}, none empty, got {parts}. "
            "For example [[0, 1], [2]]."
        )
    return parts
