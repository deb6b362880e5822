"""FactorVAE score: the code that moves least tells which factor stands still."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._checks import is_constant
from ._interventions import Encoder, Interventions, prepared
from ._kinds import Declared


def factor_vae_score(
    z_true: ArrayLike,
    z_hat: ArrayLike | Encoder,
    *,
    generator: Encoder | None = None,
    batch_size: int = 64,
    n_train: int = 10_000,
    n_eval: int = 5_000,
    min_std: float = 0.05,
    bins: int | None = None,
    discrete: Declared = None,
    random_state: Any = 0,
) -> float:
    """Hold a factor still, vote for the code whose variance shrinks most, and guess the factor from the code.

    A vote is (factor k, argmin over codes of the variance in a batch with z_k held still, divided by the
    overall variance). Each code stands for the factor that it was voted for most often among `n_train` votes
    (the lowest on a tie); the score is the share of `n_eval` further votes that this rule gets right. Chance
    is about 1 / n_factors; with one factor there is nothing to tell apart, and any active code scores 1.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
    z_hat : array-like of shape (n_samples, n_codes), or callable
        Codes, or an encoder `x -> codes`, which needs `generator` (or takes factors itself).
    generator : callable, optional
        `factors -> x`. Factors are then drawn independently from the columns of `z_true`, so that holding one
        still is exact; from arrays, rows that share its value are picked, with replacement.
    batch_size, n_train, n_eval : int
        Samples per vote, and numbers of votes.
    min_std : float
        Codes that spread less are inactive, and a warning names those that vary. The published 0.05 is in the
        units of the codes; where none spreads so far it is a share of the widest, with a warning. 0 leaves
        out constant codes only and makes the score blind to scale. Where all codes are constant the score
        is 0.
    bins : int, optional
        From arrays, a continuous factor stands still within one of this many bins of equal counts; by default
        2 to 20 bins of ten samples or more.
    discrete : bool or sequence of bools, optional
        Which factors are discrete; by default those whose values repeat.
    random_state : int, numpy.random.Generator or None
        Fixed by default, so that a score is a number and not a draw.

    Returns
    -------
    float

    Examples
    --------
    >>> z = np.random.default_rng(0).integers(4, size=(1000, 3))
    >>> factor_vae_score(z, -2.0 * z[:, [2, 0, 1]])
    1.0
    >>> factor_vae_score(z, np.log, generator=np.exp, n_train=500, n_eval=500)
    1.0
    >>> turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    >>> factor_vae_score(z, z @ turn) > 0.99  # a mix of all factors can pass too: know the floor
    True

    References
    ----------
    Kim and Mnih (2018), Disentangling by factorising, section 4, arXiv:1802.05983; votes and threshold as in
    Locatello et al. (2019), arXiv:1811.12359, appendix.
    """
    counts = {"batch_size": batch_size, "n_train": n_train, "n_eval": n_eval}
    draws = prepared(z_true, z_hat, generator, bins, discrete, random_state, **counts)
    codes = draws.codes
    active = _active(codes, min_std)
    if not len(active):
        return 0.0
    train, unseen = (_votes(draws, n, batch_size, active) for n in (n_train, n_eval))
    guess = train.argmax(1)
    return float(unseen[np.arange(len(active)), guess].sum() / n_eval)


def _active(codes: np.ndarray, min_std: float) -> np.ndarray:
    """Return the codes that count, by the units of the widest where all are inactive by their units alone."""
    varies, spread = ~is_constant(codes), codes.std(0, ddof=1)
    widest = spread[varies].max() if varies.any() else np.inf
    if widest < min_std:
        warnings.warn(
            f"all codes spread by less than min_std={min_std}, {widest:.2g} at most: those count that reach "
            "this share of the widest. Collapsed codes should score 0: look at their spread.",
            stacklevel=3,
        )
    least = min_std if widest >= min_std else min(min_std, 1.0) * widest
    _say_left_out(np.flatnonzero((spread < least) & varies), least)
    return np.flatnonzero((spread >= least) & varies)


def _say_left_out(codes: np.ndarray, least: float) -> None:
    """Warn of codes that vary and have no vote: one that collapsed and one in small units look the same."""
    if len(codes):
        names = ", ".join(map(str, codes[:10])) + (f" and {len(codes) - 10} more" if len(codes) > 10 else "")
        warnings.warn(
            f"codes that spread by less than {least:.2g} have no vote: {names}. Pass `min_std=0` if they are "
            "small by their units, and have not collapsed.",
            stacklevel=4,
        )


def _votes(draws: Interventions, n_votes: int, size: int, active: np.ndarray) -> np.ndarray:
    """Count votes for each code and factor, shape (n_active, n_factors)."""
    overall = draws.codes[:, active].var(0, ddof=1)
    votes = np.zeros((len(active), draws.n_factors), dtype=int)
    for k, codes in draws.batches(n_votes, active, per_point=1, size=size):
        spread = codes.var(1, ddof=1) / overall
        votes[:, k] += np.bincount(spread.argmin(1), minlength=len(active))
    return votes
