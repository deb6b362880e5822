"""Geometry of point clouds that scores and certificates share: how wide, and how rigidly alike."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unmix.rows import Rows, array_rows, changed, gathered

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


def widest_pair(z: np.ndarray | Rows, exact: bool | str, budget: float) -> Diameter:
    """Find the farthest two rows of a finite table: sweeps first, then, where affordable, all that is left.

    With r_i the distance of row i from the mean, only rows with r_i + max r > best can end a wider pair.
    """
    rows = z if isinstance(z, Rows) else array_rows(z, len(z))
    mean = sum(block.sum(0) for block in rows.blocks()) / rows.n_rows
    centred = changed(rows, lambda block: block - mean)
    if rows.n_rows <= rows.block:  # one block: kept
        centred = array_rows(centred.take(0, rows.n_rows), rows.n_rows)
    radius = np.concatenate([np.sqrt(np.einsum("nd,nd->n", c, c)) for c in centred.blocks()])
    best, ends = _sweep(centred, radius)
    upper = max(best, 2.0 * float(radius.max()))
    left = np.flatnonzero(radius + radius.max() > best)
    affordable = exact is True or (exact == "auto" and len(left) ** 2 * rows.n_features <= budget)
    if not affordable:
        return Diameter(best, upper, best >= upper, ends)
    best, ends = _all_pairs(centred, radius, left, best, ends)
    return Diameter(best, best, True, ends)


def _sweep(centred: Rows, radius: np.ndarray) -> tuple[float, tuple[int, int]]:
    """Jump to the farthest row, again and again, starting farthest from the mean: a lower bound in O(nd)."""
    start, best, ends = int(np.argmax(radius)), 0.0, (0, 0)
    for _ in range(_SWEEPS):
        origin = centred.take(start, start + 1)
        distances = np.concatenate([np.linalg.norm(c - origin, axis=1) for c in centred.blocks()])
        end = int(np.argmax(distances))
        if distances[end] > best:
            best, ends = float(distances[end]), (start, end)
        start = end
    return best, ends


def _all_pairs(
    centred: Rows, radius: np.ndarray, left: np.ndarray, best: float, ends: tuple[int, int]
) -> tuple[float, tuple[int, int]]:
    order = left[np.argsort(-radius[left], kind="stable")]  # widest first: later blocks are skipped soonest
    points, size = gathered(centred, order), radius[order]
    for rows, columns in _blocks(np.arange(len(order))):
        if size[rows[0]] + size[columns[0]] <= best:
            continue
        squared = size[rows, None] ** 2 + size[columns] ** 2 - 2 * points[rows] @ points[columns].T
        i, j = np.unravel_index(int(np.argmax(squared)), squared.shape)
        found = float(np.linalg.norm(points[rows[i]] - points[columns[j]]))  # without cancellation
        if found > best:
            best, ends = found, (int(order[rows[i]]), int(order[columns[j]]))
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
