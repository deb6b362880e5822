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


def planes_of(y: np.ndarray, rng: np.random.Generator) -> Planes:
    """Measure the pairs of components that could be confused; what is not measured is nan."""
    y = standard(y[:: -(-len(y) // _MOST_ROWS)])
    n = y.shape[1]
    table = np.full((4, n, n), np.nan)
    elsewhere = _swapped(len(y), rng)
    for i, j in zip(*np.nonzero(np.triu(confusable(y), 1)), strict=True):
        apart = np.column_stack([y[:, i], y[elsewhere, j]])
        table[:, i, j] = table[:, j, i] = *gain_of(y[:, [i, j]]), *left_of(y[:, [i, j]], apart)
    return Planes(*table)


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


def gain_of(pair: np.ndarray) -> tuple[float, float]:
    """Return the least mutual information that a rotation adds, over angles, and its standard error."""
    turned = np.stack([_turned(pair, angle) for angle in (0.0, *ANGLES)])
    told = surprises(turned.reshape(-1, pair.shape[0])).reshape(len(turned), 2, -1).sum(1)
    added = told[1:] - told[0]
    mean, error = added.mean(1), added.std(1) / np.sqrt(added.shape[1])
    worst = int((mean / np.maximum(error, 1e-12)).argmin())
    return float(mean[worst]), float(error[worst])


def _turned(pair: np.ndarray, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * pair[:, 0] + s * pair[:, 1], c * pair[:, 1] - s * pair[:, 0]])


def surprises(rows: np.ndarray) -> np.ndarray:
    """Return -log p of each entry under the density of its own row, up to a constant."""
    m, n = rows.shape
    places = _places(rows, _BINS)
    counts = np.bincount((places + _BINS * np.arange(m)[:, None]).ravel(), minlength=m * _BINS)
    density = counts.reshape(m, _BINS) @ _kernel(_BINS, _width(n)) / n
    return np.take_along_axis(-np.log(density), places, axis=1)


def left_of(pair: np.ndarray, shuffled: np.ndarray) -> tuple[float, float]:
    """Return the mutual information of a pair beyond that of the same columns shuffled, and its error."""
    there, apart = _information(pair), _information(shuffled)
    error = np.hypot(there.std(), apart.std()) / np.sqrt(len(pair))
    return float(there.mean() - apart.mean()), float(error)


def _information(pair: np.ndarray) -> np.ndarray:
    """Return log p(a, b) / p(a) p(b) of each row."""
    n, places = len(pair), _places(pair, _JOINT_BINS)
    counts = np.bincount(places @ [_JOINT_BINS, 1], minlength=_JOINT_BINS**2).reshape(_JOINT_BINS, -1)
    kernel = _kernel(_JOINT_BINS, 1.5 * _width(n))
    joint = kernel @ (counts / n) @ kernel
    apart = joint.sum(1)[:, None] * joint.sum(0)
    return np.log(joint / apart)[places[:, 0], places[:, 1]]


def _places(values: np.ndarray, bins: int) -> np.ndarray:
    """Return the bin of each value; what is beyond reach lies in the outermost ones."""
    scaled = (values + _REACH) * (bins / (2 * _REACH))
    return np.clip(scaled, 0, bins - 1).astype(np.intp)


def _width(n: int) -> float:
    """Width of the kernel, in steps of 5%, so that few kernels are ever made."""
    return float(np.round(20 * 1.2 * n ** (-0.2)) / 20)


@cache
def _kernel(bins: int, width: float) -> np.ndarray:
    """Return a symmetric smoothing with a floor, so that an empty bin is unlikely and not impossible."""
    at = (np.arange(bins) + 0.5) * (2 * _REACH / bins)
    bell = np.exp(-0.5 * np.square((at[:, None] - at) / max(width, 0.05))) + 1e-9
    return bell / bell.sum(1).max()
