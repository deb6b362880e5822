"""Factor graphs: which latent directions act together, and the partition that their components make."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ._derivatives import Partition


@dataclass(frozen=True, eq=False)
class Samples:
    """Jacobians of shape (n, x, z) with what every check reads off them, computed once."""

    jacobians: np.ndarray
    tolerance: float

    @cached_property
    def scaled(self) -> np.ndarray:
        """J_na / max_n |J_na| at each point: entries whatever the scale of their latents."""
        largest = np.abs(self.jacobians).max(1, keepdims=True)
        largest[largest == 0] = 1  # a column that moves nothing stays as it is
        return self.jacobians / largest

    @cached_property
    def sizes(self) -> np.ndarray:
        """How large an entry is beside the largest of its column."""
        return np.abs(self.scaled)

    @cached_property
    def supports(self) -> np.ndarray:
        """Omega_a, column by column: the observed variables that a latent moves."""
        supports: np.ndarray = self.sizes > self.tolerance
        return supports

    @cached_property
    def containments(self) -> np.ndarray:
        """|Omega_a without Omega_b| at (a, b), per point: zero iff Omega_a is part of Omega_b."""
        counted = self.supports.astype(np.float32)
        outside: np.ndarray = np.swapaxes(counted, 1, 2) @ (1 - counted)
        return outside

    @cached_property
    def independence(self) -> np.ndarray:
        """Smallest over largest singular value at each point, columns scaled to length one."""
        return independence(self.jacobians)

    @cached_property
    def patterns(self) -> list[np.ndarray]:
        """Points with the same supports, together."""
        alike: dict[bytes, list[int]] = {}
        packed = np.packbits(self.supports.reshape(len(self.supports), -1), axis=1)
        for point, bits in enumerate(packed):
            alike.setdefault(bits.tobytes(), []).append(point)
        return [np.array(points) for points in alike.values()]

    def slot(self, block: frozenset[int]) -> np.ndarray:
        """Return the columns of a slot, without the rows that it never moves."""
        columns = self.jacobians[:, :, sorted(block)]
        ever = self.supports[:, :, sorted(block)].any((0, 2))
        return columns[:, ever] if ever.any() else columns[:, :1]


def independence(jacobians: np.ndarray) -> np.ndarray:
    """Return smallest over largest singular value of each matrix, columns scaled to length one."""
    if jacobians.shape[1] < jacobians.shape[2]:
        return np.zeros(len(jacobians))
    gram = np.swapaxes(jacobians, 1, 2) @ jacobians
    lengths = np.sqrt(np.einsum("nii->ni", gram))
    lengths[lengths == 0] = 1
    spectrum = np.linalg.eigvalsh(gram / lengths[:, :, None] / lengths[:, None, :])
    margins: np.ndarray = np.sqrt(np.clip(spectrum[:, 0], 0, None) / np.maximum(spectrum[:, -1], 1e-300))
    return margins


def shared_strength(sizes: np.ndarray) -> np.ndarray:
    """Return, per point, max_n min(r_na, r_nb): the tolerance up to which columns a and b share a row."""
    d = sizes.shape[2]
    strength = np.zeros((len(sizes), d, d))
    for a in range(d - 1):
        shared = np.minimum(sizes[:, :, a : a + 1], sizes[:, :, a + 1 :]).max(1)
        strength[:, a, a + 1 :] = strength[:, a + 1 :, a] = shared
    return strength


def widest_paths(strength: np.ndarray) -> np.ndarray:
    """Return the largest t for which two nodes are connected by edges of strength t or more."""
    widest = strength.copy()
    for k in range(widest.shape[-1]):
        widest = np.maximum(widest, np.minimum(widest[..., :, k : k + 1], widest[..., k : k + 1, :]))
    return widest


def components(edges: np.ndarray) -> Partition:
    """Return the connected components of a symmetric adjacency matrix, by their smallest members."""
    reached = widest_paths((edges | np.eye(len(edges), dtype=bool)).astype(np.int8)) > 0
    return tuple(frozenset(np.flatnonzero(reached[a]).tolist()) for a in np.unique(reached.argmax(1)))


def crossing(partition: Partition, n_latents: int) -> np.ndarray:
    """Indicate the pairs (a, b) of latents in different slots."""
    slot = slot_of(partition, n_latents)
    return slot[:, None] != slot[None, :]


def slot_of(partition: Partition, n_latents: int) -> np.ndarray:
    """Return the slot of each latent."""
    slot = np.empty(n_latents, dtype=int)
    for k, block in enumerate(partition):
        slot[list(block)] = k
    return slot


def slot_max(values: np.ndarray, partition: Partition) -> np.ndarray:
    """Return the largest value of each slot along the last axis."""
    if all(len(block) == 1 for block in partition):
        return values[..., [min(block) for block in partition]]
    return np.stack([values[..., sorted(block)].max(-1) for block in partition], axis=-1)


def row_basis(jacobians: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rewrite each Jacobian in the basis dual to d of its rows: R = J T with d unit rows.

    The rows are found by elimination with complete pivoting, all points at once. Two columns of R share a row
    iff they share one in every such basis, up to paths: connected components of the columns of R are those of
    the row matroid of J, whatever the basis of latents was.

    Returns
    -------
    r : (n, x, z) array
    t : (n, z, z) array
        r = jacobians @ t where the Jacobian has full rank.
    margin : (n,) array
        Smallest pivot over the largest; at most the tolerance iff columns are dependent.
    """
    n, _, d = jacobians.shape
    sizes = np.abs(jacobians).max(1, keepdims=True)
    scale = np.where(sizes > 0, sizes, 1)
    r, t = jacobians / scale, np.eye(d) / scale
    free_rows, free_columns = np.ones(r.shape[:2], dtype=bool), np.ones((n, d), dtype=bool)
    every, pivots = np.arange(n), []
    for _ in range(min(r.shape[1:])):
        candidates = np.abs(r) * free_rows[:, :, None] * free_columns[:, None, :]
        row, column = np.unravel_index(candidates.reshape(n, -1).argmax(1), r.shape[1:])
        pivot = r[every, row, column]
        pivots.append(candidates[every, row, column])
        usable = pivots[-1] > tolerance * pivots[0]
        _eliminate(r, t, row, column, np.where(usable, pivot, 1.0), usable)
        free_rows[every, row] = free_columns[every, column] = False
    found = np.array(pivots)
    smallest = found.min(0) if len(found) == d else np.zeros(n)
    return r, t, smallest / np.where(found[0] > 0, found[0], 1)


def _eliminate(
    r: np.ndarray, t: np.ndarray, row: np.ndarray, column: np.ndarray, pivot: np.ndarray, usable: np.ndarray
) -> None:
    """Make the pivot row a unit row, by adding multiples of the pivot column to the others."""
    every = np.arange(len(r))
    shares = r[every, row, :] * usable[:, None]
    shares[every, column] = 0
    for matrix in (r, t):
        matrix[every, :, column] /= pivot[:, None]
        matrix -= matrix[every, :, column][:, :, None] * shares[:, None, :]
