"""Separated attribute predictability: how far one code alone predicts each factor."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier

from ._checks import paired, standardised, unit_rows
from ._kinds import Declared, kinds, labels


def sap(z_true: ArrayLike, z_hat: ArrayLike, *, discrete: Declared = None) -> float:
    """Average over factors the gap between the two codes that predict them best, each code used alone.

    A continuous factor is predicted by a line and scored by R² = corr²; a discrete one by thresholds on the
    code, one fewer than it has levels, and scored by balanced accuracy, whose chance value is one over the
    number of levels. So the best value is 1 for continuous factors, and 1 - 1/levels for discrete ones, where
    the second code is at chance.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
        None of the factors may be constant.
    z_hat : array-like of shape (n_samples, n_codes)
        A constant code, and the second code where there is only one, predict at chance.
    discrete : bool, sequence of n_factors bools, or None
        Which factors are discrete; by default those with at most 200 levels, each seen twice or more on
        average.

    Returns
    -------
    float

    Notes
    -----
    Thresholds are placed one after the other, each where the Gini impurity of classes of equal weight falls
    most. Published code fits a linear support vector machine instead, which depends on the scale of the codes
    and, one class against the rest, cannot pick out a middle level with a single code.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(2000, 3))
    >>> round(sap(z, -2 * z[:, [2, 0, 1]]), 2)
    1.0
    >>> round(sap(z, np.hstack([z, z])), 2)
    0.0
    >>> levels = np.random.default_rng(0).integers(0, 4, size=(2000, 3))
    >>> round(sap(levels, levels), 2)
    0.73

    References
    ----------
    Kumar, Sattigeri and Balakrishnan (2018), Variational inference of disentangled latent concepts from
    unlabeled observations, section 3, arXiv:1711.00848.
    """
    truth, codes = paired(z_true, z_hat)
    codes = standardised(codes)
    columns = zip(truth.T, kinds(truth, discrete), strict=True)
    return float(np.mean([_gap(_accuracy(s, codes) if d else _share(s, codes)) for s, d in columns]))


def _gap(scores: np.ndarray) -> float:
    second, first = np.sort(scores)[-2:]
    return float(first - second)


def _share(source: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the share of variance that a line through each code explains, then a 0; shape (n_codes + 1,)."""
    correlation = unit_rows(codes.T) @ unit_rows(source[None])[0]
    return np.append(np.minimum(correlation**2, 1.0), 0.0)


def _accuracy(source: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the balanced accuracy of thresholds on each code, then chance; shape (n_codes + 1,)."""
    y = labels(source)
    n_levels = int(y.max()) + 1
    thresholds = DecisionTreeClassifier(max_leaf_nodes=n_levels, class_weight="balanced", random_state=0)
    fitted = [balanced_accuracy_score(y, thresholds.fit(z, y).predict(z)) for z in codes.T[:, :, None]]
    return np.array([*fitted, 1 / n_levels])
