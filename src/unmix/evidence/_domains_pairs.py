"""What tells two latents apart within domains: how dependent they would be if they were turned into each other.

Latents that are independent in each domain stay so under a turn of the pair only if nothing protects them:
Gaussian laws whose variances change in the same proportion. So the dependence that turns cause is evidence
for a pair, and the dependence of the pair as it stands is evidence against it.
"""

import numpy as np

APART = np.arcsin(np.sqrt(1 - 0.95**2))  # of the turn from which on a latent is no longer the same: 18 degrees
_ANGLES = 9
_SHAPES = 3  # statistics of shape, each near 1 where the two are independent


def turned(pair: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the dependence of two latents after turns from 18 to 72 degrees, shape (n_angles,).

    >>> rng = np.random.default_rng(0)
    >>> u = np.arange(600) % 2
    >>> alike, apart = (s[u] * rng.normal(size=(600, 2)) for s in (np.ones((2, 2)), np.array([[1, 3], [3, 1]])))
    >>> bool(turned(alike, u).min() < 20 < turned(apart, u).min())
    True
    """
    e = inside(pair, u) @ _whitener(pair, u)
    angles = np.linspace(APART, np.pi / 2 - APART, _ANGLES)
    return np.array([dependence(e @ _turn(angle), u) for angle in angles])


def dependence(pair: np.ndarray, u: np.ndarray) -> float:
    """Return how dependent two latents are within domains; about the number of domains plus 3 if they aren't.

    Twice the log-likelihood that Gaussian laws gain from a correlation in each domain, and, over all, squared
    correlations of sizes with sizes and with signs.
    """
    e = inside(pair, u)
    spread = _by_domain(np.square(e), u)
    e = e / np.sqrt(np.where(spread > 0, spread, 1))[u]
    r = _by_domain(e[:, 0] * e[:, 1], u)
    counts = np.bincount(u, minlength=len(r))
    linear = -(counts * np.log1p(-np.minimum(np.square(r), 1 - 1e-9))).sum()
    return float(linear + _shape(e))


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
