"""Factor graphs: which latent directions act together, and the partition that their components make."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ._derivatives import Partition

RANK = 1e-6  # smaller singular values and pivots are rounding; tolerances for learned zeros may be larger


@dataclass(frozen=True, eq=False)
class Samples:
    """Jacobians of shape (n, x, z) with what every check reads off them, computed once.

    Arrays are (n, z, x): the column of each latent lies in one piece of memory.
    """

    jacobians: np.ndarray
    tolerance: float

    @cached_property
    def scaled(self) -> np.ndarray:
        """J_na / max_n |J_na| at each point: entries whatever the scale of their latents."""
        columns = np.ascontiguousarray(np.swapaxes(self.jacobians, 1, 2))
        largest = np.maximum(columns.max(2), -columns.min(2))
        largest[largest == 0] = 1  # a column that moves nothing stays as it is
        columns /= largest[:, :, None]
        return columns

    @cached_property
    def sizes(self) -> np.ndarray:
        """How large an entry is beside the largest of its column."""
        return np.abs(self.scaled)

    @cached_property
    def supports(self) -> np.ndarray:
        """Omega_a, latent by latent: the observed variables that it moves."""
        supports: np.ndarray = self.sizes > self.tolerance
        return supports

    @cached_property
    def containments(self) -> np.ndarray:
        """|Omega_a without Omega_b| at (a, b), per point: zero iff Omega_a is part of Omega_b."""
        counted = self.supports.astype(np.float32)
        outside: np.ndarray = counted @ np.swapaxes(1 - counted, 1, 2)
        return outside

    @cached_property
    def independence(self) -> np.ndarray:
        """Smallest over largest singular value at each point, columns scaled to length one."""
        return independence(self.scaled)

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
        latents = sorted(block)
        ever = np.flatnonzero(self.supports[:, latents].any((0, 1)))
        return self.scaled[:, latents][:, :, ever if len(ever) else slice(1)]


def independence(columns: np.ndarray) -> np.ndarray:
    """Return smallest over largest singular value of each (z, x) matrix, columns scaled to length one."""
    if columns.shape[2] < columns.shape[1]:
        return np.zeros(len(columns))
    gram = columns @ np.swapaxes(columns, 1, 2)
    lengths = np.sqrt(np.einsum("nii->ni", gram))
    lengths[lengths == 0] = 1
    spectrum = np.linalg.eigvalsh(gram / lengths[:, :, None] / lengths[:, None, :])
    margins: np.ndarray = np.sqrt(np.clip(spectrum[:, 0], 0, None) / np.maximum(spectrum[:, -1], 1e-300))
    return margins


def shared_strength(sizes: np.ndarray) -> np.ndarray:
    """Return, per point, max_n min(r_na, r_nb): the tolerance up to which columns a and b share a row."""
    n, d, _ = sizes.shape
    strength = np.zeros((n, d, d))
    for a in range(d - 1):
        shared = np.minimum(sizes[:, a : a + 1], sizes[:, a + 1 :]).max(2)
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
    """Return the largest value of each slot, latents being the axis before the last."""
    if all(len(block) == 1 for block in partition):
        return values[..., [min(block) for block in partition], :]
    return np.stack([values[..., sorted(block), :].max(-2) for block in partition], axis=-2)


def row_basis(columns: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rewrite each Jacobian in the basis dual to d of its rows, R = J T with d unit rows.

    The rows are found by elimination with complete pivoting, all points at once. Columns of R that share a
    row are linked; the connected components are those of the row matroid of J, whatever the basis of latents
    was.

    Parameters
    ----------
    columns : (n, z, x) array
        The Jacobians, transposed.

    Returns
    -------
    r : (n, z, x) array
        R, transposed.
    t : (n, z, z) array
        T, transposed: a new direction in each row.
    margin : (n,) array
        Smallest pivot over the largest; at most the tolerance iff columns are dependent.
    """
    n, d, x = columns.shape
    largest = np.abs(columns).max(2, keepdims=True)
    largest[largest == 0] = 1
    r, t = columns / largest, np.eye(d) / largest
    every, used, pivots = np.arange(n), np.zeros((n, d), dtype=bool), []
    for _ in range(min(d, x)):
        sizes = np.maximum(r.max(2), -r.min(2))
        sizes[used] = 0
        column = sizes.argmax(1)  # rows already used are zero here
        row = np.abs(r[every, column]).argmax(1)
        pivots.append(sizes[every, column])
        _eliminate(r, t, column, row, usable=pivots[-1] > tolerance * pivots[0])
        used[every, column] = True
    found = np.array(pivots)
    smallest = found.min(0) if len(found) == d else np.zeros(n)
    return r, t, smallest / np.where(found[0] > 0, found[0], 1)


def _eliminate(r: np.ndarray, t: np.ndarray, column: np.ndarray, row: np.ndarray, usable: np.ndarray) -> None:
    """Make the pivot row a unit row, by adding multiples of the pivot column to the others."""
    every = np.arange(len(r))
    pivot = np.where(usable, r[every, column, row], 1.0)[:, None]
    shares = r[every, :, row] * usable[:, None]
    shares[every, column] = 0
    for matrix in (r, t):
        matrix[every, column] /= pivot
        matrix -= shares[:, :, None] * matrix[every, column][:, None, :]
