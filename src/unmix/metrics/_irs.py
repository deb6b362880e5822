"""Interventional robustness: how far codes move while one factor is held."""

import numpy as np
from numpy.typing import ArrayLike

from ._checks import is_constant, paired, standardised
from ._kinds import Declared, all_labels, equal_count, kinds, n_bins


def irs(
    z_true: ArrayLike,
    z_hat: ArrayLike,
    *,
    discrete: Declared = None,
    bins: int | None = None,
    quantile: float = 0.99,
    weighted: bool = False,
) -> float:
    """Average over codes 1 minus how far they stray while one factor is held, relative to how far they can.

    For code j and factor i, deviation_ij is the 99% quantile of abs(ẑ_j - E[ẑ_j | z_i]) over the samples with
    the same value of z_i, averaged over its values, and reach_j is the largest abs(ẑ_j - E ẑ_j). The score of
    code j is max_i (1 - deviation_ij / reach_j), at least 0. Robust codes score 1. Codes that tell nothing
    score more than 0: their deviation is the quantile of their own spread. Few samples per value make scores
    too good.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
        None of the factors may be constant.
    z_hat : array-like of shape (n_samples, n_codes)
        Constant codes are left out; 0 when there is no other.
    discrete : bool, sequence of n_factors bools, or None
        Which factors are discrete; by default those with at most 200 levels, each seen twice or more on
        average. Continuous factors are cut at their quantiles, and what codes vary within a bin counts
        against them: even a copy of the factor scores less than 1.
    bins : int, optional
        By default the cube root of n_samples, between 2 and 20.
    quantile : float
        In (0, 1]; 1 takes the largest deviation.
    weighted : bool
        Weight codes by their reach, as published tables do, in place of equal weights: a code then counts
        less when it is written in smaller units.

    Returns
    -------
    float

    Examples
    --------
    >>> z = np.random.default_rng(0).integers(0, 4, size=(2000, 3))
    >>> round(irs(z, -2 * z[:, [2, 0, 1]]), 2)
    1.0
    >>> round(irs(z, np.random.default_rng(1).normal(size=(2000, 3))), 2)
    0.32

    References
    ----------
    Suter, Miladinović, Schölkopf and Bauer (2019), Robustly disentangled causal mechanisms, arXiv:1811.00007.
    """
    truth, codes = paired(z_true, z_hat)
    if not 0 < quantile <= 1:
        raise ValueError(f"`quantile` must be in (0, 1], got {quantile}. The published value is 0.99.")
    sources = all_labels(truth, kinds(truth, discrete), n_bins(len(truth), bins), equal_count)
    active = ~is_constant(codes)
    if not active.any():
        return 0.0
    scaled = standardised(codes[:, active])
    deviations, reach = np.array([_deviation(source, scaled, quantile) for source in sources]), _reach(scaled)
    scores = np.maximum(1 - deviations / reach, 0.0).max(0)
    bounded = codes[:, active] / np.abs(codes).max()  # weights are relative, and huge entries stay in range
    return float(np.average(scores, weights=_reach(bounded) if weighted else None))


def _reach(codes: np.ndarray) -> np.ndarray:
    """Return how far each code gets from its mean; shape (n_codes,)."""
    return np.abs(codes - codes.mean(0)).max(0)


def _deviation(source: np.ndarray, codes: np.ndarray, quantile: float) -> np.ndarray:
    """Return how far each code strays from its mean while the factor is held; shape (n_codes,)."""
    groups = (codes[source == level] for level in range(int(source.max()) + 1))
    return np.mean([np.quantile(np.abs(g - g.mean(0)), quantile, axis=0) for g in groups], axis=0)
