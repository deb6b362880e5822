"""Other fits of independent components, without the cost of a whole fit.

A fit to half of the rows need not look for its basin again: from the fitted components a few steps end at the
nearest optimum of that half. And a search for other optima needs no exact end: on some of the rows it is seen
which basin a start falls into, and a few steps on all rows tell where its optimum lies.
"""

from collections.abc import Iterator

import numpy as np
import torch

from unmix.solvers.ica import CONTRASTS

from ._case import Case

_STEPS, _LAST_STEPS, _TOLERANCE = 30, 4, 1e-3
_POWERS = 2  # passes that turn the plane of all rows to that of half of them
_FEWEST_ROWS, _ROWS_EACH = 1000, 20  # rows of a search, at least, and for each component
_WORK, _MOST_STARTS = 6e5, 4  # rows x components^2 over all starts


def half_codes(case: Case) -> np.ndarray:
    """Return the codes of all rows by a fit to the first half of them, begun at the fitted components."""
    kept, n = case.halves[0], case.codes.shape[1]
    white = _whitened(case.codes if case.model.rank_ == n else _in_plane(case, kept, n), kept)
    start = _polar(case.codes[kept].T @ white[kept])
    return white @ _ended(white[kept], start, case.model.fun).T


def codes_with_one_more(case: Case, rng: np.random.Generator) -> np.ndarray:
    """Return the codes by a fit with one component more to half of the rows, from a random start."""
    kept, n = case.halves[0], case.codes.shape[1] + 1
    white = _whitened(_in_plane(case, kept, n), kept)
    return white @ _ended(white[kept], _polar(rng.normal(size=(n, n))), case.model.fun).T


def _in_plane(case: Case, kept: np.ndarray, n: int) -> np.ndarray:
    """Return all rows in the plane of the n directions that the given rows vary most in.

    From the plane of the components, and a sum of all columns where one direction more is asked for, by a few
    products with the covariance of these rows, which is never formed.
    """
    here, mixing = case.x[kept], case.model.mixing_
    mean = here.mean(0)
    here -= mean
    unit = max(here.max(), -here.min(), 1e-300)  # so that no square leaves the range of numbers
    here /= unit
    basis = np.linalg.qr(np.c_[mixing / np.abs(mixing).max(), np.ones(len(mixing))][:, :n])[0]
    for _ in range(_POWERS if n == mixing.shape[1] else 3 * _POWERS):
        basis = np.linalg.qr(here.T @ (here @ basis))[0]
    return (case.x @ basis - mean @ basis) / unit


def _whitened(axes: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return coordinates that are white on the given rows."""
    unit = axes[kept].std(0)
    axes = (axes - axes[kept].mean(0)) / np.where(unit > 0, unit, 1)
    values, vectors = np.linalg.eigh(np.cov(axes[kept], rowvar=False, bias=True).reshape(len(unit), -1))
    return axes @ (vectors / np.sqrt(np.maximum(values, 1e-12)))


def other_ends(case: Case, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield the codes of all rows at the ends of a few random starts."""
    n_rows, n = case.codes.shape
    white = _whitened(case.codes, np.arange(n_rows))
    few = white[:: max(1, n_rows // max(_FEWEST_ROWS, _ROWS_EACH * n))]
    for _ in range(int(np.clip(_WORK / (len(few) * n**2), 1, _MOST_STARTS))):
        basin = _ended(few, _polar(rng.normal(size=(n, n))), case.model.fun)
        yield white @ _ended(white, basin, case.model.fun, _LAST_STEPS).T


def _ended(white: np.ndarray, rotation: np.ndarray, fun: str, steps: int = _STEPS) -> np.ndarray:
    """Return the rotation at which the fixed point iteration of FastICA ends."""
    single = white.astype(np.float32)
    for _ in range(steps):
        cross, slope = _moments(single @ rotation.T.astype(np.float32), fun)
        turned = _polar(cross - np.diag(slope)) @ rotation
        change = np.abs(np.abs(np.einsum("ij,ij->i", turned, rotation)) - 1).max()
        rotation = turned
        if change < _TOLERANCE**2:
            break
    return rotation


def _moments(y: np.ndarray, fun: str) -> tuple[np.ndarray, np.ndarray]:
    """Return E[g(y) y'] and E[g'(y)]."""
    if fun == "logcosh":
        g = np.tanh(y)
        return (g.T @ y).astype(float) / len(y), 1 - np.einsum("ij,ij->j", g, g).astype(float) / len(y)
    g, slope = (each.numpy() for each in CONTRASTS[fun].derivatives(torch.from_numpy(y)))
    return (g.T @ y).astype(float) / len(y), slope.mean(0).astype(float)


def _polar(matrix: np.ndarray) -> np.ndarray:
    left, _, right = np.linalg.svd(matrix)
    return left @ right
