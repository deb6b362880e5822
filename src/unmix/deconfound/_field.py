"""What the field uses: centring, standardising and sphering on controls, and typical variation normalisation.

Each function takes a table and its design and returns the adjusted table, rows in the same order.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from ._design import Design

_SPHERE = 0.1  # added to variances of unit columns, so that few controls do not blow up noise
_SOME = 64  # columns
_CORAL = 0.5  # added to the covariances of batches, as TVN's authors do


def unadjusted(x: np.ndarray, design: Design, *, random_state: int = 0) -> np.ndarray:
    """Return the table as it is, columns brought to unit variance."""
    return standard(x)


def standard(x: np.ndarray) -> np.ndarray:
    """Return columns less their mean, in units of their standard deviation."""
    values = np.array(x, dtype=np.float64, order="C")
    values -= values.mean(0)
    spread = spreads(values)
    values /= np.where(spread > 0, spread, 1.0)
    return values


def spreads(values: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each column, some columns at a time: it takes tables of its own."""
    parts = (values[:, j : j + _SOME] for j in range(0, values.shape[1], _SOME))
    return np.concatenate([part.std(0, dtype=np.float64) for part in parts])


def narrowed(values: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return a table with fewer rows than columns in coordinates of its rows, and the directions of these.

    Rows have no part outside the span of all rows, so that nothing is lost; None where rows are enough.

    >>> coordinates, basis = narrowed(np.array([[3.0, 4.0, 0.0]]))
    >>> np.abs(coordinates).round(6).tolist(), basis.shape
    ([[5.0]], (1, 3))
    """
    if values.shape[1] <= len(values):
        return values, None
    left, sizes, directions = np.linalg.svd(values, full_matrices=False)
    return left * sizes, directions


def widened(coordinates: np.ndarray, basis: np.ndarray | None) -> np.ndarray:
    """Undo `narrowed`."""
    return coordinates if basis is None else coordinates @ basis


def centred(x: np.ndarray, design: Design, *, random_state: int = 0) -> np.ndarray:
    """Return rows less the mean of all rows of their batch, controls or not."""
    every = design.with_controls(np.ones(len(design), dtype=bool))
    return on_controls(standard(x), every, lambda rows: (rows.mean(0), 1.0))


def centred_on_controls(x: np.ndarray, design: Design, *, random_state: int = 0) -> np.ndarray:
    """Return rows less the mean of the controls of their batch."""
    return on_controls(standard(x), design, lambda rows: (rows.mean(0), 1.0))


def standardised(x: np.ndarray, design: Design, *, random_state: int = 0) -> np.ndarray:
    """Return rows in standard deviations of the controls of their batch."""
    return on_controls(standard(x), design, lambda rows: (rows.mean(0), rows.std(0)))


def robustly_standardised(x: np.ndarray, design: Design, *, random_state: int = 0) -> np.ndarray:
    """Return the same by medians and median absolute deviations."""
    return on_controls(standard(x), design, _robust)


def _robust(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    middle = np.median(rows, 0)
    return middle, 1.4826 * np.median(np.abs(rows - middle), 0)


def on_controls(
    x: np.ndarray, design: Design, summary: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray | float]]
) -> np.ndarray:
    """Centre and scale each batch by a summary of its controls."""
    out = np.empty_like(x)
    for rows, controls in by_batch(design):
        middle, spread = summary(x[controls])
        out[rows] = (x[rows] - middle) / np.where(np.asarray(spread) > 1e-9, spread, 1.0)
    return out


def by_batch(design: Design) -> list[tuple[np.ndarray, np.ndarray]]:
    """List for each batch its rows, and those of its controls."""
    order = np.argsort(design.batch, kind="stable")
    ends = np.searchsorted(design.batch[order], np.arange(len(design.names) + 1))
    parts = [order[a:b] for a, b in pairwise(ends) if b > a]
    return [(rows, rows[design.control[rows]]) for rows in parts]


def sphered(x: np.ndarray, design: Design, *, random_state: int = 0) -> np.ndarray:
    """Return rows in which controls, of all batches together, are white."""
    values, basis = narrowed(standard(x))
    controls = values[design.control]
    sphering = power(np.cov(controls.T) + _SPHERE * np.eye(values.shape[1]), -0.5)
    return widened((values - controls.mean(0)) @ sphering, basis)


def power(covariance: np.ndarray, exponent: float) -> np.ndarray:
    """Return a power of a symmetric matrix without negative eigenvalues.

    >>> power(np.diag([4.0, 9.0]), -0.5).round(3).tolist()
    [[0.5, 0.0], [0.0, 0.333]]
    """
    values, vectors = np.linalg.eigh(np.atleast_2d(covariance))
    return (vectors * np.maximum(values, 1e-12) ** exponent) @ vectors.T


def tvn(x: np.ndarray, design: Design, *, random_state: int = 0) -> np.ndarray:
    """Typical variation normalisation: principal components of controls, white, aligned batch by batch.

    References
    ----------
    Ando, McLean, Berndl (2017), Improving phenotypic measurements in high-content imaging screens; batches
    are aligned by CORAL (Sun, Feng, Saenko 2016, arXiv:1511.05547, Eq. 5).
    """
    values = standard(x)
    controls = values[design.control]
    values, _ = narrowed((values - controls.mean(0)) / np.maximum(controls.std(0), 1e-9))
    _, directions = np.linalg.eigh(np.cov(values[design.control].T))
    values = on_controls(values @ directions[:, ::-1], design, lambda rows: (rows.mean(0), rows.std(0)))
    target = power(np.cov(values[design.control].T) + _CORAL * np.eye(values.shape[1]), 0.5)
    out = np.empty_like(values)
    for rows, own in by_batch(design):
        out[rows] = _whitened(values[rows], values[own]) @ target
    return out


def _whitened(rows: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return rows times (C + c I)^{-1/2} for the covariance C of few rows, whose span is all that it needs.

    >>> rows = np.random.default_rng(0).normal(size=(5, 3))
    >>> slow = rows @ power(np.cov(rows.T) + _CORAL * np.eye(3), -0.5)
    >>> bool(np.allclose(_whitened(rows, rows), slow))
    True
    """
    few = (own - own.mean(0)) / max(len(own) - 1, 1) ** 0.5
    _, sizes, span = np.linalg.svd(few, full_matrices=False)
    along = (sizes**2 + _CORAL) ** -0.5 - _CORAL**-0.5
    return _CORAL**-0.5 * rows + ((rows @ span.T) * along) @ span
