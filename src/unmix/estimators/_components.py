"""The components of a mixture whose supports are coordinate subspaces, from codes and activity patterns."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

_LEAST_SHARE = 0.002  # of the samples; rarer patterns are mistakes of single entries


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
    masks, group, counts = np.unique(active, axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    least = max(2, int(_LEAST_SHARE * len(codes)))
    kept = [j for j in np.argsort(-counts, kind="stable") if counts[j] >= least] or [int(counts.argmax())]
    described = [_moments(codes[group == j], masks[j]) for j in kept]
    means, covariances = map(np.stack, zip(*described, strict=True))
    return Components(counts[kept] / counts[kept].sum(), means, covariances, masks[kept])


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
