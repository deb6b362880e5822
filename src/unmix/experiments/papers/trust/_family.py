"""A family of worlds: how data are drawn, which estimator is tried on them, and what counts as right."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import spearmanr

from unmix.data import LatentDataset

RIGHT = 0.95  # rank correlation with a true latent from which on a latent counts as right

Units = tuple[tuple[int, ...], ...]


def right_latents(data: LatentDataset, codes: np.ndarray, units: Units) -> np.ndarray:
    """Return for each latent whether it is one of the true ones, each of which can be claimed once."""
    del units  # each latent is one
    table = _rank_correlations(codes, data.z)
    found = np.zeros(len(table), bool)
    rows, columns = linear_sum_assignment(-table)
    found[rows] = table[rows, columns] > RIGHT
    return found


def _rank_correlations(codes: np.ndarray, z: np.ndarray) -> np.ndarray:
    both = np.atleast_2d(spearmanr(codes, z).statistic)
    n = codes.shape[1]
    square = both if both.size > 1 else np.array([[1, both[0, 0]], [both[0, 0], 1]])
    return np.abs(np.nan_to_num(square[:n, n:]))


def case_of(seed: int, n: int) -> int:
    """Draw one of n cases; remainders of the seeds of a family would all be the same.

    >>> sorted({case_of(100_000 * seed, 8) for seed in range(100)})
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    return int(np.random.default_rng((seed, 23)).integers(n))


@dataclass(frozen=True)
class Family:
    """Worlds of one mechanism, and the estimator that a user would try on them.

    Attributes
    ----------
    name : str
    kind : str
        Of the argument: "sparse", "mixture", "domains", "slots", "linear" or "none".
    draw : callable (n_samples, seed) -> LatentDataset
        Sizes vary with the seed, where the family has several.
    model : callable (data, seed) -> estimator
        Not fitted. It may look at the sizes of the data, never at the truth.
    n_samples : int
    null : bool
        Whether no latent of the family is identifiable, so that every yes is false trust.
    right : callable (data, codes, units) -> ndarray of bool
    labelled : bool
        Whether the estimator is given `data.u`.
    """

    name: str
    kind: str
    draw: Callable[[int, int], LatentDataset]
    model: Callable[[LatentDataset, int], Any]
    n_samples: int = 3000
    null: bool = False
    right: Callable[[LatentDataset, np.ndarray, Units], np.ndarray] = right_latents
    labelled: bool = False
