"""The components of a mixture whose supports are coordinate subspaces, from codes and activity patterns."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

_LEAST_SHARE = 0.002  # of the samples; rarer patterns are mistakes
_AT_ONCE = 100_000  # pairs of patterns compared at a time
_MISREAD, _OFTENER = 2, 5.0  # entries that may be wrong, and how much rarer each makes a pattern


@dataclass(frozen=True, eq=False)
class Components:
    """Gaussian components, the heaviest first.

    Attributes
    ----------
    weights : array of shape (n_mixture,)
    means : array of shape (n_mixture, n_components)
    covariances : array of shape (n_mixture, n_components, n_components)
        Zero in the rows and columns of variables that are inactive.
    masks : bool array of shape (n_mixture, n_components)
        The variables that vary in each component.
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    masks: np.ndarray


def components_of(codes: np.ndarray, active: np.ndarray) -> Components:
    """Group samples by their pattern and describe each group that is not rare.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> active = np.repeat([[True, False], [False, True]], [300, 100], axis=0)
    >>> found = components_of(rng.normal(size=(400, 2)) * active, active)
    >>> found.weights.tolist(), found.masks.tolist()
    ([0.75, 0.25], [[True, False], [False, True]])
    """
    masks, group = _mended(active)
    counts = np.bincount(group[group >= 0], minlength=len(masks))
    least = max(2, int(_LEAST_SHARE * len(codes)))
    kept = [j for j in np.argsort(-counts, kind="stable") if counts[j] >= least] or [int(counts.argmax())]
    described = [_moments(codes[group == j], masks[j]) for j in kept]
    means, covariances = map(np.stack, zip(*described, strict=True))
    return Components(counts[kept] / counts[kept].sum(), means, covariances, masks[kept])


def _mended(active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the patterns, and that of each sample, without those that misread entries make of others.

    A pattern that differs in one entry from one five times as frequent counts as that one, in two entries if
    it is 25 times as frequent. One that is too rare to be a component, and near to none, belongs to none: -1.
    """
    masks, group, counts = np.unique(active, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    least = min(_LEAST_SHARE / _OFTENER * len(active), counts.max())
    often, rare = order[counts[order] >= least], order[counts[order] < least]
    true: list[int] = []
    owner = np.full(len(masks), -1)
    for j in often:
        owner[j] = _nearest(masks[[j]], counts[[j]], masks[true], counts[true])[0]
        if owner[j] < 0:
            owner[j] = len(true)
            true.append(int(j))
    for some in np.array_split(rare, 1 + len(rare) * len(true) // _AT_ONCE):
        owner[some] = _nearest(masks[some], counts[some], masks[true], counts[true])
    return masks[true], owner[group.reshape(-1)]


def _nearest(masks: np.ndarray, counts: np.ndarray, true: np.ndarray, often: np.ndarray) -> np.ndarray:
    """Return for each pattern the nearest of the true ones that it may be a misreading of; -1 for none."""
    if not len(true):
        return np.full(len(masks), -1)
    apart = (masks[:, None] != true).sum(2)
    near = (apart <= _MISREAD) & (often >= _OFTENER**apart * counts[:, None])
    return np.where(near.any(1), np.where(near, apart, masks.shape[1] + 1).argmin(1), -1)


def _moments(codes: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance, with what is inactive exactly at zero."""
    exact = np.where(mask, codes, 0.0)
    return exact.mean(0), np.cov(exact, rowvar=False, ddof=0).reshape(codes.shape[1], -1)


def genericity_gap(found: Components) -> float:
    """Return how far Assumption 3.4 is from failing at the point where all supports meet.

    Components of one rank must have different Mahalanobis distances from it; the smallest difference of
    their squares is returned, inf where no two components have the same rank.

    Examples
    --------
    >>> masks = np.eye(2, dtype=bool)
    >>> axes = np.stack([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])])
    >>> genericity_gap(Components(np.full(2, 0.5), np.array([[3.0, 0.0], [0.0, 1.0]]), axes, masks))
    8.0

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Assumption 3.4, arXiv:2604.13218.
    """
    inverse = np.linalg.pinv(found.covariances, hermitian=True)
    squares = np.einsum("ji,jik,jk->j", found.means, inverse, found.means)
    ranks = found.masks.sum(1)
    pairs = combinations(range(len(ranks)), 2)
    return float(
        min((abs(squares[a] - squares[b]) for a, b in pairs if ranks[a] == ranks[b]), default=np.inf)
    )
