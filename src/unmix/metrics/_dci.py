"""Disentanglement, completeness, informativeness: what a probe needs to predict factors from codes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._checks import is_constant, paired, standardised
from ._kinds import Declared, kinds
from ._linear_probes import split
from ._probes import boosted_histograms, boosting, forest, lasso

_PROBES = {"trees": boosted_histograms, "boosting": boosting, "forest": forest, "lasso": lasso}

Probe = Callable[..., tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class DCI:
    """The three scores, and the probe they depend on.

    Attributes
    ----------
    disentanglement, completeness, informativeness : float
        Between 0 and 1.
    probe : str
        The probe that was used. Scores of different probes don't compare.
    importances : ndarray of shape (n_codes, n_factors)
        How much each code helped to predict each factor; columns sum to 1, or are 0 where none helped.
    per_code, per_factor : ndarray
        Disentanglement of each code and completeness of each factor.
    predicted : ndarray of shape (n_factors,)
        Informativeness about each factor.
    discrete : tuple of bool, length n_factors
        Which factors were taken to be discrete.
    """

    disentanglement: float
    completeness: float
    informativeness: float
    probe: str
    importances: np.ndarray
    per_code: np.ndarray
    per_factor: np.ndarray
    predicted: np.ndarray
    discrete: tuple[bool, ...]


def dci(
    z_true: ArrayLike,
    z_hat: ArrayLike,
    *,
    probe: str = "trees",
    discrete: Declared = None,
    random_state: Any = 0,
) -> DCI:
    """Predict each factor from all codes, and score how the importances of codes are spread.

    With R_jk the importance of code j for factor k, P_j the distribution of row j and Q_k that of column k,
    disentanglement is Σ_j ρ_j (1 - H(P_j) / log F), ρ_j the share of row j in ΣR: it is 1 when each code
    serves one factor. Completeness is the mean of 1 - H(Q_k) / log D over the factors that some code helps to
    predict: 1 when each factor is predicted from one code. Informativeness is the accuracy for discrete
    factors, and R², at least 0, for continuous ones, on samples the probe has not seen.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
        None of the factors may be constant. With a single factor disentanglement is 1.
    z_hat : array-like of shape (n_samples, n_codes)
        With a single code completeness is 1. When no code helps, as when all are constant, both are 0. Codes
        that are copies of each other share what they tell.
    probe : {"trees", "boosting", "forest", "lasso"}
        "trees" are boosted over histograms and need lightgbm (extra `trees`). "boosting" is scikit-learn's
        gradient boosting with its defaults, which published tables use; "trees" come near its scores in a
        small part of the time. "forest" and "lasso" are those of the original paper.
    discrete : bool, sequence of n_factors bools, or None
        Which factors are discrete; by default those with at most 200 levels, each seen twice or more on
        average.
    random_state : int, numpy.random.Generator or None
        Draws the two thirds of the samples to fit on, and seeds the probe; fixed by default.

    Returns
    -------
    DCI

    Examples
    --------
    >>> z = np.random.default_rng(0).integers(0, 4, size=(600, 3))
    >>> found = dci(z, -2.0 * z[:, [2, 0, 1]], probe="boosting")
    >>> round(found.disentanglement, 3), round(found.completeness, 3), found.informativeness
    (1.0, 1.0, 1.0)
    >>> found.probe
    'boosting'

    References
    ----------
    Eastwood and Williams (2018), A framework for the quantitative evaluation of disentangled representations,
    ICLR; Locatello et al. (2019), appendix, arXiv:1811.12359, for gradient boosting.
    """
    truth, codes = paired(z_true, z_hat, n_least=6)
    if probe not in _PROBES:
        raise ValueError(f"`probe` must be one of {list(_PROBES)}, got {probe!r}. Choose one of them.")
    is_discrete = kinds(truth, discrete)
    importances, predicted = _probe_all(probe, standardised(codes), truth, is_discrete, random_state)
    per_code, per_factor = _concentration(importances), _concentration(importances.T)
    return DCI(
        disentanglement=_average(per_code, importances.sum(1)),
        completeness=_average(per_factor, importances.sum(0)),
        informativeness=float(predicted.mean()),
        probe=probe,
        importances=importances,
        per_code=per_code,
        per_factor=per_factor,
        predicted=predicted,
        discrete=tuple(is_discrete.tolist()),
    )


def _concentration(weights: np.ndarray) -> np.ndarray:
    """Return 1 - H(row) / log(width) for each row: 1 for a single positive entry, 0 for even rows or none."""
    n_rows, width = weights.shape
    total = weights.sum(1)
    p = weights / np.where(total > 0, total, 1.0)[:, None]
    uncertainty = -(p * np.log(np.where(p > 0, p, 1.0))).sum(1)
    evenness = uncertainty / np.log(width) if width > 1 else np.zeros(n_rows)
    return np.where(total > 0, np.clip(1 - evenness, 0.0, 1.0), 0.0)


def _average(values: np.ndarray, weights: np.ndarray) -> float:
    return float(np.average(values, weights=weights)) if weights.any() else 0.0


def _probe_all(
    name: str, codes: np.ndarray, truth: np.ndarray, discrete: np.ndarray, random_state: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return importances, shape (n_codes, n_factors), and the score of each factor on unseen samples."""
    rng = np.random.default_rng(random_state)
    fit, held_out = split(len(truth), rng)
    fitted = partial(_PROBES[name], random_state=int(rng.integers(2**31)))
    found = [
        (_classify if d else _regress)(fitted, codes[fit], column[fit], codes[held_out], column[held_out])
        for column, d in zip(truth.T, discrete, strict=True)
    ]
    importances = np.column_stack([weights / (weights.sum() or 1.0) for weights, _ in found])
    return importances, np.array([score for _, score in found])


def _classify(
    probe: Probe, codes: np.ndarray, seen: np.ndarray, unseen_codes: np.ndarray, unseen: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return importances and the accuracy on unseen samples; a level never seen is never guessed."""
    known, y = np.unique(seen, return_inverse=True)
    if len(known) == 1 or is_constant(codes).all():
        commonest = known[np.bincount(y).argmax()]
        return np.zeros(codes.shape[1]), float(np.mean(unseen == commonest))
    weights, guessed = probe(codes, y, unseen_codes, len(known))
    return weights, float(np.mean(unseen == known[guessed]))


def _regress(
    probe: Probe, codes: np.ndarray, seen: np.ndarray, unseen_codes: np.ndarray, unseen: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return importances and the share of variance explained on unseen samples, at least 0."""
    together = standardised(np.concatenate([seen, unseen])[:, None])[:, 0]
    target, wanted = together[: len(seen)], together[len(seen) :]
    if is_constant(codes).all() or is_constant(target[:, None])[0] or is_constant(wanted[:, None])[0]:
        return np.zeros(codes.shape[1]), 0.0
    weights, guessed = probe(codes, target, unseen_codes, 0)
    return weights, max(0.0, 1 - float(((wanted - guessed) ** 2).mean() / wanted.var()))
