"""Dependence in the plane of two components: what is left of it, and what a rotation would add.

Densities are taken with a Gaussian kernel, which is as if a little isotropic noise were added. Such noise is
the same after a rotation, so that the mutual information of the pair has its least value, 0, at the
independent components whatever their law: neither heavy tails nor rare events move it, as they do the maximum
of a contrast. The joint entropy does not change with a rotation either, so that what a rotation adds is a
difference of entropies of single variables.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

ANGLES = np.deg2rad([-45.0, -36.0, -27.0, 27.0, 36.0])  # a correlation of .95 is an angle of 18 degrees
_REACH, _BINS, _JOINT_BINS = 6.0, 160, 48
_MOST_ROWS, _ALL_PAIRS, _PARTNERS = 4000, 24, 12  # pairs cost a millisecond each
_GAUSSIAN = 0.374567 + np.log(2)  # E[log 2 cosh y] of a standard normal y


class Planes(NamedTuple):
    """What is known of each pair of components; arrays of shape (n_components, n_components).

    `gain` is the mutual information, in nats, that the most favourable rotation would add, with its standard
    error `gain_error`; `left` what there is without one, beyond that of shuffled columns, with `left_error`.
    """

    gain: np.ndarray
    gain_error: np.ndarray
    left: np.ndarray
    left_error: np.ndarray


def planes_of(
    y: np.ndarray, rng: np.random.Generator, *, of: np.ndarray | None = None, left: bool = True
) -> Planes:
    """Measure the pairs of components that could be confused; what is not measured is nan.

    `of` marks the components that are asked about, by default all, and `left` says whether the dependence
    that is left is asked for too: what nobody asks for costs nothing.
    """
    y = standard(y[:: -(-len(y) // _MOST_ROWS)])
    n = y.shape[1]
    asked = np.ones(n, bool) if of is None else of
    table, pairs = np.full((4, n, n), np.nan), _Pairs(y, _swapped(len(y), rng))
    for i, j in zip(*np.nonzero(np.triu(confusable(y) & (asked | asked[:, None]), 1)), strict=True):
        table[:2, i, j] = table[:2, j, i] = gain_of(pairs.rows[[i, j]], pairs.own[i] + pairs.own[j])
        if left:
            table[2:, i, j] = table[2:, j, i] = left_of(pairs.places[i], pairs.places[j], pairs.apart[j])
    return Planes(*table)


class _Pairs:
    """What each component brings to every pair that it is in, worked out once: rows are components."""

    def __init__(self, y: np.ndarray, elsewhere: np.ndarray):
        self.rows = np.ascontiguousarray(y.T)
        self.own = surprises(self.rows)
        self.places = _places(self.rows, _JOINT_BINS)
        self.apart = self.places[:, elsewhere]


def standard(y: np.ndarray) -> np.ndarray:
    """Centre columns and give them unit variance, where they have any."""
    return (y - y.mean(0)) / np.maximum(y.std(0), 1e-300)


def confusable(y: np.ndarray) -> np.ndarray:
    """Mark the pairs to look at: all of them, or for each of many components the likeliest to be confused.

    These are the most dependent ones, by the correlation of log cosh, and the least non-Gaussian ones.
    """
    n, half = y.shape[1], _PARTNERS // 2
    if n <= _ALL_PAIRS:
        return ~np.eye(n, dtype=bool)
    size = np.abs(y) + np.log1p(np.exp(-2 * np.abs(y)))
    dependence = np.abs(np.corrcoef(size.T)) - 2 * np.eye(n)
    gaussian = np.abs(size.mean(0) - _GAUSSIAN)[None] + 9 * np.eye(n)
    marked = np.zeros((n, n), bool)
    np.put_along_axis(marked, np.argsort(-dependence, axis=1)[:, :half], True, axis=1)
    np.put_along_axis(marked, np.argsort(gaussian, axis=1)[:, :half], True, axis=1)
    return marked | marked.T


def _swapped(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return an order in which rows have changed places by twos: its own inverse, so that the plane of i and
    j is that of j and i.
    """
    order, swapped = rng.permutation(n), np.arange(n)
    swapped[order[: n // 2]], swapped[order[n - n // 2 :]] = order[n - n // 2 :], order[: n // 2]
    return swapped


def gain_of(pair: np.ndarray, own: np.ndarray) -> tuple[float, float]:
    """Return the least mutual information that a rotation adds, over angles, and its standard error.

    `pair` has shape (2, n_rows), and `own` is the sum of the surprises of the two.
    """
    told = surprises(_turned(*pair))
    added = told[: len(ANGLES)] + told[len(ANGLES) :] - own
    mean = added.mean(1)
    added -= mean[:, None]
    error = np.sqrt(np.einsum("ar,ar->a", added, added)) / added.shape[1]
    worst = int((mean / np.maximum(error, 1e-12)).argmin())
    return float(mean[worst]), float(error[worst])


def _turned(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the first components after all rotations, then the second ones."""
    c, s = np.cos(ANGLES)[:, None], np.sin(ANGLES)[:, None]
    return np.concatenate([c * a + s * b, c * b - s * a])


def surprises(rows: np.ndarray) -> np.ndarray:
    """Return -log p of each entry under the density of its own row, up to a constant."""
    m, n = rows.shape
    places = _places(rows, _BINS)
    places += _BINS * np.arange(m)[:, None]
    counts = np.bincount(places.ravel(), minlength=m * _BINS).reshape(m, _BINS)
    density = counts @ _kernel(_BINS, _width(n)) / n
    return np.take(-np.log(density), places)


def left_of(a: np.ndarray, b: np.ndarray, apart: np.ndarray) -> tuple[float, float]:
    """Return the mutual information of two columns beyond that of the same shuffled, and its error.

    All are given by the bins that their entries lie in, `apart` being the second one shuffled.
    """
    (there, spread), (chance, doubt) = _information(a, b), _information(a, apart)
    return there - chance, float(np.hypot(spread, doubt) / np.sqrt(len(a)))


def _information(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Return mean and deviation over rows of log p(a, b) / p(a) p(b), which is one number for each bin."""
    n = len(a)
    counts = np.bincount(a * _JOINT_BINS + b, minlength=_JOINT_BINS**2) / n
    kernel = _kernel(_JOINT_BINS, 1.5 * _width(n))
    joint = kernel @ counts.reshape(_JOINT_BINS, -1) @ kernel
    told = np.log(joint / (joint.sum(1)[:, None] * joint.sum(0))).ravel()
    mean = counts @ told
    return float(mean), float(np.sqrt(counts @ np.square(told - mean)))


def _places(values: np.ndarray, bins: int) -> np.ndarray:
    """Return the bin of each value; what is beyond reach lies in the outermost ones."""
    scaled = values + _REACH
    scaled *= bins / (2 * _REACH)
    return np.clip(scaled, 0, bins - 1, out=scaled).astype(np.intp)


def _width(n: int) -> float:
    """Width of the kernel, in steps of 5%, so that few kernels are ever made."""
    return float(np.round(20 * 1.2 * n ** (-0.2)) / 20)


@cache
def _kernel(bins: int, width: float) -> np.ndarray:
    """Return a symmetric smoothing with a floor, so that an empty bin is unlikely and not impossible."""
    at = (np.arange(bins) + 0.5) * (2 * _REACH / bins)
    bell = np.exp(-0.5 * np.square((at[:, None] - at) / max(width, 0.05))) + 1e-9
    return bell / bell.sum(1).max()
