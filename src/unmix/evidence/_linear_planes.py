"""Dependence in the plane of two components: what is left of it, and what a rotation would add.

Densities are taken with a Gaussian kernel, which is as if a little isotropic noise were added. Such noise is
the same after a rotation, so that the mutual information of the pair has its least value, 0, at the
independent components whatever their law: neither heavy tails nor rare events move it, as they do the maximum
of a contrast. The joint entropy does not change with a rotation either, so that what a rotation adds is a
difference of entropies of single variables.

Most planes are safe, and which are not shows without turning anything: what is left between all pairs comes
from one product (`left_between`), and a component is the easiest to confuse with the one that depends most on
it or with the one nearest to Gaussian. Only these planes are turned.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from unmix._fitted import thinned

from ._linear_tables import left_between

ANGLES = np.deg2rad([-45.0, -27.0, 27.0])  # a correlation of .95 is an angle of 18 degrees
_REACH, _BINS = 6.0, 160
_MOST_ROWS, _FEWEST_ROWS, _ENTRIES = 3000, 1000, 30_000  # of rows, and of entries: a plane costs .1 ms
_ALL_PAIRS = 4


class Planes(NamedTuple):
    """What is known of each pair of components; arrays of shape (n_components, n_components).

    `gain` is the mutual information, in nats, that the most favourable rotation would add, with its standard
    error `gain_error`, nan where it was not measured; `left` what there is without one, beyond chance, with
    `left_error`.
    """

    gain: np.ndarray
    gain_error: np.ndarray
    left: np.ndarray
    left_error: np.ndarray


def planes_of(y: np.ndarray, *, of: np.ndarray | None = None) -> Planes:
    """Measure what is left between all components, and turn the planes in which they could be confused.

    `of` marks the components whose planes are asked about, by default all.
    """
    y = standard(_some(y))
    rows, asked = np.ascontiguousarray(y.T), np.ones(y.shape[1], bool) if of is None else of
    own, (left, doubt) = surprises(rows), left_between(y)
    return Planes(*_gains(rows, own, confusable(own.mean(1), left, asked)), left, doubt)


def _gains(rows: np.ndarray, own: np.ndarray, marked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    gain, error = np.full((2, *marked.shape), np.nan)
    for i, j in zip(*np.nonzero(np.triu(marked | marked.T, 1)), strict=True):
        gain[i, j], error[i, j] = gain_of(rows[[i, j]], own[i] + own[j])
        gain[j, i], error[j, i] = gain[i, j], error[i, j]
    return gain, error


def _some(y: np.ndarray) -> np.ndarray:
    """Return as many rows as tell a rotation from none; fewer of many components."""
    return thinned(y, int(np.clip(_ENTRIES // y.shape[1], _FEWEST_ROWS, _MOST_ROWS)))


def standard(y: np.ndarray) -> np.ndarray:
    """Centre columns and give them unit variance, where they have any."""
    centred = y - y.mean(0)
    centred /= np.maximum(np.sqrt(np.einsum("ij,ij->j", centred, centred) / len(centred)), 1e-300)
    return centred


def confusable(entropy: np.ndarray, left: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Mark the planes to turn: for each component asked about that of the one which depends most on it, and
    that of the nearest to Gaussian, which has the largest entropy; all planes of few components.
    """
    n, own = len(entropy), np.eye(len(entropy), dtype=bool)
    if n <= _ALL_PAIRS:
        return ~own & (asked | asked[:, None])
    each, marked = np.flatnonzero(asked), np.zeros((n, n), bool)
    for size in (np.where(own, -np.inf, left), np.where(own, -np.inf, entropy)):
        marked[each, size.argmax(1)[each]] = True
    return marked


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
