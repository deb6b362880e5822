"""Mean correlation coefficient: the best one-to-one pairing of codes with factors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

from ._checks import paired, unit_rows


@dataclass(frozen=True, eq=False)
class Matching:
    """Which code stands for which factor.

    Attributes
    ----------
    order : tuple of int, length n_factors
        Code paired with each factor; -1 where there are fewer codes than factors and none was left.
    sign : tuple of int, length n_factors
        Sign of each paired correlation, 1 or -1; 0 where it is zero or nothing was paired.
    correlation : ndarray of shape (n_factors, n_codes)
        Signed correlations of all pairs, codes in their own order.
    """

    order: tuple[int, ...]
    sign: tuple[int, ...]
    correlation: np.ndarray

    @property
    def matched(self) -> np.ndarray:
        """Absolute correlation of each factor with its code, 0 where it has none; shape (n_factors,)."""
        found = [abs(self.correlation[j, k]) if k >= 0 else 0.0 for j, k in enumerate(self.order)]
        return np.array(found)


def match_components(z_true: ArrayLike, z_hat: ArrayLike, *, method: str = "pearson") -> Matching:
    """Pair factors with codes one to one so that the sum of absolute correlations is as large as can be.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
        None of the factors may be constant.
    z_hat : array-like of shape (n_samples, n_codes)
        More or fewer codes than factors are fine. A constant code has correlation 0 with everything.
    method : {"pearson", "spearman"}
        Spearman's respects monotone transformations of each code, the indeterminacy that nonlinear
        identifiability leaves.

    Returns
    -------
    Matching

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(100, 3))
    >>> matching = match_components(z, -2 * z[:, [2, 0, 1]])
    >>> matching.order, matching.sign
    ((1, 2, 0), (-1, -1, -1))

    References
    ----------
    Hyvärinen and Morioka (2016), Unsupervised feature extraction by time-contrastive learning, section 5,
    arXiv:1605.06336. Kuhn (1955) for the assignment.
    """
    return match_checked(*paired(z_true, z_hat), method=method)


def mcc(z_true: ArrayLike, z_hat: ArrayLike, *, method: str = "pearson") -> float:
    """Average the absolute correlation of each factor with the code paired to it, 1/d max_π Σ_j |corr(z_j,
    ẑ_π(j))|.

    Between 0 and 1. A factor left without a code counts 0. Codes that only rotate the factors, so that
    nothing is identified, still score far above 0: compare with `rotation_floor`, or use `evaluate`.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
        None of the factors may be constant.
    z_hat : array-like of shape (n_samples, n_codes)
        A constant code has correlation 0 with everything.
    method : {"pearson", "spearman"}

    Returns
    -------
    float

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(100, 3))
    >>> round(mcc(z, -2 * z[:, [2, 0, 1]]), 6)
    1.0
    >>> round(mcc(z, np.exp(z), method="spearman"), 6)
    1.0
    >>> round(mcc(z, z[:, :1]), 6)
    0.333333

    References
    ----------
    Hyvärinen and Morioka (2016), arXiv:1605.06336, section 5; Zheng et al. (2026), Diverse dictionary
    learning, section 4, arXiv:2604.17568.
    """
    return mean_match(match_components(z_true, z_hat, method=method))


def match_checked(truth: np.ndarray, codes: np.ndarray, *, method: str = "pearson") -> Matching:
    """Match arrays that have been checked already."""
    correlation = _correlation(truth, codes, method)
    factors, found = linear_sum_assignment(np.abs(correlation), maximize=True)
    order = np.full(len(correlation), -1)
    order[factors] = found
    sign = np.zeros(len(correlation))
    sign[factors] = np.sign(correlation[factors, found])
    correlation.flags.writeable = False
    return Matching(tuple(order.tolist()), tuple(sign.astype(int).tolist()), correlation)


def mean_match(matching: Matching) -> float:
    """Average the matched correlations over factors."""
    return float(matching.matched.mean())


def _correlation(truth: np.ndarray, codes: np.ndarray, method: str) -> np.ndarray:
    if method not in ("pearson", "spearman"):
        raise ValueError(f"`method` must be 'pearson' or 'spearman', got {method!r}. Choose one of them.")
    a, b = np.ascontiguousarray(truth.T), np.ascontiguousarray(codes.T)
    if method == "spearman":
        a, b = rankdata(a, axis=1), rankdata(b, axis=1)
    return np.clip(unit_rows(a) @ unit_rows(b).T, -1.0, 1.0)
