"""Groups of variables that a latent moves more than chance would, beside two kinds of chance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

DRAWS, FEWEST = 999, 199  # permutations, and how few there may be
TURNS = 400  # random mixes of the latents
_WORK = 1e9  # products that all permutations may take
NULL = (
    "A group counts where its variables are moved more than the average variable: noise gives 1.0. It is "
    "told where p, by permutation of the variables and corrected for all groups and latents, is at most .05. "
    "That null ignores that variables of one group resemble each other, so that any latent moves them alike; "
    "what 95% of random mixes of these latents stay below stands beside it for that reason."
)


@dataclass(frozen=True, eq=False)
class Enrichment:
    """Of each group and latent: how much more its variables are moved than the average variable.

    Attributes
    ----------
    names : tuple of str
    sizes : array of shape (n_groups,)
        Number of variables.
    ratio : array of shape (n_groups, n_latents)
        Mean size of the loadings in the group over that of all variables; noise gives 1.
    p : array of shape (n_groups, n_latents)
        By permutation of the variables, corrected for all groups and latents.
    mixed : array of shape (n_groups,)
        What 95% of random mixes of the latents stay below; NaN with fewer than three latents.
    direction : array of shape (n_groups, n_latents)
        From -1 to 1: whether the variables of the group go the same way.
    """

    names: tuple[str, ...]
    sizes: np.ndarray
    ratio: np.ndarray
    p: np.ndarray
    mixed: np.ndarray
    direction: np.ndarray


def enrichment(
    loadings: Any, groups: Mapping[str, Any], *, random_state: int | None = 0, n_draws: int | None = None
) -> Enrichment:
    """Compare how much each latent moves the variables of each group with the average variable.

    Random groups of the same size, drawn by permuting the variables, tell what chance gives; the greatest
    standard score over groups and latents corrects for their number (Westfall and Young, 1993). This null
    says whether names and loadings go together. It does not say that the latent is special: where the
    variables of a group measure one thing, a random mix of the latents moves them alike, too, and is shown
    beside.

    Parameters
    ----------
    loadings : array of shape (n_observed, n_latents)
    groups : mapping of str to variables
        By their number; at least one and not all each.
    random_state : int, optional
    n_draws : int, optional
        Permutations; by default 999, fewer where that would take long.

    Returns
    -------
    Enrichment

    Examples
    --------
    >>> loadings = np.random.default_rng(0).normal(size=(60, 4))
    >>> loadings[:10, 0] += 4
    >>> found = enrichment(loadings, {"first": range(10), "last": range(50, 60)})
    >>> found.ratio[0].round(1).tolist(), (found.p <= 0.05).tolist()
    ([2.9, 0.6, 0.9, 0.7], [[True, False, False, False], [False, False, False, False]])
    """
    values = np.asarray(loadings, dtype=float)
    sizes = np.array([len(np.unique(np.asarray(each, dtype=int))) for each in groups.values()], dtype=int)
    members = _members(groups, sizes, len(values))
    size = np.abs(values)
    with np.errstate(invalid="ignore"):
        size = np.nan_to_num(size / size.mean(0))  # a latent that moves nothing is in no group
    ratio, rng = members @ size, np.random.default_rng(random_state)
    p = tail(_greatest(members, sizes, size, n_draws, rng), _scores(members, sizes, size))
    moved = members @ np.abs(values)
    direction = np.divide(members @ values, moved, out=np.zeros_like(moved), where=moved > 0)
    return Enrichment(tuple(map(str, groups)), sizes, ratio, p, _of_mixes(members, values, rng), direction)


def _members(groups: Mapping[str, Any], sizes: np.ndarray, d: int) -> csr_array:
    """Return a row for each group that takes the mean over its variables."""
    columns = [np.unique(np.asarray(each, dtype=int)) for each in groups.values()]
    weights, starts = np.repeat(1 / np.maximum(sizes, 1), sizes), np.concatenate([[0], np.cumsum(sizes)])
    return csr_array((weights, np.concatenate([np.zeros(0, int), *columns]), starts), shape=(len(groups), d))


def _scores(members: csr_array, sizes: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Standardise means over groups by mean and spread of those over random groups of the same size."""
    of_group = (1 / np.maximum(sizes, 1) - 1 / len(size))[:, None]
    spread = np.sqrt(of_group * size.var(0, ddof=1)[None])
    return np.divide(members @ size - size.mean(0), spread, out=np.zeros(spread.shape), where=spread > 1e-12)


def _greatest(
    members: csr_array, sizes: np.ndarray, size: np.ndarray, n_draws: int | None, rng: Any
) -> np.ndarray:
    """Return the greatest standard score over groups and latents for each permutation of the variables."""
    work = (members.nnz + size.shape[0]) * size.shape[1]
    draws = int(np.clip(_WORK / work, FEWEST, DRAWS)) if n_draws is None else n_draws
    drawn = (_scores(members, sizes, size[rng.permutation(len(size))]) for _ in range(draws))
    return np.array([scores.max(initial=-np.inf) for scores in drawn])


def tail(greatest: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the share of draws, the observed one among them, whose greatest score is as great.

    >>> tail(np.array([1.0, 2.0, 3.0]), np.array([2.5, 9.0])).tolist()
    [0.5, 0.25]
    """
    above = len(greatest) - np.searchsorted(np.sort(greatest), scores - 1e-9, side="left")
    return (1 + above) / (1 + len(greatest))


def _of_mixes(members: csr_array, values: np.ndarray, rng: Any) -> np.ndarray:
    """Return the ratio that 95% of random mixes of the latents stay below."""
    if values.shape[1] < 3 or not members.shape[0]:
        return np.full(members.shape[0], np.nan)
    size = np.abs(values @ rng.normal(size=(values.shape[1], TURNS)))
    return np.quantile(members @ (size / np.maximum(size.mean(0), 1e-300)), 0.95, axis=1)
