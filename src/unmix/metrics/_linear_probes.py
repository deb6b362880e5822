"""Linear probes: logistic regression for levels, least squares for numbers."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression


def split(n_samples: int, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
    """Draw two thirds of the rows to fit on, and a third to score on, as published tables divide them."""
    rows = np.random.default_rng(random_state).permutation(n_samples)
    n_held_out = n_samples // 3
    return rows[n_held_out:], rows[:n_held_out]


def level_probabilities(
    codes: np.ndarray, y: np.ndarray, unseen: np.ndarray, *, strength: float = np.inf, max_iter: int = 100
) -> np.ndarray:
    """Fit multinomial logistic regression, levels having equal weight; return shape (m, levels).

    Columns follow the labels 0, 1, ... of `y`, all of which must occur. `strength` is the inverse weight of
    the squared penalty, by default none. Separable levels have no optimum; the solver then stops at its
    tolerance or its last iteration, which serves.
    """
    if y.min() == y.max():
        return np.ones((len(unseen), 1))
    model = LogisticRegression(C=strength, class_weight="balanced", tol=1e-4, max_iter=max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(codes, y).predict_proba(unseen)


def least_squares(codes: np.ndarray, target: np.ndarray, unseen: np.ndarray) -> np.ndarray:
    """Predict numbers by a line fitted with intercept; shape (m,)."""
    centre, mean = codes.mean(0), target.mean()
    weights = np.linalg.lstsq(codes - centre, target - mean, rcond=None)[0]
    return (unseen - centre) @ weights + mean
