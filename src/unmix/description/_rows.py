"""The rows at both ends of a latent, and how its values are spread."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

BINS = 32
ENDS = 5


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of rows in equal bins over the middle 99% of values; the outer bins take what is beyond."""

    counts: np.ndarray
    edges: np.ndarray


def carried(values: np.ndarray) -> float:
    """Return the share of the variance that the five rows farthest from the mean carry.

    >>> round(carried(np.array([0.0] * 99 + [1.0])), 2)
    0.99
    """
    squares = np.square(values - values.mean())
    largest = np.sort(np.partition(squares, -min(ENDS, len(squares)))[-ENDS:])
    return float(largest.sum() / squares.sum()) if squares.sum() > 0 else 0.0


def histogram(values: np.ndarray) -> Histogram:
    """Count values in bins.

    >>> histogram(np.array([0.0, 1.0, 1.0, 2.0])).counts.sum()
    np.int64(4)
    """
    low, high = np.quantile(values, [0.005, 0.995])
    if not high > low:
        low, high = float(values.min()) - 0.5, float(values.max()) + 0.5
    edges = np.linspace(low, high, BINS + 1)
    return Histogram(np.histogram(np.clip(values, low, high), edges)[0], edges)


def ends(values: np.ndarray, ids: Sequence[Any] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the rows with the lowest and the highest values, the most extreme first, by id or by number.

    >>> ends(np.array([3.0, 1.0, 2.0]), ["c", "a", "b"])
    (('a', 'b', 'c'), ('c', 'b', 'a'))
    """
    named = (lambda row: str(row)) if ids is None else (lambda row: str(ids[row]))
    return tuple(map(named, _lowest(values))), tuple(map(named, _lowest(-values)))


def _lowest(values: np.ndarray) -> np.ndarray:
    """Return the rows with the lowest values, of equal ones the first, without sorting all of them.

    >>> _lowest(np.array([1.0, 0.0, 1.0, 0.0, 2.0, 1.0, 1.0]))
    array([1, 3, 0, 2, 5])
    """
    most = min(ENDS, len(values))
    bound = np.partition(values, most - 1)[most - 1]
    rows = np.flatnonzero(~(values > bound))
    return rows[np.argsort(values[rows], kind="stable")][:most]
