"""The four conditions of the paper: the table, white, its independent components, and a random rotation."""

import hashlib
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ._design import Design
from ._field import narrowed, standard, widened

ROWS_PER_COMPONENT = 20  # below that, independent components of noise look as non-Gaussian as any
_RANK = 1e-6
_MOST_ROWS = 50_000

FITS = ("all", "train", "controls")


@dataclass(frozen=True, eq=False)
class White:
    """Principal components brought to unit variance, and the loadings that lead back."""

    values: np.ndarray
    loadings: np.ndarray  # (n_components, n_features), in units of the columns


def whitened(x: np.ndarray, fit: np.ndarray | None = None) -> White:
    """Return Y = (X - mu) U Lambda^{-1/2}, with as many components as there are rows to tell them apart.

    Parameters
    ----------
    x : array of shape (n_samples, n_features)
    fit : array of bool of shape (n_samples,), optional
        Rows to fit to; all by default.
    """
    values, basis = narrowed(standard(x))
    rows = values if fit is None else values[fit]
    mean, covariance = rows.mean(0), np.cov(rows.T)
    variances, directions = (part[..., ::-1] for part in np.linalg.eigh(np.atleast_2d(covariance)))
    rank = int((variances > _RANK * variances[0]).sum())
    kept = max(1, min(rank, len(rows) // ROWS_PER_COMPONENT))
    spread = np.sqrt(variances[:kept])
    loadings = widened(spread[:, None] * directions[:, :kept].T, basis)
    return White((values - mean) @ (directions[:, :kept] / spread), loadings)


def pca_white(x: np.ndarray, design: Design, *, random_state: int = 0, fit: Any = None) -> np.ndarray:
    """Return white principal components."""
    return whitened(x, fit).values


def pca_ica(x: np.ndarray, design: Design, *, random_state: int = 0, fit: Any = None) -> np.ndarray:
    """Return independent components of the white ones, by FastICA with log cosh."""
    white = whitened(x, fit).values
    return white @ rotation_of(white if fit is None else white[fit], random_state)[0].T


def pca_random(x: np.ndarray, design: Design, *, random_state: int = 0, fit: Any = None) -> np.ndarray:
    """Return the white principal components after a random rotation, drawn from the Haar measure."""
    white = whitened(x, fit).values
    return white @ haar(white.shape[1], random_state).T


def haar(n: int, random_state: int) -> np.ndarray:
    """Draw a rotation uniformly: Q of a Gaussian matrix, with the diagonal of R positive.

    >>> q = haar(3, 0)
    >>> np.abs(q @ q.T - np.eye(3)).max() < 1e-12
    np.True_
    """
    q, r = np.linalg.qr(np.random.default_rng(random_state).normal(size=(n, n)))
    return q * np.sign(np.diagonal(r))


def rotation_of(white: np.ndarray, random_state: int) -> tuple[np.ndarray, Any]:
    """Return the rotation to independent components, and the fitted model; of many rows some are enough.

    Several methods ask for the components of one table: the last model is kept, and found by its rows.
    """
    few = white
    if len(white) > _MOST_ROWS:
        few = white[np.random.default_rng(random_state).choice(len(white), _MOST_ROWS, replace=False)]
    few = np.ascontiguousarray(few)
    key = (hashlib.blake2b(few.data).digest(), few.shape, random_state)
    if key not in _LAST:
        _LAST.clear()
        _LAST[key] = _independent(few, random_state)
    return _LAST[key].components_, _LAST[key]


_LAST: dict[Any, Any] = {}


def _independent(white: np.ndarray, random_state: int) -> Any:
    from unmix.estimators import FastICA

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # reliabilities say which components are right
        return FastICA(white.shape[1], random_state=random_state, device="cpu").fit(white)


def fitting_rows(fit_on: str, design: Design, train: np.ndarray | None = None) -> np.ndarray | None:
    """Return the rows that components are fitted to, or None for all of them."""
    if fit_on not in FITS:
        raise ValueError(f"`fit_on` must be one of {', '.join(FITS)}, got {fit_on!r}. Choose one of these.")
    if fit_on == "train" and train is None:
        raise ValueError("`train` must mark rows where `fit_on` is 'train', got None. Pass a mask.")
    return {"all": None, "train": train, "controls": design.control}[fit_on]
