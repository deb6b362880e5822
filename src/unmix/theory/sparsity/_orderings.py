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

from ._counts import Count
from ._modular import PRIME, generic, inverse, less


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


def search(support: np.ndarray, most: float = inf) -> Count:
    """Count the edges of triangular models in place of all latents, beyond those of the truth.

    Parameters
    ----------
    support : ndarray of bool, shape (x, z)
        Of an injective structure; every latent has a child.
    most : float
        Leave out models with more edges than so many beyond those of the truth.

    Returns
    -------
    Count

    Examples
    --------
    >>> search(np.array([[1, 1], [1, 0]], dtype=bool))
    Count(least=0, other=0, order=(0, 1), latents=(0, 1), mixing=0)
    """
    n, contained = support.shape[1], Structure(support).contained()
    sets = _start(support)
    for known in range(n):  # each latent still to come has an edge at least
        sets = _extend(sets, contained, most + support.sum() - (n - known - 1))
    beyond = sets.costs - support.sum()
    others = np.flatnonzero(sets.mixed | (beyond < 0))
    if not len(others):
        return Count(0, inf)
    best = others[beyond[others].argmin()]
    fewest, mixing = int(beyond[best]), min(beyond[sets.mixed].tolist(), default=inf)
    return Count(min(0, fewest), fewest, tuple(sets.orders[best].tolist()), tuple(range(n)), mixing)


def _start(support: np.ndarray) -> _Sets:
    """Begin with nothing known: generic weights W on the support, and W W'."""
    weights = generic(support)
    covariance = (weights[:, None, :] * weights[None, :, :] % PRIME).sum(-1) % PRIME
    none = np.zeros((1, support.shape[1]), int)
    return _Sets(
        none[:, 0], none[:, 0] > 0, none, weights[None], covariance[None], none[:, 0], np.zeros((1, 0), int)
    )


def _extend(sets: _Sets, contained: np.ndarray, most: float) -> _Sets:
    """Add one observed variable to each set in every way; keep the cheapest mixed and unmixed order."""
    degrees = (sets.covariances != 0).sum(1)  # how many x_k depend on x_l given B
    at, row = np.nonzero((degrees > 0) & (sets.costs[:, None] + degrees <= most))
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
    scaled = column * inverse(covariances[each, row, row])[:, None] % PRIME
    return _Sets(
        masks[kept],
        mixed[kept],
        used[kept],
        less(sets.residuals[at], scaled, sets.residuals[at, row]),
        less(covariances, scaled, column),
        costs[kept],
        np.column_stack([sets.orders[at], row]),
    )


def _used(used: np.ndarray, directions: np.ndarray, contained: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give each direction to the block at its top, and say where there is none or it is full."""
    above_all = directions & (directions @ ~contained == 0)
    same = contained & contained.T
    block = same.argmax(1)[above_all.argmax(1)]  # the first latent with the same children stands for it
    used = used + (np.arange(len(contained)) == block[:, None])
    full = used[np.arange(len(used)), block] > same.sum(1)[block]
    return used, ~above_all.any(1) | full
