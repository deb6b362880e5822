"""Geometry of point clouds that scores and certificates share: how wide, and how rigidly alike."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

_SWEEPS, _BLOCK = 4, 1024


@dataclass(frozen=True)
class Diameter:
    """The largest distance within a cloud, or what is known of it.

    Attributes
    ----------
    value : float
        Distance of the two farthest points found.
    upper : float
        No pair is farther apart; equal to `value` when exact.
    exact : bool
    endpoints : tuple of two int
        Rows of the two points.
    """

    value: float
    upper: float
    exact: bool
    endpoints: tuple[int, int]

    def __float__(self) -> float:
        return self.value


def widest_pair(z: np.ndarray, exact: bool | str, budget: float) -> Diameter:
    """Find the farthest two rows of a finite table: sweeps first, then, where affordable, all that is left.

    With r_i the distance of row i from the mean, only rows with r_i + max r > best can end a wider pair.
    """
    centred = z - z.mean(0)
    radius = np.sqrt(np.einsum("nd,nd->n", centred, centred))
    best, ends = _sweep(centred, radius)
    upper = max(best, 2.0 * float(radius.max()))
    left = np.flatnonzero(radius + radius.max() > best)
    affordable = exact is True or (exact == "auto" and len(left) ** 2 * z.shape[1] <= budget)
    if not affordable:
        return Diameter(best, upper, best >= upper, ends)
    best, ends = _all_pairs(centred, radius, left, best, ends)
    return Diameter(best, best, True, ends)


def _sweep(centred: np.ndarray, radius: np.ndarray) -> tuple[float, tuple[int, int]]:
    """Jump to the farthest row, again and again, starting farthest from the mean: a lower bound in O(nd)."""
    start, best, ends = int(np.argmax(radius)), 0.0, (0, 0)
    for _ in range(_SWEEPS):
        distances = np.linalg.norm(centred - centred[start], axis=1)
        end = int(np.argmax(distances))
        if distances[end] > best:
            best, ends = float(distances[end]), (start, end)
        start = end
    return best, ends


def _all_pairs(
    centred: np.ndarray, radius: np.ndarray, left: np.ndarray, best: float, ends: tuple[int, int]
) -> tuple[float, tuple[int, int]]:
    order = left[np.argsort(-radius[left], kind="stable")]  # widest first: later blocks are skipped soonest
    for rows, columns in _blocks(order):
        if radius[rows[0]] + radius[columns[0]] <= best:
            continue
        squared = radius[rows, None] ** 2 + radius[columns] ** 2 - 2 * centred[rows] @ centred[columns].T
        i, j = np.unravel_index(int(np.argmax(squared)), squared.shape)
        found = float(np.linalg.norm(centred[rows[i]] - centred[columns[j]]))  # without cancellation
        if found > best:
            best, ends = found, (int(rows[i]), int(columns[j]))
    return best, ends


def _blocks(order: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    blocks = [order[k : k + _BLOCK] for k in range(0, len(order), _BLOCK)]
    return ((rows, columns) for i, rows in enumerate(blocks) for columns in blocks[i:])


def rotation(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the orthogonal R that brings centred a closest to b, and the best scale c, min ||c a R - b||.

    R = U V' from the singular value decomposition a'b = U S V', reflections allowed; thin where the widths
    differ, and then R projects or embeds. c = tr(S) / ||a R||^2.
    """
    u, s, vt = np.linalg.svd(a.T @ b, full_matrices=False)
    r = u @ vt
    size = float(((a @ r) ** 2).sum())
    return r, float(s.sum()) / size if size > 0 else 0.0
