"""Distances between two sets of images, in features that the user names; lower is better."""

import numpy as np
from numpy.typing import ArrayLike

from ._checks import check_units, unmasked

_ROWS = 1000  # of a kernel matrix that are held at a time
_STRANGERS = 10  # of each row, that partners are compared with


def frechet_distance(real: ArrayLike, made: ArrayLike) -> float:
    """Return the Frechet distance between normal laws with the moments of two sets of features.

    |m - m'|^2 + tr(C + C' - 2 (C C')^(1/2)). It is biased upwards for few samples, by about as much as two
    halves of the real set are apart: print that beside it. It is FID only for the features of one Inception
    network.

    Parameters
    ----------
    real, made : array-like of shape (n, n_features) and (m, n_features)

    Returns
    -------
    float
        0 for equal moments.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(500, 3))
    >>> round(frechet_distance(x, x + [3, 4, 0]), 6)
    25.0

    References
    ----------
    Heusel et al. (2017), GANs trained by a two time-scale update rule, Eq. (6), arXiv:1706.08500; Dowson and
    Landau (1982).
    """
    x, y = _features(real, made)
    gap = np.square(x.mean(0) - y.mean(0)).sum()
    first, second = (np.atleast_2d(np.cov(each, rowvar=False)) for each in (x, y))
    root = _root(first)
    cross = np.linalg.eigvalsh(root @ second @ root).clip(min=0)
    return float(max(0.0, gap + np.trace(first) + np.trace(second) - 2 * np.sqrt(cross).sum()))


def kernel_distance(real: ArrayLike, made: ArrayLike, *, degree: int = 3) -> float:
    """Return the squared maximum mean discrepancy of two sets of features, without bias.

    The kernel is (x.y / n_features + 1)^degree. Equal laws give 0 in expectation, whatever the number of
    samples, so that single values may be negative.

    Parameters
    ----------
    real, made : array-like of shape (n, n_features) and (m, n_features)
    degree : int

    Returns
    -------
    float

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(2, 500, 3))
    >>> abs(kernel_distance(x, y)) < 0.05 < kernel_distance(x, y + 1)
    True

    References
    ----------
    Binkowski et al. (2018), Demystifying MMD GANs, Section 4, arXiv:1801.01401; Gretton et al. (2012), Eq.
    (3).
    """
    x, y = _features(real, made)
    n, m = len(x), len(y)
    within = (_sum(x, x, degree) - _diagonal(x, degree)) / (n * (n - 1))
    other = (_sum(y, y, degree) - _diagonal(y, degree)) / (m * (m - 1))
    return float(within + other - 2 * _sum(x, y, degree) / (n * m))


def content_distance(first: ArrayLike, second: ArrayLike) -> float:
    """Return how far partners are apart, for how far strangers are: content that two domains do not share.

    Row i of both are features of the same content in two domains, such as images that a generator made of
    the same noise. Features are centred within each domain, so that what the domain itself changes does not
    count; the mean distance between partners is divided by that between strangers. True pairs are the
    reference. A generator that ignores the domain has 0: read a distance by domain beside it.

    Parameters
    ----------
    first, second : array-like of shape (n, n_features)

    Returns
    -------
    float
        0 where partners are alike, about 1 where they are no more alike than strangers.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(200, 5))
    >>> round(content_distance(x, x + 3), 9), round(content_distance(x, x[::-1]), 1)
    (0.0, 1.0)
    """
    x, y = _features(first, second)
    if len(x) != len(y):
        raise ValueError(
            f"`second` must have a partner for each of the {len(x)} rows, got {len(y)}. Pair them."
        )
    a, b = x - x.mean(0), y - y.mean(0)
    partners = np.linalg.norm(a - b, axis=1).mean()
    others = [np.linalg.norm(a - np.roll(b, k, axis=0), axis=1).mean() for k in range(1, _STRANGERS + 1)]
    return float(partners / max(np.mean(others), 1e-12))


def _features(real: ArrayLike, made: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    x = np.asarray(unmasked(real, "real"), dtype=np.float64)
    y = np.asarray(unmasked(made, "made"), dtype=np.float64)
    for name, values in (("real", x), ("made", y)):
        if values.ndim != 2 or len(values) < 2:
            raise ValueError(
                f"`{name}` must be features of shape (n, n_features) with n of at least 2, got "
                f"{values.shape}. Pass images through a network first."
            )
        if not np.isfinite(values).all():
            raise ValueError(f"`{name}` must be finite, got nan or inf. Look at the network.")
        check_units(np.abs(values).max(initial=0), name)
    if x.shape[1] != y.shape[1]:
        raise ValueError(
            f"`made` must have as many features as `real`, {x.shape[1]}, got {y.shape[1]}. Use one network."
        )
    return x, y


def _root(matrix: np.ndarray) -> np.ndarray:
    """Return the symmetric root of a covariance."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(values.clip(min=0))) @ vectors.T


def _sum(x: np.ndarray, y: np.ndarray, degree: int) -> float:
    """Return the sum of the kernel matrix, a block of rows at a time."""
    blocks = (x[first : first + _ROWS] for first in range(0, len(x), _ROWS))
    return float(sum(((block @ y.T / x.shape[1] + 1) ** degree).sum() for block in blocks))


def _diagonal(x: np.ndarray, degree: int) -> float:
    return float(((np.square(x).sum(1) / x.shape[1] + 1) ** degree).sum())
