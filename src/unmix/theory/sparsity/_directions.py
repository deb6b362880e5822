"""How sparse models of generic data can be whose latents may be dependent: any directions will do.

Where latents may be dependent, x = W z is as well x = (W T) ẑ for every invertible T. Column k of W T is
W t_k: the edges of a model are those of n independent directions t_k, each counted by the entries of W t_k
that are not 0. Observed variables x_P in place of the latents z_S are a case of it, since z_S is linear in
x_P and the other latents.

No column is sparser than one whose zeros fix its direction, an elementary one: n - 1 independent rows of W
are orthogonal to it. There are at most C(x, n - 1) of these, and the lightest basis of them is found
greedily, since independent directions are a matroid.

The count is of models that have fewer edges than the truth or mix more than the theorems leave open. If none
has fewer, let T be one that mixes more, and pair its directions with latents, such that each t_k alone can be
exchanged for its z_j (bases of a matroid can be paired so, with z_j in t_k). Then every exchange costs at
least nothing, and in one of them t_k holds a z_i whose children are not part of those of z_j: else T would
mix no more than it may. So no T has fewer edges than the best exchange of a single latent, and only these
are looked at. A direction that is not elementary has more edges than an elementary one in its place, hence
more than z_j, and is left out.
"""

from itertools import combinations
from math import inf

import numpy as np

from unmix.structure import Structure

from ._counts import Count
from ._modular import PRIME, determinants, generic, inverse, less


def directions(support: np.ndarray) -> Count:
    """Count the edges of models whose latents are any directions, beyond those of the truth.

    Parameters
    ----------
    support : ndarray of bool, shape (x, z)
        Of an injective structure.

    Returns
    -------
    Count

    Examples
    --------
    >>> directions(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)).other
    -3
    >>> directions(np.array([[1, 0], [1, 1], [1, 1], [0, 1], [0, 1], [1, 0]], dtype=bool)).other
    1

    References
    ----------
    Rockafellar (1969), The elementary vectors of a subspace of R^N; Brualdi (1969), Comments on bases in
    dependence structures, for the pairing of bases.
    """
    weights = generic(support)
    found = _elementary(weights)
    edges = ((weights * found[:, None, :] % PRIME).sum(-1) % PRIME != 0).sum(1)
    least = _lightest(found, edges) - int(support.sum())
    if least < 0:
        return Count(least, least)
    inside = found != 0
    mixes = inside & (inside @ ~Structure(support).contained())  # t holds z_j, and some z_i not below it
    beyond = np.where(mixes, edges[:, None] - support.sum(0), inf)
    fewest = beyond.min()
    return Count(0, fewest if fewest == inf else int(fewest))


def _elementary(weights: np.ndarray) -> np.ndarray:
    """Return all directions (m, z) that n - 1 independent rows of W are orthogonal to, by minors."""
    x, n = weights.shape
    rows = weights[np.array(list(combinations(range(x), n - 1)), int)]  # (m, n - 1, z)
    minors = [(-1) ** k * determinants(np.delete(rows, k, 2)) for k in range(n)]
    found = np.stack(minors, 1) % PRIME
    return found[found.any(1)]


def _lightest(found: np.ndarray, edges: np.ndarray) -> int:
    """Return the edges of the lightest basis: n times the lightest direction independent of those chosen."""
    left, total = found, 0
    for _ in range(found.shape[1]):
        free = np.where((left != 0).any(1), edges, edges.max() + 1)
        best = int(free.argmin())
        total += int(edges[best])
        at = int((left[best] != 0).argmax())
        scaled = left[:, at] * inverse(left[best, at : at + 1]) % PRIME
        left = less(left[None], scaled[None], left[best][None])[0]
    return total
