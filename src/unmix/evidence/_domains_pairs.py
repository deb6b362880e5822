"""What tells two latents apart within domains: how dependent a turn would make them.

Latents that are independent in each domain stay so under a turn of the pair only if nothing protects them:
Gaussian laws whose variances change in the same proportion. So the dependence that turns cause is evidence
for a pair, and the dependence of the pair as it stands is evidence against it.
"""

import numpy as np
from scipy.special import ndtri

APART = np.arcsin(
    np.sqrt(1 - 0.95**2)
)  # of the turn from which on a latent is no longer the same: 18 degrees
_ANGLES = 9
_SHAPES = 3  # statistics of shape, each near 1 where the two are independent


def turned(pair: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the dependence of two latents after turns from 18 to 72 degrees, shape (n_angles,).

    >>> rng = np.random.default_rng(0)
    >>> u = np.arange(600) % 2
    >>> alike = rng.normal(size=(600, 2))
    >>> apart = np.array([[1, 3], [3, 1]])[u] * alike
    >>> bool(turned(alike, u).min() < 20 < turned(apart, u).min())
    True
    """
    e = inside(pair, u) @ _whitener(pair, u)
    angles = np.linspace(APART, np.pi / 2 - APART, _ANGLES)
    return np.array([dependence(e @ _turn(angle), u) for angle in angles])


def dependence(pair: np.ndarray, u: np.ndarray) -> float:
    """Return how dependent two latents are within domains; about `degrees` if they are not.

    Of their normal scores within domains: twice the log-likelihood that a correlation in each domain gains,
    and, over all, squared correlations of sizes with sizes and with signs.
    """
    e = np.stack([normal_scores(column, u) for column in pair.T], axis=1)
    counts, square = np.bincount(u), np.maximum(_by_domain(np.square(e), u), 1e-12)
    r = _by_domain(e[:, 0] * e[:, 1], u) / np.sqrt(square[:, 0] * square[:, 1])
    weight = np.maximum(counts - 2.5, 0)  # Bartlett (1954): so that small domains score no more than others
    linear = -(weight * np.log1p(-np.minimum(np.square(r), 1 - 1e-9))).sum()
    return float(linear + _shape(e))


def degrees(u: np.ndarray) -> int:
    """Return how many squares are summed up in `dependence`."""
    return int(u.max()) + 1 + _SHAPES


def normal_scores(column: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return what values of the same ranks within domains would be if they were normal.

    Tails and units then play no part, nor which function of a latent was found.

    >>> normal_scores(np.array([3.0, 1.0, 20.0, 10.0]), np.array([0, 0, 1, 1])).round(2)
    array([ 0.67, -0.67,  0.67, -0.67])
    """
    counts = np.bincount(u)
    order = np.lexsort((column, u))
    rank = np.empty(len(u))
    rank[order] = np.arange(len(u)) - (np.cumsum(counts) - counts)[u[order]]
    return ndtri((rank + 0.5) / counts[u])


def share(dependent: float, n_samples: int) -> float:
    """Return the squared correlation that would be as dependent, in each domain."""
    return float(-np.expm1(-dependent / n_samples))


def _shape(e: np.ndarray) -> float:
    size = np.abs(e) - np.abs(e).mean(0)
    pairs = ((size[:, 0], size[:, 1]), (e[:, 0], size[:, 1]), (size[:, 0], e[:, 1]))
    return float(sum(_squared_correlation(a, b) for a, b in pairs) * len(e))


def _squared_correlation(a: np.ndarray, b: np.ndarray) -> float:
    both = (a @ a) * (b @ b)
    return float((a @ b) ** 2 / both) if both > 0 else 0.0


def by_chance(u: np.ndarray, rng: np.random.Generator, draws: int = 10) -> float:
    """Return what the least of these turns scores on average for Gaussian latents that do not change."""
    shape = (len(u), 2)
    return float(np.mean([turned(rng.normal(size=shape), u).min() for _ in range(draws)]))


def inside(codes: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return codes less their means in each domain."""
    return codes - _by_domain(codes, u)[u]


def _by_domain(values: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return means in each domain."""
    columns = values.reshape(len(values), -1)
    sums = np.array([np.bincount(u, weights=column) for column in columns.T]).T
    means = sums / np.maximum(np.bincount(u), 1)[:, None]
    return means.reshape(-1, *values.shape[1:])


def _whitener(pair: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the least change that makes the two uncorrelated within domains, on average."""
    e = inside(pair, u)
    spread = np.sqrt(np.square(e).mean(0))
    scale = np.diag(1 / np.where(spread > 0, spread, 1))
    values, vectors = np.linalg.eigh(scale @ (e.T @ e / len(e)) @ scale)
    return scale @ vectors @ np.diag(1 / np.sqrt(np.maximum(values, 1e-9))) @ vectors.T


def _turn(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
