"""Sets of latents of a connected structure, each replaced by a triangular model while the rest stay.

Let the latents outside of a set S stay as they are. Given these, x is a mixing of z_S alone, with the columns
of S: any triangular model of it fits, and the columns of the other latents need not change. So S costs what
`search` counts for its columns. A set that falls into parts without a common observed variable is replaced
part by part. Two sets that share one may be replaced by a model each, too; but then one of them alone is as
sparse as the truth if both together are, and it has been counted.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import accumulate
from math import comb, inf

import numpy as np

from ._counts import Count, joined
from ._orderings import search

BUDGET = 180_000  # sets of observed variables to go through, in about a second: 12 x 6 need 31,000


def replacements(support: np.ndarray) -> tuple[Count, bool]:
    """Count over all sets of latents, and say whether there was time for all.

    Parameters
    ----------
    support : ndarray of bool, shape (x, z)
        Of a connected and injective structure.

    Returns
    -------
    count : Count
    exact : bool
        If False, the count is over all latents together and over some smaller sets.

    Examples
    --------
    >>> nested = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1], [0, 0, 1]], dtype=bool)
    >>> count, exact = replacements(nested)
    >>> count.other, count.latents, exact
    (1, (0, 1), True)
    """
    connected = _connected(support)
    largest = _largest(support, connected)
    sets = [latents for latents in connected if len(latents) <= largest or latents == connected[-1]]
    best, sparser = Count(0, inf), dict[tuple[int, ...], Count]()
    for latents in sets:
        found = _replaced(support, latents, max(-1, best.other - 1))  # better ones, and all that are sparser
        best = min(best, found, key=lambda count: count.other)
        sparser |= {latents: found} if found.least < 0 else {}
    best = _saving(support, sets, sparser) if sparser else replace(best, mixing=best.other)
    return best, len(connected[-1]) - 1 <= largest


def _saving(support: np.ndarray, sets: list[tuple[int, ...]], sparser: dict[tuple[int, ...], Count]) -> Count:
    """Replace what makes the model sparser; and what mixes, with the edges saved in sets apart from it."""
    lightest, everything = _apart(support, sparser), frozenset(range(support.shape[1]))
    mixing = _replaced(support, sets[-1], 0).other  # all latents together count in any case
    for latents in sets:
        saved = lightest(everything - set(_near(support, latents))).least
        mixing = min(mixing, _replaced(support, latents, mixing - saved - 1).mixing + saved)
    return replace(lightest(everything), mixing=mixing)


def _replaced(support: np.ndarray, latents: tuple[int, ...], most: float) -> Count:
    rows = np.flatnonzero(support[:, latents].any(1))
    return search(support[rows][:, latents], most).named(rows, latents)


def _largest(support: np.ndarray, connected: list[tuple[int, ...]]) -> int:
    """Return the size up to which there is time for all sets but the full one, whatever their labels."""
    work = Counter[int]()
    for latents in connected[:-1]:
        work[len(latents)] += _work(support, latents)
    sums = zip(work, accumulate(work.values()), strict=True)
    return max((size for size, so_far in sums if so_far <= BUDGET), default=1)


def _work(support: np.ndarray, latents: tuple[int, ...]) -> int:
    """Count the sets of observed variables, at most as many as latents, that `search` goes through."""
    rows = int(support[:, latents].any(1).sum())
    return sum(comb(rows, size) for size in range(len(latents) + 1))


def _connected(support: np.ndarray) -> list[tuple[int, ...]]:
    """List the sets of two latents or more that are connected by common children, the small ones first."""
    near = [_near(support, (j,)) for j in range(support.shape[1])]
    levels: list[set[tuple[int, ...]]] = [{(j,) for j in range(len(near))}]
    while len(levels) < len(near):
        grown = (
            {*latents, k} for latents in levels[-1] for j in latents for k in near[j] if k not in latents
        )
        levels.append({tuple(sorted(latents)) for latents in grown})
    return [latents for level in levels[1:] for latents in sorted(level)] or [(0,)]


def _apart(support: np.ndarray, sparser: dict[tuple[int, ...], Count]) -> Callable[[frozenset[int]], Count]:
    """Choose, among free latents, the sets to replace that save most edges, no two with a common child."""
    touched = {latents: set(_near(support, latents)) for latents in sparser}

    @cache
    def best(free: frozenset[int]) -> Count:
        first = min(free, default=None)
        chosen = [latents for latents in sparser if latents[0] == first and free.issuperset(latents)]
        replaced = [joined([sparser[latents], best(free - touched[latents])]) for latents in chosen]
        stays = [Count(0, inf) if first is None else best(free - {first})]
        return min(stays + replaced, key=lambda count: count.least)

    return best


def _near(support: np.ndarray, latents: tuple[int, ...]) -> list[int]:
    """List the latents that share a child with one of these, which are among them."""
    return np.flatnonzero(support[support[:, latents].any(1)].any(0)).tolist()
