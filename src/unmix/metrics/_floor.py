"""What a score is worth: the value that codes reach which identify nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import ortho_group

from ._checks import paired, standardised
from ._mcc import mcc


def rotation_floor(
    z_true: ArrayLike,
    *,
    metric: Callable[[np.ndarray, np.ndarray], float] = mcc,
    n_draws: int = 20,
    random_state: Any = None,
) -> float:
    """Score random rotations of the standardised factors, codes that know everything and identify nothing.

    A score at this level is no evidence of identification. With one factor a rotation is a sign, and the
    floor of a sign-blind metric is its best value.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
    metric : callable
        `(z_true, z_hat) -> float`.
    n_draws : int
        Rotations to average over.
    random_state : int, numpy.random.Generator or None

    Returns
    -------
    float

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(2000, 5))
    >>> round(rotation_floor(z, random_state=0), 1)
    0.7
    """
    truth, _ = paired(z_true, z_true)
    if n_draws < 1:
        raise ValueError(f"`n_draws` must be at least 1, got {n_draws}. Twenty are usually enough.")
    rng = np.random.default_rng(random_state)
    codes = standardised(truth)
    return float(np.mean([metric(truth, codes @ rotation(codes.shape[1], rng)) for _ in range(n_draws)]))


def rotation(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw an orthogonal matrix uniformly (Haar); with one dimension, a sign."""
    return ortho_group.rvs(n, random_state=rng) if n > 1 else rng.choice([-1.0, 1.0], (1, 1))
