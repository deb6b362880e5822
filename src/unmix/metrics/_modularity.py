"""Modularity and explicitness: codes that tell of one factor only, factors that are read off linearly."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kendalltau, rankdata

from ._checks import is_constant, paired, standardised
from ._kinds import Declared, all_labels, kinds, n_bins
from ._linear_probes import least_squares, level_probabilities, split
from ._mig import information_matrix


@dataclass(frozen=True)
class ModularityExplicitness:
    """Modularity and explicitness of codes.

    Attributes
    ----------
    modularity : float
        Between 0 and 1; 1 when each code tells of one factor only.
    explicitness : float
        Area under the ROC curve, averaged over levels, then factors; 1/2 is chance.
    discrete : tuple of bool, length n_factors
        Which factors were taken to be discrete.
    """

    modularity: float
    explicitness: float
    discrete: tuple[bool, ...]


def modularity_explicitness(
    z_true: ArrayLike,
    z_hat: ArrayLike,
    *,
    discrete: Declared = None,
    discrete_codes: Declared = None,
    bins: int | None = None,
    random_state: Any = 0,
) -> ModularityExplicitness:
    """Score how close each code is to telling of one factor only, and how well factors are read off linearly.

    Modularity is the mean over codes of 1 - Σ_{i ≠ i*} I_ij² / ((F - 1) I_i*j²), with i* the factor that code
    j tells most of. Explicitness fits logistic regression from all codes to each discrete factor on two
    thirds of the samples, and averages the area under the ROC curve of each level against the others on
    the rest. For a continuous factor that area is the share of pairs of samples which a linear prediction
    puts in the right order; for two levels the two are the same.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
        None of the factors may be constant. With a single factor modularity is 1.
    z_hat : array-like of shape (n_samples, n_codes)
        A constant code tells of no factor and counts 0, as in the published estimate; where there is no
        other, modularity is 0 and explicitness 1/2.
    discrete, discrete_codes : bool, sequence of bools, or None
        Which factors, and which codes, are discrete; by default those with at most 200 levels, each seen
        twice or more on average. For modularity continuous ones are cut into bins of equal width.
    bins : int, optional
        By default the cube root of n_samples, between 2 and 20.
    random_state : int, numpy.random.Generator or None
        Draws the samples to fit on; fixed by default.

    Returns
    -------
    ModularityExplicitness

    Examples
    --------
    >>> z = np.random.default_rng(0).integers(0, 2, size=(2000, 3))
    >>> found = modularity_explicitness(z, -2.0 * z[:, [2, 0, 1]])
    >>> round(found.modularity, 3), found.explicitness
    (1.0, 1.0)

    References
    ----------
    Ridgeway and Mozer (2018), Learning deep disentangled embeddings with the F-statistic loss,
    arXiv:1802.05312; Locatello et al. (2019), appendix, arXiv:1811.12359, for the estimates.
    """
    truth, codes = paired(z_true, z_hat, n_least=6)
    is_discrete, is_discrete_code = kinds(truth, discrete), kinds(codes, discrete_codes, "discrete_codes")
    n = n_bins(len(truth), bins)
    varies = ~is_constant(codes)
    latents = all_labels(codes[:, varies], is_discrete_code[varies], n)
    fit, held_out = split(len(truth), random_state)
    areas = [
        _area(column, d, standardised(codes), fit, held_out)
        for column, d in zip(truth.T, is_discrete, strict=True)
    ]
    modularity = _modularity(all_labels(truth, is_discrete, n), latents, codes.shape[1])
    return ModularityExplicitness(modularity, float(np.mean(areas)), tuple(is_discrete.tolist()))


def _modularity(sources: list[np.ndarray], latents: list[np.ndarray], n_codes: int) -> float:
    """Average over all codes; those that are not among `latents` are constant and count 0."""
    if not latents:
        return 0.0
    squared = information_matrix(sources, latents) ** 2
    most = squared.max(0)
    others = (squared.sum(0) - most) / max(len(sources) - 1, 1)
    told = most > 0
    of_each = np.where(told, 1 - others / np.where(told, most, 1.0), 0.0)
    return float(np.mean(np.append(of_each, np.zeros(n_codes - len(latents)))))


def _area(
    source: np.ndarray, discrete: bool, codes: np.ndarray, fit: np.ndarray, held_out: np.ndarray
) -> float:
    if not discrete:
        predicted = least_squares(codes[fit], source[fit], codes[held_out])
        return _concordance(source[held_out], predicted)
    known, y = np.unique(source[fit], return_inverse=True)
    probability = level_probabilities(codes[fit], y, codes[held_out], strength=1.0, max_iter=5000)
    positives = source[held_out, None] == known
    present = positives.any(0) & ~positives.all(0)
    areas = [_roc_area(p, q) for p, q in zip(positives.T[present], probability.T[present], strict=True)]
    return float(np.mean(areas)) if areas else 0.5


def _concordance(source: np.ndarray, predicted: np.ndarray) -> float:
    tau = kendalltau(source, predicted).statistic
    return (1 + float(np.nan_to_num(tau))) / 2  # undefined when all predictions are equal: chance


def _roc_area(positive: np.ndarray, score: np.ndarray) -> float:
    """Return the share of pairs, one positive and one not, that the score puts in the right order."""
    n, m = positive.sum(), (~positive).sum()
    return float((rankdata(score)[positive].sum() - n * (n + 1) / 2) / (n * m))
