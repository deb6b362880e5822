"""Which observed variables a slot moves alone, and whether any data would show as many.

A code of n numbers can copy n observed variables, whatever the truth is, so that a slot of m latents has m
rows of its own for free. Further rows whose gradient stays within the slot are no coincidence: in general
position a gradient points anywhere in latent space.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import betainc, gammaln

Slots = tuple[tuple[int, ...], ...]

ALONE = 0.5  # share of a row's influence from which on the row is a slot's own
_DRAWS = 30
_COPY = 1 - 1e-6  # correlation from which on a variable is another one in other units
TWINS = 1  # rows that come free beside the copies, since they resemble one
_TWIN = 0.003  # chance that a variable is much like one that is copied: no row is rarer evidence than that


@dataclass(frozen=True, eq=False)
class Influence:
    """Jacobians of a decoder in slots: rows of unit variance, and codes that are white within each slot.

    Attributes
    ----------
    jacobians : ndarray of shape (n_points, n_rows, n_latents)
    slots : tuple of tuple of int
    """

    jacobians: np.ndarray
    slots: Slots

    @cached_property
    def squares(self) -> np.ndarray:
        """The variance that each slot gives each row, of shape (n_rows, n_slots)."""
        means = np.square(self.jacobians).mean(0)
        return np.stack([means[:, slot].sum(1) for slot in self.slots], axis=1)

    @cached_property
    def shares(self) -> np.ndarray:
        """The share of each slot in what moves a row."""
        total = self.squares.sum(1, keepdims=True)
        return self.squares / np.where(total > 0, total, 1)

    @cached_property
    def ranks(self) -> np.ndarray:
        """In how many directions the gradient of each row points, over the points; 1 for linear rows."""
        grams = np.einsum("pxy,pxz->xyz", self.jacobians, self.jacobians)
        total = np.einsum("xyy->x", grams) ** 2
        return np.maximum(total / np.maximum(np.square(grams).sum((1, 2)), 1e-300), 1.0)

    def own(self, k: int) -> np.ndarray:
        """Return the rows that slot k moves more than all others together."""
        return np.flatnonzero(self.shares[:, k] > ALONE)

    def evidence(self, k: int) -> tuple[float, int]:
        """Return -log10 p of the rows that are the slot's own, and how many these are.

        Rows that slot k moves alone protect it from all others at once. Where it shares all its rows, those
        that slot j leaves alone protect it from slot j, and the weakest slot j counts.
        """
        n, m = self.jacobians.shape[2], len(self.slots[k])
        alone = surprise(1 - self.shares[:, k], m, n - m, self.ranks)
        pairs = [self._beside(k, j) for j in range(len(self.slots)) if j != k]
        return max(alone, min(pairs, default=(0.0, 0)))

    def _beside(self, k: int, j: int) -> tuple[float, int]:
        moved = self.squares[:, k] > self.squares[:, j]
        width = len(self.slots[j])
        leaks = np.where(moved, self.shares[:, j], 1.0)
        return surprise(leaks, self.jacobians.shape[2] - width, width, self.ranks)


def influence(jacobians: np.ndarray, codes: np.ndarray, x: np.ndarray, slots: Slots) -> Influence:
    """Standardise Jacobians: rows by the spread of x, and each slot by the covariance of its codes."""
    spread = x.std(0)
    scaled = jacobians / np.where(spread > 0, spread, 1)[:, None]
    white = np.zeros_like(scaled)
    for slot in map(list, slots):
        root = np.linalg.cholesky(_covariance(codes[:, slot]))
        white[:, :, slot] = scaled[:, :, slot] @ root
    return Influence(white, slots)


def surprise(
    leaks: np.ndarray, free: int, outside: int, ranks: np.ndarray | float = 1.0
) -> tuple[float, int]:
    """Return -log10 of the chance that so many rows leak so little, and how many rows that is.

    A gradient in general position has a share of its square outside a slot with the law
    Beta(outside / 2, free / 2); one that turns from sample to sample in r directions has it r times over.
    `free` rows are copies. The union over which rows are copied, which follow, and how many is counted.
    Variables may resemble each other, which no law of general position knows: one twin of a copy comes free
    too, and no row counts for more than 3 in 1000.

    Examples
    --------
    >>> surprise(np.array([0.0, 0.0, 0.5, 0.6, 0.7]), 2, 2)[0]  # copies only
    0.0
    >>> round(surprise(np.array([0.0] * 10 + [0.6] * 10), 2, 2)[0], 1)
    9.8
    """
    d, r = len(leaks), np.broadcast_to(ranks, np.shape(leaks)) / 2
    known = free + TWINS
    more = np.arange(1, d - known + 1)
    if not len(more) or outside == 0 or free == 0:
        return 0.0, min(free, d)
    chance = np.sort(betainc(outside * r, free * r, np.clip(leaks, 0, 1)))[known:]
    rare = more * np.log10(np.maximum(chance, _TWIN))
    found = -(rare + _choices(d, free) + _choices(d - known, more) + np.log10(d))
    best = int(found.argmax())
    return float(max(found[best], 0.0)), int(known + best + 1)


def distinct(x: np.ndarray) -> np.ndarray:
    """Return the columns that repeat no earlier one in other units, and vary.

    >>> distinct(np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 1.0], [4.0, 8.0, 0.0], [0.0, 0.0, 3.0]])).tolist()
    [0, 2]
    """
    varied = np.flatnonzero(x.std(0) > 0)
    alike = np.triu(np.abs(np.atleast_2d(np.corrcoef(x[:, varied].T))) > _COPY, 1)
    return varied[~alike.any(0)]


def connection(jacobians: np.ndarray) -> float:
    """Return how hard a slot is to split: 0 for two slots in one, up to 1.

    With H the projection onto the columns of the slot's Jacobian, rows i and j are linked by E[H_ij^2]
    whatever the coordinates within the slot are. Two slots in one have no link between their rows. The value
    is the spectral gap of the graph.

    References
    ----------
    Brady et al. (2023), Provably learning object-centric representations, Definition 4 (irreducibility),
    arXiv:2305.14229. The graph is ours.
    """
    links, degrees = _links(jacobians)
    root = np.sqrt(np.maximum(degrees, 1e-12))
    return 1 - float(np.linalg.eigvalsh(links / root[:, None] / root)[-2])


def scattered(jacobians: np.ndarray, rng: np.random.Generator) -> float:
    """Return the connection of rows of the same size that point anywhere within the slot."""
    sizes = np.sqrt(np.square(jacobians).sum(2).mean(0))
    rows = rng.normal(size=(_DRAWS, len(sizes), jacobians.shape[2]))
    rows *= (sizes / np.linalg.norm(rows, axis=2))[:, :, None]
    return float(np.mean([connection(each[None]) for each in rows]))


def leverage(jacobians: np.ndarray) -> float:
    """Return how much one row alone says of a direction of the slot: 1 where it copies the row."""
    return float(_links(jacobians)[1].max())


def weakest(jacobians: np.ndarray) -> float:
    """Return the variance, in all rows together, from the direction of the slot that gives least."""
    gram = np.einsum("pxy,pxz->yz", jacobians, jacobians) / len(jacobians)
    return float(np.linalg.eigvalsh(gram)[0])


def _links(jacobians: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    basis = np.linalg.qr(jacobians)[0]
    projections = basis @ np.swapaxes(basis, 1, 2)
    return np.square(projections).mean(0), np.einsum("pii->i", projections) / len(projections)


def _choices(n: int, k: int | np.ndarray) -> np.ndarray:
    return np.asarray((gammaln(n + 1) - gammaln(np.add(k, 1)) - gammaln(np.subtract(n, k) + 1)) / np.log(10))


def _covariance(codes: np.ndarray) -> np.ndarray:
    m = codes.shape[1]
    found = np.cov(codes.T, bias=True).reshape(m, m)
    return found + 1e-9 * max(float(np.trace(found)), 1e-200) / m * np.eye(m)
