"""The sparsity gap of Type S: how many rows more any basis costs that mixes slots."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._derivatives import Partition, Slots, blocks, jacobian_samples, relative
from ._elementary import Directions, affordable, elementary
from ._factors import Samples
from ._gap_bounds import exchange, generic_position, private_rows, trivial


@dataclass(frozen=True)
class SparsityGap:
    """The smallest gap over the sampled points; see `sparsity_gap`. Truthy iff it is surely positive.

    Attributes
    ----------
    lower, upper : int or None
        Bounds on the gap, equal if `exact`; None where there is one slot only, so that nothing can be mixed.
    exact : bool
    method : str
        "search", "bounds", "bounds, generic entries" or "one slot".
    aligned : int or None
        The fewest rows that an aligned basis moves (rho+) at the point of the smallest gap, where searched.
    point : int
        The sample at which the gap, or the bound that decides, is smallest.
    share : float
        Share of samples at which the gap is surely positive.
    """

    lower: int | None
    upper: int | None
    exact: bool
    method: str
    aligned: int | None = None
    point: int = 0
    share: float = 1.0

    def __bool__(self) -> bool:
        return self.lower is None or self.lower > 0

    @property
    def decided(self) -> bool:
        """Whether the sign of the gap is known."""
        return bool(self) or (self.upper is not None and self.upper <= 0)


def sparsity_gap(
    jacobians: ArrayLike,
    partition: Slots,
    *,
    tolerance: float = 1e-6,
    generic: bool = False,
    search: int = 20_000,
) -> SparsityGap:
    """Compare the sparsest basis aligned with the slots with the sparsest one that is not.

    With ||J U||_0 the number of non-zero entries in a basis U of latent directions, the gap is the minimum
    over bases that have a direction across slots, less the minimum over those that have none. Type S asks
    that it be positive at every point.

    Parameters
    ----------
    jacobians : array-like of shape (n, n_observed, n_latents) or (n_observed, n_latents)
    partition : int or iterable of iterables of int
        Number of equal consecutive slots, or the latents of each.
    tolerance : float
        Entries below this share of the largest in their column count as zero, and so do sums that cancel to
        this share of their terms.
    generic : bool
        Where the search is too large, assume that entries are in general position (no two cancellations
        coincide). It is an assumption, and named as one.
    search : int
        How many row subsets may be looked at, over all points (which count 100 at least, and as much again
        for each slot). The search is exact: every direction with a minimal support is found. Beyond it bounds
        are given.

    Returns
    -------
    SparsityGap

    Examples
    --------
    >>> shifted = np.zeros((6, 2))
    >>> shifted[:4, 0], shifted[2:, 1] = (1, 2, 3, 4), (1, 1, 1, 1)
    >>> gap = sparsity_gap(shifted, 2)
    >>> gap.aligned, gap.lower, gap.upper, gap.exact
    (8, 1, 1, True)
    >>> sparsity_gap(shifted, 2, search=0)
    SparsityGap(lower=0, upper=1, exact=False, method='bounds', aligned=None, point=0, share=0.0)

    References
    ----------
    Matthes, Han and Shen (2026), Mechanistic independence, Type S (sparsity gap), arXiv:2509.22196.
    """
    samples = Samples(jacobian_samples(jacobians), relative(tolerance))
    slots = blocks(partition, samples.jacobians.shape[2])
    if len(slots) == 1:
        return SparsityGap(None, None, True, "one slot")
    if searchable(samples, slots, search):
        return searched(samples, slots)
    return bounded(samples, slots, generic)


def searchable(samples: Samples, slots: Partition, search: int) -> bool:
    """Say whether columns are independent everywhere, and the exact search small enough."""
    views = (view for jacobian in samples.jacobians for view in _views(jacobian, slots))
    return affordable(views, len(samples.jacobians) * (1 + len(slots)), samples.tolerance, search)


def _views(jacobian: np.ndarray, slots: Partition) -> list[np.ndarray]:
    return [jacobian, *(jacobian[:, sorted(block)] for block in slots)]


def searched(samples: Samples, slots: Partition) -> SparsityGap:
    """Find the exact gap at each point, and return the smallest."""
    found = [_exact(jacobian, slots, samples.tolerance) for jacobian in samples.jacobians]
    gaps = np.array([gap for gap, _ in found])
    point, least = int(gaps.argmin()), int(gaps.min())
    return SparsityGap(least, least, True, "search", found[point][1], point, float((gaps > 0).mean()))


def _exact(jacobian: np.ndarray, slots: Partition, tolerance: float) -> tuple[int, int]:
    """Return rho- less rho+, and rho+."""
    directions, *within = (elementary(view, tolerance) for view in _views(jacobian, slots))
    aligned = sum(part.lightest for part in within)
    return directions.lightest + _detour(directions, slots, tolerance) - aligned, aligned


def _detour(directions: Directions, slots: Partition, tolerance: float) -> int:
    """Return min wt(u) - reach(u) over all u across slots, elementary or a sum of two elementary directions.

    Exchanging u into a lightest basis costs its weight less its reach. Among directions within a given
    support, a generic one has the largest reach, and two elementary ones suffice to cross slots there.
    """
    touched = directions.slots(slots, tolerance)
    weights, reach, across = directions.weights, directions.reach, touched.sum(1) > 1
    best = int((weights - reach)[across].min(initial=len(directions.supports[0])))
    counted = directions.supports.astype(np.float32)
    for first in np.argsort(weights - reach, kind="stable"):
        if weights[first] - reach[first] + 1 >= best:
            break
        union = weights + weights[first] - (counted @ counted[first]).astype(int)
        apart = (touched | touched[first]).sum(1) > 1
        best = min(best, int((union - np.maximum(reach, reach[first]))[apart].min(initial=best)))
    return best


def bounded(samples: Samples, slots: Partition, generic: bool = False) -> SparsityGap:
    """Bound the gap at each point; points with the same supports are bounded together."""
    n = len(samples.jacobians)
    lower, upper = np.full(n, -1), np.zeros(n, dtype=int)
    full = samples.independence > samples.tolerance
    for alike in samples.patterns:
        same = alike[full[alike]]  # elsewhere a free direction mixes at no cost, and the gap is not positive
        if len(same):
            pattern = samples.supports[same[0]]
            upper[same] = exchange(pattern, slots)
            private = private_rows(samples.scaled[same], pattern, slots, samples.tolerance)
            lower[same] = np.maximum(private, generic_position(pattern, slots)) if generic else private
    lower = np.minimum(np.where(lower >= 0, lower, trivial(samples.supports)), upper)
    low, high = int(lower.min()), int(upper.min())
    point = int((lower if high > 0 else upper).argmin())
    method = "bounds, generic entries" if generic else "bounds"
    return SparsityGap(low, high, low == high, method, None, point, float((lower > 0).mean()))
