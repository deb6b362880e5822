"""Which columns are continuous and which are discrete: declared, or detected by how often values repeat."""

from collections.abc import Sequence

import numpy as np

MOST_LEVELS = 200  # the largest factor of the usual image data, the 183 cars of Cars3D, stays discrete
MOST_BINS = 20  # as many as published histogram scores use

Declared = bool | Sequence[bool] | np.ndarray | None


def kinds(values: np.ndarray, declared: Declared = None, name: str = "discrete") -> np.ndarray:
    """Say which columns are discrete.

    Undeclared, a column is discrete when its values repeat: they come to at most 200 levels, each seen twice
    or more on average. Whether values are integers plays no part, since factors are stored either way. On
    part of the rows the answer may differ; whoever resamples should decide once and declare.

    Parameters
    ----------
    values : ndarray of shape (n, d)
    declared : bool, sequence of d bools, or None
        The kind of all columns, or of each; None detects.
    name : str
        What the caller calls `declared`.

    Returns
    -------
    ndarray of bool, shape (d,)

    Examples
    --------
    >>> kinds(np.array([[0, 0.3], [0, 1.7], [1, 2.2], [1, 2.9]])).tolist()
    [True, False]
    """
    n_levels = np.array([len(np.unique(column)) for column in values.T])
    if declared is None:
        return (2 * n_levels <= len(values)) & (n_levels <= MOST_LEVELS)
    mask = _mask(declared, values.shape[1], name)
    unusable = mask & (n_levels == len(values)) & (n_levels > 1)
    if unusable.any():
        column = int(np.argmax(unusable))
        raise ValueError(
            f"`{name}` must mark columns whose values repeat, got column {column} with a different value "
            f"in each of {len(values)} rows. Declare it continuous."
        )
    return mask


def labels(column: np.ndarray) -> np.ndarray:
    """Replace the levels of a discrete column by 0, 1, ... in order of their values; shape (n,)."""
    return np.unique(column, return_inverse=True)[1].reshape(-1)


def n_bins(n_samples: int, asked: int | None = None) -> int:
    """Return how many bins a continuous column gets: those asked for, or the cube root of n, 2 to 20.

    Plug-in information is biased by about bins² / 2n, so that twenty bins need thousands of samples. From
    7,415 samples on this is the twenty of the published protocol.
    """
    if asked is None:
        return int(np.clip(round(n_samples ** (1 / 3)), 2, MOST_BINS))
    if asked < 2:
        raise ValueError(f"`bins` must be at least 2, got {asked}. Twenty are usual.")
    return int(asked)


def equal_width(column: np.ndarray, bins: int) -> np.ndarray:
    """Cut the range of a column into bins of equal width and number them; a constant column is one bin."""
    low, high = column.min(), column.max()
    if not low < high:
        return np.zeros(len(column), dtype=int)
    place = (column / 2 - low / 2) / (high / 2 - low / 2)  # halves: the range of huge values may overflow
    return np.minimum((place * bins).astype(int), bins - 1)


def equal_count(column: np.ndarray, bins: int) -> np.ndarray:
    """Cut a column at its quantiles and number the bins; equal values share a bin."""
    edges = np.quantile(column, np.arange(1, bins) / bins)
    return labels(np.searchsorted(edges, column, side="right"))


def all_labels(values: np.ndarray, discrete: np.ndarray, bins: int, cut=equal_width) -> list[np.ndarray]:
    """Label every column: discrete ones by level, continuous ones by bin."""
    return [
        labels(column) if is_discrete else labels(cut(column, bins))
        for column, is_discrete in zip(values.T, discrete, strict=True)
    ]


def _mask(declared: Declared, width: int, name: str) -> np.ndarray:
    mask = np.asarray(declared)
    if mask.dtype != bool or mask.shape not in ((), (width,)):
        raise ValueError(
            f"`{name}` must be None, True, False or {width} bools, got {declared!r}. "
            "Say for each column whether it is discrete."
        )
    return np.broadcast_to(mask, (width,)).copy()
