"""How much of each factor can be read off the codes, on samples the probe has not seen."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

from ._checks import paired

_KERNEL_GRID = {"alpha": [1.0, 0.1, 0.01, 0.001], "gamma": np.logspace(-2, 2, 4)}


def r2(
    z_true: ArrayLike,
    z_hat: ArrayLike,
    *,
    probe: str = "linear",
    n_fit: int = 2000,
    random_state: Any = 0,
) -> float:
    """Predict each factor from all codes and average the share of variance explained, 1 - SS_res / SS_tot.

    The probe is fitted on a random half and scored on the other. Each factor's share is clipped at 0, then
    factors are averaged. This measures information, not identification: an invertible mix of the factors can
    score 1.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
        None of the factors may be constant. A factor constant on the scored half counts 0.
    z_hat : array-like of shape (n_samples, n_codes)
    probe : {"linear", "kernel"}
        Least squares, or ridge regression with a Gaussian kernel whose width and weight are chosen by
        three-fold cross-validation.
    n_fit : int
        The kernel probe is fitted on at most so many samples, since its cost grows with their cube.
    random_state : int, numpy.random.Generator or None
        Draws the two halves; fixed by default, so that a score is a number and not a draw.

    Returns
    -------
    float

    Examples
    --------
    >>> z = np.random.default_rng(0).uniform(-2, 2, size=(400, 2))
    >>> round(r2(z, z @ [[1, 1], [1, -1]]), 6)
    1.0
    >>> round(r2(z, z**3), 2), round(r2(z, z**3, probe="kernel"), 2)
    (0.82, 0.94)

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, section 4.1, arXiv:2604.17568.
    """
    truth, codes = paired(z_true, z_hat, n_least=4)
    if probe not in ("linear", "kernel"):
        raise ValueError(f"`probe` must be 'linear' or 'kernel', got {probe!r}. Choose one of them.")
    if n_fit < 2:
        raise ValueError(f"`n_fit` must be at least 2, got {n_fit}. Thousands are usual.")
    fit, held_out = np.array_split(np.random.default_rng(random_state).permutation(len(truth)), 2)
    fit, predict = (fit, _linear) if probe == "linear" else (fit[:n_fit], _kernel)
    target, unseen = _scaled(truth, fit, held_out)
    return _mean_share(unseen, predict(*_scaled(codes, fit, held_out), target))


def _scaled(values: np.ndarray, fit: np.ndarray, held_out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Standardise by the fitted half alone; columns constant there are only centred."""
    mean, spread = values[fit].mean(0), values[fit].std(0)
    spread = np.where(spread > 0, spread, 1.0)
    return (values[fit] - mean) / spread, (values[held_out] - mean) / spread


def _linear(codes: np.ndarray, unseen: np.ndarray, truth: np.ndarray) -> np.ndarray:
    weights = np.linalg.lstsq(codes, truth, rcond=None)[0]  # centred data: no intercept
    return unseen @ weights


def _kernel(codes: np.ndarray, unseen: np.ndarray, truth: np.ndarray) -> np.ndarray:
    folds = min(3, len(codes))
    search = GridSearchCV(KernelRidge(kernel="rbf"), _KERNEL_GRID, cv=folds, scoring="neg_mean_squared_error")
    return search.fit(codes, truth).predict(unseen)


def _mean_share(truth: np.ndarray, predicted: np.ndarray) -> float:
    residual = ((truth - predicted) ** 2).sum(0)
    total = ((truth - truth.mean(0)) ** 2).sum(0)
    share = np.where(total > 0, 1 - residual / np.where(total > 0, total, 1.0), 0.0)
    return float(np.clip(share, 0.0, 1.0).mean())
