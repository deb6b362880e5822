"""A small independent component analysis on arrays, for scores and certificates that need one in passing.

The estimator `unmix.FastICA` is the one for large data. This one never fails: components that are Gaussian
cannot be told apart, so they may keep turning, and the result then says that it did not settle.
"""

from typing import NamedTuple

import numpy as np


class Whitening(NamedTuple):
    """Linear maps of rows: `centred @ white` has unit covariance, and `@ back` returns to where it was."""

    white: np.ndarray
    back: np.ndarray


class Components(NamedTuple):
    """`centred @ unmix` are components of unit variance, `components @ mix` returns to the centred table."""

    unmix: np.ndarray
    mix: np.ndarray
    settled: bool


def whitening(centred: np.ndarray, rtol: float = 1e-6) -> Whitening:
    """Return the maps to and from the directions whose variance exceeds `rtol` times the largest."""
    values, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
    kept = values > rtol * max(values[-1], np.finfo(float).tiny)
    spread, axes = np.sqrt(values[kept]), vectors[:, kept]
    return Whitening(axes / spread, (axes * spread).T)


def components(centred: np.ndarray, random_state: int, *, max_iter: int = 200) -> Components:
    """Separate a centred table into independent components by symmetric FastICA with log cosh.

    A few random starts are run on as many rows as suffice to tell them apart (4 d^2), the best is finished
    on all. Many components need one start only: the more there are, the less a bad one weighs.

    References
    ----------
    Hyvärinen (1999), Fast and robust fixed-point algorithms for independent component analysis.
    """
    to = whitening(centred)
    white = centred @ to.white
    rng = np.random.default_rng(random_state)
    n, d = white.shape
    few = white if n <= max(2000, 4 * d * d) else white[rng.permutation(n)[: max(2000, 4 * d * d)]]
    starts = [
        _iterate(few, _orthogonal(rng.normal(size=(d, d))), max_iter) for _ in range(3 if d <= 32 else 1)
    ]
    w, settled = max(starts, key=lambda start: _contrast(few @ start[0].T))
    if len(few) < n:
        w, settled = _iterate(white, w, max_iter)
    return Components(to.white @ w.T, w @ to.back, settled)


def look_gaussian(y: np.ndarray) -> np.ndarray:
    """Say which components of unit variance are within 3 standard errors of E[g'(y)] = E[g(y) y], as a
    normal's are by Stein's identity; shape (d,).
    """
    g = np.tanh(y)
    gap = 1.0 - g**2 - g * y
    return np.abs(gap.mean(0)) < 3 * gap.std(0) / np.sqrt(len(y))


def _iterate(white: np.ndarray, w: np.ndarray, max_iter: int, tol: float = 1e-10) -> tuple[np.ndarray, bool]:
    for _ in range(max_iter):
        g = np.tanh(white @ w.T)
        slope = 1.0 - np.einsum("nd,nd->d", g, g) / len(g)  # E[g'(y)], g' = 1 - tanh^2
        moved = _orthogonal(g.T @ white / len(white) - slope[:, None] * w)
        change = float(np.abs(np.abs(np.einsum("ij,ij->i", moved, w)) - 1).max())
        w = moved
        if change < tol:
            return w, True
    return w, False


def _orthogonal(matrix: np.ndarray) -> np.ndarray:
    """Return the nearest orthogonal matrix, (M M')^(-1/2) M."""
    u, _, vt = np.linalg.svd(matrix, full_matrices=False)
    return u @ vt


_GAUSSIAN = 0.3745672  # E[log cosh y] of a standard normal y


def _contrast(y: np.ndarray) -> float:
    """Sum over components of (E[log cosh y] - E[log cosh normal])^2, larger when less Gaussian."""
    size = np.abs(y)
    log_cosh = size + np.log1p(np.exp(-2 * size)) - np.log(2)
    return float(((log_cosh.mean(0) - _GAUSSIAN) ** 2).sum())
