"""How sparse a triangular model of generic data with a given structure can be, over all orderings.

With independent latents the triangular (Knothe-Rosenblatt) model of x in a given order makes x_k depend on
its l-th latent only if x_k and x_l are dependent given what comes before x_l; for linear Gaussian mixing
exactly then. So an ordering costs, for each x_l in turn, the number of x_k with a partial covariance with x_l
given the set B of variables before it, which depends on B as a set: a shortest path over subsets finds the
best ordering without going through all of them. Weights are drawn modulo a prime, where zero is zero and
generic weights are met with a chance of error below one in a million.

An ordering may also recover the truth, or mix only what no theorem separates along the same structure. The
count is of the others: they have fewer edges, or they mix more. In the latter case, in terms of the true
latents, some direction has no member whose children contain those of all others, or more directions have
their top in a block than the block has latents.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from unmix.structure import Structure

PRIME = 2**31 - 1  # products of two residues fit into 64 bits
LARGEST = 12  # observed variables of a connected part: 2^12 subsets take about 60 milliseconds


@dataclass(frozen=True)
class Count:
    """The fewest edges of a kind of model: of all of them, and of those that contradict the theorems."""

    least: float
    other: float
    order: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Sets:
    """Independent sets B of observed variables of one size, each with its cheapest orders."""

    masks: np.ndarray  # (m,) sets as bits
    mixed: np.ndarray  # (m,) whether separated latents are mixed by now
    used: np.ndarray  # (m, z) how many directions have their top in the block of a latent
    residuals: np.ndarray  # (m, x, z) weights of x given B, modulo PRIME
    covariances: np.ndarray  # (m, x, x) partial covariances given B, modulo PRIME
    costs: np.ndarray  # (m,)
    orders: np.ndarray  # (m, size)


def search(support: np.ndarray) -> tuple[Count, Count] | None:
    """Count the edges of triangular models and of copies of x; None if latents outnumber what x can tell.

    Parameters
    ----------
    support : ndarray of bool, shape (x, z)
        With x at most `LARGEST`, and every latent with a child.

    Returns
    -------
    tuple of two Count, or None
        Triangular models with independent latents over all orderings; models whose latents are z of the
        observed variables themselves, over all choices.

    Examples
    --------
    >>> triangular, copies = search(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool))
    >>> triangular.other, copies.other
    (6, 3)
    """
    contained = Structure(support).contained()
    sets = _start(support)
    for _ in range(support.shape[1]):
        sets = _extend(sets, contained)
        if not len(sets.masks):
            return None
    other = sets.mixed | (sets.costs < support.sum())
    return _cheapest(sets.costs, other, sets.orders), _copies(support, sets, contained)


def _start(support: np.ndarray) -> _Sets:
    """Begin with nothing known: generic weights W on the support, and W W'."""
    weights = np.random.default_rng(0).integers(1, PRIME, support.shape) * support
    covariance = (weights[:, None, :] * weights[None, :, :] % PRIME).sum(-1) % PRIME
    none = np.zeros((1, support.shape[1]), int)
    return _Sets(
        none[:, 0], none[:, 0] > 0, none, weights[None], covariance[None], none[:, 0], np.zeros((1, 0), int)
    )


def _extend(sets: _Sets, contained: np.ndarray) -> _Sets:
    """Add one observed variable to each set in every way; keep the cheapest mixed and unmixed order."""
    degrees = (sets.covariances != 0).sum(1)  # how many x_k depend on x_l given B
    at, row = np.nonzero(np.diagonal(sets.covariances, axis1=1, axis2=2))
    used, over = _used(sets.used[at], sets.residuals[at, row] != 0, contained)
    masks, mixed, costs = (
        sets.masks[at] | (1 << row),
        sets.mixed[at] | over,
        sets.costs[at] + degrees[at, row],
    )
    by_cost = np.lexsort((costs, 2 * masks + mixed))
    kept = by_cost[np.unique((2 * masks + mixed)[by_cost], return_index=True)[1]]
    at, row = at[kept], row[kept]
    covariances, each = sets.covariances[at], np.arange(len(row))
    column = covariances[each, :, row]
    scaled = column * _inverse(covariances[each, row, row])[:, None] % PRIME
    return _Sets(
        masks[kept],
        mixed[kept],
        used[kept],
        _less(sets.residuals[at], scaled, sets.residuals[at, row]),
        _less(covariances, scaled, column),
        costs[kept],
        np.column_stack([sets.orders[at], row]),
    )


