"""Mean correlation coefficient: the best one-to-one pairing of codes with factors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from ._checks import group_labels, weighted_pair
from ._dependence import dependence


@dataclass(frozen=True, eq=False)
class Matching:
    """Which code stands for which factor.

    Attributes
    ----------
    order : tuple of int, length n_factors
        Code paired with each factor; -1 where there are fewer codes than factors and none was left.
    sign : tuple of int, length n_factors
        Sign of each paired correlation, 1 or -1; 0 where it is zero or nothing was paired. A nonlinear
        dependence has no direction: its sign is 1.
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


def match_components(
    z_true: ArrayLike,
    z_hat: ArrayLike,
    *,
    method: str = "pearson",
    weights: ArrayLike | None = None,
    within: ArrayLike | None = None,
) -> Matching:
    """Pair factors with codes one to one so that the sum of absolute correlations is as large as can be.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
        None of the factors may be constant.
    z_hat : array-like of shape (n_samples, n_codes)
        More or fewer codes than factors are fine. A constant code has correlation 0 with everything.
    method : {"pearson", "spearman", "nonlinear"}
        Spearman's respects monotone transformations of each code, the indeterminacy that nonlinear
        identifiability leaves. "nonlinear" is the correlation ratio: the root of the share of a factor's
        normal scores that a function of one code predicts (its normal score and a broken line over its
        ranks, with n / 30 and at most 40 bends), cross-fitted over five folds. It respects monotone maps
        and sees dependence that is not monotone, as of an angle that jumps.
    weights : array-like of shape (n_samples,), optional
        Weight of each sample, or a boolean mask. Samples of weight 0 are left out and may hold anything.
    within : array-like of shape (n_samples,), optional
        Label of the domain of each sample. Correlations are then taken inside each domain and averaged by
        the domains' shares: domain means, which inflate pooled correlations, no longer count.

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
    arXiv:1605.06336. Kuhn (1955) for the assignment. Rényi (1959), On measures of dependence, for the
    correlation ratio.
    """
    return _match(*_prepared(z_true, z_hat, weights, within, 2), method)


def mcc(
    z_true: ArrayLike,
    z_hat: ArrayLike,
    *,
    method: str = "pearson",
    held_out: bool = False,
    weights: ArrayLike | None = None,
    within: ArrayLike | None = None,
    random_state: Any = 0,
) -> float:
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
    method : {"pearson", "spearman", "nonlinear"}
        See `match_components`.
    held_out : bool
        Choose pairs and signs on a random half and average the correlations of the other half, both ways
        round. Pure noise then scores about 0, however many codes there are to choose from; a negative
        average counts 0.
    weights : array-like of shape (n_samples,), optional
        Weight of each sample, or a boolean mask.
    within : array-like of shape (n_samples,), optional
        Domain of each sample, to correlate inside domains only.
    random_state : int, numpy.random.Generator or None
        Draws the halves of `held_out`; fixed by default, so that a score is a number and not a draw.

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
    >>> noise = np.random.default_rng(1).normal(size=(100, 1000))
    >>> round(mcc(z, noise), 1), round(mcc(z, noise, held_out=True), 1)
    (0.3, 0.0)

    References
    ----------
    Hyvärinen and Morioka (2016), arXiv:1605.06336, section 5; Zheng et al. (2026), Diverse dictionary
    learning, section 4, arXiv:2604.17568.
    """
    truth, codes, w, groups = _prepared(z_true, z_hat, weights, within, 8 if held_out else 2)
    if not held_out:
        return mean_match(_match(truth, codes, w, groups, method))
    halves = np.array_split(np.random.default_rng(random_state).permutation(len(truth)), 2)
    scores = [_transferred(truth, codes, w, groups, method, *pair) for pair in (halves, halves[::-1])]
    return max(float(np.mean(scores)), 0.0)


def mean_match(matching: Matching) -> float:
    """Average the matched correlations over factors."""
    return float(matching.matched.mean())


def _prepared(
    z_true: ArrayLike, z_hat: ArrayLike, weights: ArrayLike | None, within: ArrayLike | None, n_least: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]:
    truth, codes, w = weighted_pair(z_true, z_hat, weights, n_least)
    if within is None:
        return truth, codes, w, None
    labels = np.asarray(within)
    kept = labels if weights is None or labels.ndim != 1 else labels[np.asarray(weights) > 0]
    return truth, codes, w, group_labels(kept, len(truth), "within")


def _match(
    truth: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, within: np.ndarray | None, method: str
) -> Matching:
    correlation = dependence(truth, codes, method, weights, within)
    factors, found = linear_sum_assignment(np.abs(correlation), maximize=True)
    order = np.full(len(correlation), -1)
    order[factors] = found
    sign = np.zeros(len(correlation))
    sign[factors] = np.sign(correlation[factors, found])
    correlation.flags.writeable = False
    return Matching(tuple(order.tolist()), tuple(sign.astype(int).tolist()), correlation)


def _transferred(
    truth: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray | None,
    within: np.ndarray | None,
    method: str,
    fit: np.ndarray,
    score: np.ndarray,
) -> float:
    """Match on some samples and average the correlations of those pairs, with those signs, on others."""
    matching = _match(truth[fit], codes[fit], _at(weights, fit), _at(within, fit), method)
    unseen = dependence(truth[score], codes[score], method, _at(weights, score), _at(within, score))
    pairs = enumerate(zip(matching.order, matching.sign, strict=True))
    return float(np.mean([s * unseen[j, k] for j, (k, s) in pairs]))  # a factor without a code has sign 0


def _at(values: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if values is None else values[rows]
