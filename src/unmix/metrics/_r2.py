"""How much of each factor can be read off the codes, on samples the probe has not seen."""

from collections.abc import Iterable
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

from ._checks import column_blocks, weighted_pair

PROBES = ("linear", "kernel", "boosted")
_KERNEL_GRID = {"alpha": [1.0, 0.1, 0.01, 0.001], "gamma": np.logspace(-2, 2, 4)}


def r2(
    z_true: ArrayLike,
    z_hat: ArrayLike,
    *,
    probe: str = "linear",
    blocks: Iterable[Iterable[SupportsIndex]] | None = None,
    n_fit: int = 2000,
    weights: ArrayLike | None = None,
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
    probe : {"linear", "kernel", "boosted"}
        Least squares; ridge regression with a Gaussian kernel whose width and weight are chosen by three-fold
        cross-validation; or boosted trees (scikit-learn's histogram gradient boosting with its defaults and
        without early stopping), which need a hundred samples or more to see anything.
    blocks : iterable of iterables of int, optional
        Blocks of factors: shares are averaged within each block, then over blocks, so that a block counts as
        one whatever its dimension. `block_r2` shows every block against every group of codes.
    n_fit : int
        The kernel probe is fitted on at most this many samples, since its cost grows with their cube.
    weights : array-like of shape (n_samples,), optional
        Weight of each sample in fit and score, or a boolean mask. Samples of weight 0 are left out.
    random_state : int, numpy.random.Generator or None
        Draws the two halves; fixed by default, so that a score is a number and not a draw.

    Returns
    -------
    float

    Notes
    -----
    Some papers regress the codes on the factors instead (Xu et al. 2026, appendix D.1): that is
    `r2(z_hat, z_true)`, and asks whether the codes hold anything but the factors.

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
    truth, codes, w = weighted_pair(z_true, z_hat, weights, n_least=4)
    shares = explained(truth, codes, probe, n_fit, w, random_state)
    return float(np.mean([shares[block].mean() for block in column_blocks(blocks, truth.shape[1], "blocks")]))


def explained(
    truth: np.ndarray,
    codes: np.ndarray,
    probe: str,
    n_fit: int,
    weights: np.ndarray | None,
    random_state: Any,
) -> np.ndarray:
    """Return the share of each factor that a probe reads off all codes, on unseen samples; shape (d,)."""
    if probe not in PROBES:
        raise ValueError(f"`probe` must be one of {PROBES}, got {probe!r}. Choose one of them.")
    if n_fit < 2:
        raise ValueError(f"`n_fit` must be at least 2, got {n_fit}. Thousands are usual.")
    fit, held_out = np.array_split(np.random.default_rng(random_state).permutation(len(truth)), 2)
    fit = fit[:n_fit] if probe == "kernel" else fit
    predict = {"linear": _linear, "kernel": _kernel, "boosted": _boosted}[probe]
    seen, scored = (None, None) if weights is None else (weights[fit], weights[held_out])
    target, unseen = _scaled(truth, fit, held_out, seen)
    return _shares(unseen, predict(*_scaled(codes, fit, held_out, seen), target, seen), scored)


def _scaled(
    values: np.ndarray, fit: np.ndarray, held_out: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Standardise by the fitted half alone; columns constant there are only centred."""
    mean = np.average(values[fit], axis=0, weights=weights)
    spread = values[fit].std(0)
    spread = np.where(spread > 0, spread, 1.0)
    return (values[fit] - mean) / spread, (values[held_out] - mean) / spread


def _linear(
    codes: np.ndarray, unseen: np.ndarray, truth: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    root = 1.0 if weights is None else np.sqrt(weights)[:, None]
    return unseen @ np.linalg.lstsq(codes * root, truth * root, rcond=None)[0]  # centred data: no intercept


def _kernel(
    codes: np.ndarray, unseen: np.ndarray, truth: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    folds = min(3, len(codes))
    search = GridSearchCV(KernelRidge(kernel="rbf"), _KERNEL_GRID, cv=folds, scoring="neg_mean_squared_error")
    return search.fit(codes, truth, sample_weight=_averaging_one(weights)).predict(unseen)


def _boosted(
    codes: np.ndarray, unseen: np.ndarray, truth: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    trees = HistGradientBoostingRegressor(early_stopping=False, random_state=0)
    fitted = (trees.fit(codes, target, sample_weight=_averaging_one(weights)) for target in truth.T)
    return np.stack([model.predict(unseen) for model in fitted], axis=1)


def _averaging_one(weights: np.ndarray | None) -> np.ndarray | None:
    """Scale weights to a mean of one, so that the weight of a penalty keeps its sense."""
    return None if weights is None else weights * len(weights) / weights.sum()


def _shares(truth: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return 1 - SS_res / SS_tot of each column, between 0 and 1; 0 where a column does not vary."""
    mean = np.average(truth, axis=0, weights=weights)
    w = np.ones(len(truth)) if weights is None else weights
    residual, total = w @ (truth - predicted) ** 2, w @ (truth - mean) ** 2
    share = np.where(total > 0, 1 - residual / np.where(total > 0, total, 1.0), 0.0)
    return np.clip(share, 0.0, 1.0)