def _less(matrices: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Subtract a product of rank one from each matrix, modulo PRIME."""
    return (matrices - column[:, :, None] * row[:, None, :] % PRIME) % PRIME


def _used(used: np.ndarray, directions: np.ndarray, contained: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give each direction to the block at its top, and say where there is none or it is full."""
    above_all = directions & (directions @ ~contained == 0)
    same = contained & contained.T
    block = same.argmax(1)[above_all.argmax(1)]  # the first latent with the same children stands for it
    used = used + (np.arange(len(contained)) == block[:, None])
    full = used[np.arange(len(used)), block] > same.sum(1)[block]
    return used, ~above_all.any(1) | full


def _copies(support: np.ndarray, bases: _Sets, contained: np.ndarray) -> Count:
    """Take the variables P of a basis as latents: x_i then depends on x_p iff P - p + i is a basis as well.

    The truth in terms of them has the inverse of the weights of P: z_j depends on x_p iff its entry is not 0.
    """
    n_observed, n = support.shape
    masks, first = np.unique(bases.masks, return_index=True)
    rows = np.sort(bases.orders[first], axis=1)
    bits = 1 << np.arange(n_observed)
    inside = (masks[:, None] & bits) != 0
    exchanged = (masks[:, None, None] ^ bits[:, None]) | bits  # (bases, p, i)
    depends = np.isin(exchanged, masks) & inside[:, :, None] & ~inside[:, None, :]
    inverse = _inverses(_start(support).residuals[0][rows]) != 0  # (bases, z, p)
    used, mixed = np.zeros((len(masks), n), int), np.zeros(len(masks), bool)
    for p in range(n):
        used, over = _used(used, inverse[:, :, p], contained)
        mixed |= over
    costs = n + depends.sum((1, 2))
    return _cheapest(costs, mixed | (costs < support.sum()), rows)


def _cheapest(costs: np.ndarray, other: np.ndarray, orders: np.ndarray) -> Count:
    if not other.any():
        return Count(int(costs.min()), inf)
    best = int(np.where(other, costs, inf).argmin())
    return Count(int(costs.min()), int(costs[best]), tuple(orders[best].tolist()))


def _inverses(matrices: np.ndarray) -> np.ndarray:
    """Invert matrices modulo PRIME, by elimination with a search for pivots."""
    m, n, _ = matrices.shape
    work = np.concatenate([matrices, np.broadcast_to(np.eye(n, dtype=int), matrices.shape)], axis=2)
    each = np.arange(m)
    for k in range(n):
        pivot = k + (work[:, k:, k] != 0).argmax(1)
        work[each, k], work[each, pivot] = work[each, pivot], work[each, k].copy()
        work[:, k] = work[:, k] * _inverse(work[:, k, k])[:, None] % PRIME
        column = work[:, :, k].copy()
        column[:, k] = 0
        work = _less(work, column, work[:, k])
    return work[:, :, n:]


def _inverse(values: np.ndarray) -> np.ndarray:
    """Return a^(PRIME - 2), the inverse of a modulo PRIME (Fermat)."""
    result, power, exponent = np.ones_like(values), values, PRIME - 2
    while exponent:
        if exponent & 1:
            result = result * power % PRIME
        power, exponent = power * power % PRIME, exponent >> 1
    return result
