"""What survives: how far components that two halves of the rows give agree, for each number of them."""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning

from unmix.estimators import FastICA

_VALUES = 8  # numbers of latents at which it is measured, about


class Agreement(NamedTuple):
    """Mean correlation of matched components of two halves; the same for Gaussian data, where none return."""

    n_latents: int
    mean: float
    null: float


def agreement(x: np.ndarray, gaussian: np.ndarray, n_latents: int, *, random_state: int = 0) -> Agreement:
    """Fit components to two halves of the rows, and match them on all rows.

    Parameters
    ----------
    x, gaussian : arrays of shape (n_rows, n_features)
        The table, and Gaussian rows with the same covariance.
    n_latents : int
    random_state : int

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, gaussian = rng.laplace(size=(2000, 2)), rng.normal(size=(2000, 2))
    >>> agreement(x, gaussian, 2).mean > 0.95
    True
    """
    found, null = (_matched(rows, n_latents, random_state) for rows in (x, gaussian))
    return Agreement(n_latents, found, null)


def numbers_around(n: int, most: int) -> list[int]:
    """Return numbers of latents to look at: the chosen one, its neighbours, and some up to beyond it.

    >>> numbers_around(5, 30)
    [1, 2, 4, 5, 6, 7, 8]
    """
    spread = np.linspace(1, min(most, n + max(3, n // 2)), _VALUES - 2).round().astype(int).tolist()
    return sorted({k for k in (*spread, n - 1, n, n + 1) if 1 <= k <= most})


def _matched(rows: np.ndarray, n: int, seed: int) -> float:
    order = np.random.default_rng(seed).permutation(len(rows))
    half = len(rows) // 2
    codes = [_codes(rows, part, n, seed) for part in (order[:half], order[half:])]
    correlation = np.abs(codes[0].T @ codes[1]) / len(rows)
    return float(correlation[linear_sum_assignment(-correlation)].mean())


def _codes(rows: np.ndarray, part: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Return the components that some rows give, of all rows, standardised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what does not settle does not agree
        codes = FastICA(n, random_state=seed, device="cpu").fit(rows[part]).transform(rows)
    return (codes - codes.mean(0)) / codes.std(0)
