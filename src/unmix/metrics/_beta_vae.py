"""BetaVAE score: the difference of two codes tells which factor they share."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression

from ._checks import is_constant
from ._interventions import Encoder, Interventions, prepared
from ._kinds import Declared


def beta_vae_score(
    z_true: ArrayLike,
    z_hat: ArrayLike | Encoder,
    *,
    generator: Encoder | None = None,
    batch_size: int = 64,
    n_train: int = 10_000,
    n_eval: int = 5_000,
    bins: int | None = None,
    discrete: Declared = None,
    random_state: Any = 0,
) -> float:
    """Guess from the mean absolute difference of pairs of codes which factor the pairs share.

    Each of `n_train` points averages |ẑ - ẑ'| over `batch_size` pairs that agree in one random factor; a
    logistic regression learns which. The score is its accuracy on `n_eval` further points. Codes are divided
    by their spread first, so that units do not matter. This is the most lenient of the scores: it needs only
    differences that a linear rule can separate, and many rotations of the factors pass. Chance is about
    1 / n_factors, and this is what constant codes reach; with one factor there is nothing to tell apart: 1.

    Parameters
    ----------
    z_true, z_hat, generator, bins, discrete, random_state
        As for `factor_vae_score`.
    batch_size, n_train, n_eval : int
        Pairs per point, and numbers of points.

    Returns
    -------
    float

    Examples
    --------
    >>> z = np.random.default_rng(0).integers(4, size=(1000, 3))
    >>> beta_vae_score(z, -2.0 * z[:, [2, 0, 1]], n_train=500, n_eval=500)
    1.0
    >>> noise = np.random.default_rng(1).normal(size=(1000, 3))
    >>> round(beta_vae_score(z, noise, n_train=500, n_eval=500), 1)
    0.3

    References
    ----------
    Higgins et al. (2017), beta-VAE: learning basic visual concepts with a constrained variational framework,
    section 3; numbers of points as in Locatello et al. (2019), arXiv:1811.12359, appendix.
    """
    counts = {"batch_size": batch_size, "n_train": n_train, "n_eval": n_eval}
    draws = prepared(z_true, z_hat, generator, bins, discrete, random_state, **counts)
    active = np.flatnonzero(~is_constant(draws.codes))
    if draws.n_factors == 1:
        return 1.0
    train, unseen = (_points(draws, n, batch_size, active) for n in (n_train, n_eval))
    if not len(active) or len(np.unique(train[1])) == 1:  # no code varies, or a single factor was drawn
        return float((unseen[1] == np.bincount(train[1]).argmax()).mean())
    return float(LogisticRegression(max_iter=1000).fit(*train).score(*unseen))


def _points(
    draws: Interventions, n_points: int, size: int, active: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean absolute differences, shape (n_points, n_active), and the factor that each point shares."""
    unit = draws.codes[:, active].std(0)
    drawn = draws.batches(n_points, active, per_point=size, size=2)
    parts = [(k, _differences(pairs / unit, size)) for k, pairs in drawn]
    shared = np.concatenate([np.full(len(points), k) for k, points in parts])
    return np.concatenate([points for _, points in parts]), shared


def _differences(pairs: np.ndarray, size: int) -> np.ndarray:
    return np.abs(pairs[:, 0] - pairs[:, 1]).reshape(len(pairs) // size, size, pairs.shape[2]).mean(1)
