"""What unrelated latents and random rotations would score: the rates beside every agreement."""

import numpy as np
from scipy.special import betainc

_STEP = 1.25  # candidates whose kurtosis differs by less than this factor are counted together


def tail(correlation: np.ndarray, n: int, kurtosis1: np.ndarray, kurtosis2: np.ndarray) -> np.ndarray:
    """Return a rate at which |correlation| of two unrelated columns of n rows is as large as this.

    The smaller of two. The first is the Beta law of normal columns, at the number of rows that count,
    n / (1 + 3 e / n), e being the product of the two excess kurtoses: n for dense columns, about c^2 / 3 for
    two that fire in c rows each; with a smaller factor, shuffled columns that fire in a tenth of the rows
    exceed it. The second, E r^4 / r^4, holds for any columns under shuffled rows, and is sharp for two that
    fire once, which coincide at a rate of 1 / n.
    """
    r = np.clip(np.abs(correlation), 1e-12, 1.0)
    excess = np.maximum(kurtosis1 - 3, 0) * np.maximum(kurtosis2 - 3, 0)
    n_counting = np.maximum(n / (1 + 3 * excess / n), 3.0)
    fourth = 3 / (n**2 - 1) + excess / n**3
    return np.minimum(np.minimum(betainc((n_counting - 2) / 2, 0.5, 1 - r**2), fourth / r**4), 1.0)


def best_of(
    correlation: np.ndarray, n: int, kurtosis: np.ndarray, candidates_kurtosis: np.ndarray
) -> np.ndarray:
    """Return the rate at which the best of all unrelated candidates reaches each |correlation|.

    1 - prod_j (1 - p_j) over candidates j, an upper bound where they depend on each other. Candidates of
    nearly the same kurtosis are counted together, at the largest.
    """
    ordered = np.sort(candidates_kurtosis)
    level = np.floor(np.log(np.maximum(ordered, 1.0)) / np.log(_STEP))
    groups = np.split(ordered, np.flatnonzero(np.diff(level)) + 1)
    p = [tail(correlation, n, kurtosis, group[-1]) for group in groups]
    missed = sum(len(g) * np.log1p(-np.minimum(q, 1 - 1e-16)) for g, q in zip(groups, p, strict=True))
    return np.asarray(-np.expm1(missed))


def both(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Join the rates of two independent tests into one, by Fisher's product q: q (1 - ln q)."""
    product = np.maximum(first * second, np.finfo(float).tiny)
    return np.asarray(product * (1 - np.log(product)))


def rotated_share(n_columns: int, random_state: int = 0, n_draws: int = 400) -> float:
    """Return the mean of max_j |u_j| over random directions u: of what a code holds of a latent, the part
    that its best single column holds after a random rotation.

    Examples
    --------
    >>> [round(rotated_share(k), 2) for k in (1, 2, 10, 1000)]
    [1.0, 0.9, 0.6, 0.11]
    """
    rng = np.random.default_rng(random_state)
    best = np.empty(n_draws)
    for draw in range(n_draws):  # one at a time: wide codes have many columns
        direction = np.abs(rng.standard_normal(n_columns))
        best[draw] = direction.max() / np.linalg.norm(direction)
    return float(best.mean())
