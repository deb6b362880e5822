"""Elementary directions of a Jacobian: those whose image has a support that contains no smaller one.

With weights wt(u) = |supp(J u)|, finding the lightest basis of the tangent space is a matroid problem: greed
is optimal, and only elementary directions can occur in it, for any other is a sum of lighter ones.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from ._derivatives import Partition
from ._factors import components, row_basis, shared_strength, slot_of

_LEAST = 100  # a matrix takes as long as this number of row subsets, however few it has


@dataclass(frozen=True)
class Directions:
    """Elementary directions of one Jacobian, lightest first.

    Attributes
    ----------
    vectors : (n_directions, n_latents) array
        Of unit length in latents scaled to columns of size one.
    supports : (n_directions, n_observed) bool array
    reach : (n_directions,) int array
        The least t such that directions of weight t or less span the vector; "tight" where it is the weight.
    lightest : int
        Total weight of a lightest basis.
    """

    vectors: np.ndarray
    supports: np.ndarray
    reach: np.ndarray
    lightest: int

    @property
    def weights(self) -> np.ndarray:
        """Number of rows that each direction moves."""
        return self.supports.sum(1)

    @property
    def tight(self) -> np.ndarray:
        """Whether the direction belongs to some lightest basis."""
        return self.reach == self.weights

    def slots(self, partition: Partition, tolerance: float) -> np.ndarray:
        """Indicate which slots each direction has a part in, shape (n_directions, n_slots)."""
        inside = np.abs(self.vectors) > tolerance
        slot = slot_of(partition, self.vectors.shape[1])
        return np.stack([inside[:, slot == k].any(1) for k in range(len(partition))], axis=1)


def search_size(jacobian: np.ndarray, tolerance: float) -> int:
    """Count the row subsets that `elementary` would look at; 0 if columns are dependent."""
    pieces = _pieces(jacobian, tolerance)
    return sum(comb(len(rows), len(columns) - 1) for _, rows, columns in pieces) if pieces else 0


def affordable(matrices: Iterable[np.ndarray], count: int, tolerance: float, search: int) -> bool:
    """Say whether all have independent columns, and `elementary` needs at most `search` row subsets."""
    if count * _LEAST > search:
        return False
    left = search
    for matrix in matrices:
        size = search_size(matrix, tolerance)
        left -= max(size, _LEAST)
        if left < 0 or not size:
            return False
    return True


def elementary(jacobian: np.ndarray, tolerance: float) -> Directions:
    """Find every elementary direction of a Jacobian of full column rank: null vectors of d - 1 rows.

    The search splits along the connected components of the row matroid, outside of which no elementary
    direction reaches.
    """
    found = [
        _null_vectors(r[np.ix_(columns, rows)].T, tolerance) @ t[columns]
        for (r, t), rows, columns in _pieces(jacobian, tolerance)
    ]
    vectors = np.concatenate(found)
    scaled = vectors * np.abs(jacobian).max(0)
    scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    supports = _images(jacobian, vectors, tolerance)
    _, first = np.unique(np.packbits(supports, axis=1), axis=0, return_index=True)
    minimal = first[_minimal(supports[first])]
    order = minimal[np.argsort(supports[minimal].sum(1), kind="stable")]
    reach, lightest = _reach(scaled[order], supports[order].sum(1), tolerance)
    return Directions(scaled[order], supports[order], reach, lightest)


def _pieces(jacobian: np.ndarray, tolerance: float) -> list[tuple[tuple, np.ndarray, np.ndarray]]:
    """Split a Jacobian into ((R', T'), rows, columns), one for each component of its row matroid."""
    r, t, margin = (part[0] for part in row_basis(jacobian.T[None], tolerance))
    if margin <= tolerance:
        return []
    sizes = np.abs(r)
    parts = components(shared_strength(sizes[None])[0] > tolerance)
    columns = [np.array(sorted(part)) for part in parts]
    return [((r, t), np.flatnonzero((sizes[part] > tolerance).any(0)), part) for part in columns]


def _null_vectors(rows: np.ndarray, tolerance: float) -> np.ndarray:
    """Return a vector across each set of d - 1 independent rows."""
    n, d = rows.shape
    if d == 1:
        return np.ones((1, 1))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    chosen = unit[np.array(list(combinations(range(n), d - 1)))]
    _, singular, axes = np.linalg.svd(chosen, full_matrices=True)
    vectors: np.ndarray = axes[singular[:, -1] > tolerance, -1, :]
    return vectors


def _images(jacobian: np.ndarray, vectors: np.ndarray, tolerance: float) -> np.ndarray:
    """Return the support of J u, an entry counting as zero where its terms cancel."""
    terms = np.abs(jacobian) @ np.abs(vectors).T
    sizes = np.abs(jacobian @ vectors.T)
    terms_seen = terms > tolerance * terms.max(0)
    supports: np.ndarray = ((sizes > tolerance * terms) & terms_seen).T
    return supports


def _minimal(supports: np.ndarray) -> np.ndarray:
    """Drop supports that contain another: the residue of ill-conditioned row subsets."""
    counted = supports.astype(np.float32)
    inside = (counted @ (1 - counted).T) == 0  # (a, b): a is part of b
    np.fill_diagonal(inside, False)
    return ~inside.any(0)


def _reach(vectors: np.ndarray, weights: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
    """Span level by level: the reach of each vector, and the total weight of a lightest basis."""
    d = vectors.shape[1]
    reach, lightest, basis = np.full(len(vectors), -1), 0, np.zeros((0, d))
    for level in np.unique(weights):
        _, singular, axes = np.linalg.svd(
            np.concatenate([basis, vectors[weights == level]]), full_matrices=False
        )
        grown = axes[singular > tolerance * singular[0]]
        lightest += int(level) * (len(grown) - len(basis))
        basis = grown
        outside = np.linalg.norm(vectors - vectors @ basis.T @ basis, axis=1)
        reach[(reach < 0) & (outside <= 10 * tolerance)] = level
        if len(basis) == d:
            break
    reach[reach < 0] = weights[reach < 0]
    return reach, lightest
