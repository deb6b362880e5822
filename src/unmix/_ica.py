"""A small independent component analysis on arrays, for scores and certificates that need one in passing.

The estimator `unmix.FastICA` is the one for large data. This one never fails: components that are Gaussian
cannot be told apart, so they may keep turning, and the result then says that it did not settle.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from unmix.rows import Rows, array_rows, changed, gathered

_STARTS, _ALONE = 3, 32  # random starts, and how many components need no more than one
_BUDGET, _LEAST = 4e11, 4  # multiplications of an iteration on many rows, and its least number of steps
_PATIENCE, _STUCK = 15, 0.1  # steps after which components of many rows must have come to rest by half
_CACHED = 2**19  # numbers of rows that are gone through at a time, so that products stay near the processor
_RESTING = 1e-4  # change below which a component of many rows is not looked at until all are at rest


class Whitening(NamedTuple):
    """Linear maps of rows: `centred @ white` has unit covariance, and `@ back` returns to where it was."""

    white: np.ndarray
    back: np.ndarray


class Components(NamedTuple):
    """`centred @ unmix` are components of unit variance, `components @ mix` returns to the centred table."""

    unmix: np.ndarray
    mix: np.ndarray
    settled: bool


def whitening(centred: Rows, rtol: float = 1e-6) -> Whitening:
    """Return the maps to and from the directions whose variance exceeds `rtol` times the largest."""
    values, vectors = np.linalg.eigh(sum(block.T @ block for block in centred.blocks()) / centred.n_rows)
    kept = values > rtol * max(values[-1], np.finfo(float).tiny)
    spread, axes = np.sqrt(values[kept]), vectors[:, kept]
    return Whitening(axes / spread, (axes * spread).T)


def components(centred: np.ndarray | Rows, random_state: int, *, max_iter: int = 200) -> Components:
    """Separate a centred table into independent components by symmetric FastICA with log cosh.

    A few random starts are run on as many rows as suffice to tell them apart, the best is finished on all,
    block by block. Many components need one start only: the more there are, the less a bad one weighs.

    References
    ----------
    Hyvärinen (1999), Fast and robust fixed-point algorithms for independent component analysis.
    """
    rows = centred if isinstance(centred, Rows) else array_rows(centred, len(centred))
    to = whitening(rows)
    rng = np.random.default_rng(random_state)
    if rows.n_rows > rows.block:
        w, settled = _of_many(White(rows, to.white), rng, max_iter)
    else:
        w, settled = _of_few(_white(rows.take(0, rows.n_rows) @ to.white), rng, max_iter)
    return Components(to.white @ w.T, w @ to.back, settled)


def _of_few(white: "White", rng: np.random.Generator, max_iter: int) -> tuple[np.ndarray, bool]:
    """Find the directions of components of rows that are in memory."""
    few, d = white.drawn(rng, _few(white.d)), white.d
    starts = [
        _iterate(few, _orthogonal(rng.normal(size=(d, d))), max_iter)
        for _ in range(_STARTS if d <= _ALONE else 1)
    ]
    w, settled = max(starts, key=lambda start: _contrast(few, start[0]))
    return (w, settled) if few is white else _iterate(white, w, max_iter)


def _of_many(white: "White", rng: np.random.Generator, max_iter: int) -> tuple[np.ndarray, bool]:
    """Find them in single precision in some of the rows, and finish on all rows in double."""
    few, d = white.drawn(rng, _few(white.d), np.float32), white.d
    starts = [
        _iterate(few, _orthogonal(rng.normal(size=(d, d))), max_iter, tol=1e-8, patience=_PATIENCE)
        for _ in range(_STARTS if d <= _ALONE else 1)
    ]
    w, settled = starts[0]
    if len(starts) > 1:
        w, settled = max(starts, key=lambda start: _contrast(few, start[0]))
    return _iterate(white, w, max_iter) if settled else (w, settled)


def _few(d: int) -> int:
    """Return how many rows tell starts apart, or, of many components, lead a start to them."""
    return max(2000, 4 * d * d) if d <= _ALONE else max(4096, 2 * d * d)


class White(NamedTuple):
    """Rows of unit covariance, or centred rows with the map that makes them so, folded into every product."""

    rows: Rows
    white: np.ndarray | None = None

    @property
    def d(self) -> int:
        """Number of directions."""
        return self.rows.n_features if self.white is None else self.white.shape[1]

    def total(self, sums: Callable[..., tuple[Any, ...]], w: np.ndarray) -> tuple[Any, ...]:
        """Add up sums over all rows for directions of white rows."""
        folded = w if self.white is None else w @ self.white.T
        return self.rows.total(sums, np.asarray, folded.astype(self.rows.dtype, copy=False))

    def drawn(self, rng: np.random.Generator, most: int, dtype: Any = None) -> "White":
        """Return some rows, white and in memory; all of them where there are no more."""
        n = self.rows.n_rows
        if self.white is None:
            return self if n <= most else _white(gathered(self.rows, rng.permutation(n)[:most]))
        white = changed(self.rows, lambda block: (block @ self.white).astype(dtype), self.d)
        kept = np.arange(n) if n <= most else np.sort(rng.permutation(n)[:most])
        return _white(gathered(white, kept), max(1, _CACHED // self.d))


def _white(values: np.ndarray, block: int | None = None) -> White:
    return White(array_rows(values, block or len(values)))


def look_gaussian(centred: Rows, unmix: np.ndarray) -> np.ndarray:
    """Say which components of unit variance are within 3 standard errors of E[g'(y)] = E[g(y) y], as a
    normal's are by Stein's identity; shape (d,).
    """
    n = centred.n_rows
    mean, square = (each / n for each in centred.total(_gaps, np.asarray, unmix))
    return np.abs(mean) < 3 * np.sqrt(np.maximum(square - mean**2, 0.0) / n)


def _gaps(centred: np.ndarray, unmix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sums over rows of g'(y) - g(y) y and of its square, g = tanh."""
    y = centred @ unmix
    g = np.tanh(y)
    gap = 1.0 - g**2 - g * y
    return gap.sum(0), np.einsum("nd,nd->d", gap, gap)


def _iterate(
    white: White, w: np.ndarray, max_iter: int, tol: float = 1e-10, patience: int | None = None
) -> tuple[np.ndarray, bool]:
    """Turn directions until none changes by more than `tol`.

    With patience, components at rest wait for the others, a few of which take half of the steps.
    """
    n, d = white.rows.n_rows, len(w)
    target, moving = np.zeros_like(w), np.ones(d, dtype=bool)
    for step in range(min(max_iter, max(_LEAST, int(_BUDGET / (2 * n * d * d))))):
        squares, cross = white.total(_sums, w[moving])
        cross = cross if white.white is None else cross @ white.white
        slope = 1.0 - squares / n  # E[g'(y)], g' = 1 - tanh^2
        target[moving] = cross / n - slope[:, None] * w[moving]
        moved = _orthogonal(target)
        change = np.abs(np.abs(np.einsum("ij,ij->i", moved, w)) - 1)
        w = moved
        if moving.all() and change.max() < tol:
            return w, True
        if patience is not None:
            if step >= patience and np.median(change) > _STUCK:
                break
            moving = change > _RESTING if (change > _RESTING).any() else np.ones(d, dtype=bool)
    return w, False


def _sums(rows: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sums over rows of g(y)^2 and g(y) x', g = tanh."""
    g = np.tanh(rows @ w.T)
    return np.asarray(np.einsum("nd,nd->d", g, g), dtype=np.float64), np.asarray(g.T @ rows, dtype=np.float64)


def _orthogonal(matrix: np.ndarray) -> np.ndarray:
    """Return the nearest orthogonal matrix, (M M')^(-1/2) M."""
    u, _, vt = np.linalg.svd(matrix, full_matrices=False)
    return u @ vt


_GAUSSIAN = 0.3745672  # E[log cosh y] of a standard normal y


def _contrast(white: White, w: np.ndarray) -> float:
    """Sum over components of (E[log cosh y] - E[log cosh normal])^2, larger when less Gaussian."""
    (total,) = white.total(_log_cosh, w)
    return float(((total / white.rows.n_rows - _GAUSSIAN) ** 2).sum())


def _log_cosh(rows: np.ndarray, w: np.ndarray) -> tuple[np.ndarray]:
    """Return the sum over rows of log cosh y."""
    size = np.abs(rows @ w.T)
    return ((size + np.log1p(np.exp(-2 * size)) - np.log(2)).sum(0),)
