"""Links that every argument needs: a fit that holds on rows not used, and latents that come back.

Agreement rules out and never rules in: a latent that changes with the rows or the start is not trusted, and
one that comes back may still be wrong, since a sparse optimum of a covariance is found again whatever the
truth is.
"""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

from ._case import Case
from ._counterexamples import counterexamples
from ._link import Link, link, unchecked

SAME = 0.95  # correlation with a latent of another fit from which on it counts as the same
_SHORT = 0.05  # share of the variance left over at which a fit is half in doubt


def held_out_fit(case: Case, beside: str = "") -> Link:
    """Measure the share of the variance of x, each column in its own units, that the model explains.

    With a refit at hand, its share on the rows that it has not seen; what else is known of it stands beside.
    """
    name = "fit on rows not used"
    if not case.allows("quick"):
        return unchecked(name, case.codes.shape[1], "quick")
    rows = case.halves[1]
    share = explained(case.first, case.x[rows])
    words = f"the model explains {share:.1%} of x on rows not used{beside}"
    return link(name, share, 0.0, fit_strength(1 - share), [words] * case.codes.shape[1], effort="quick")


def one_fewer(case: Case) -> str:
    """Say at effort "full" what a refit with one latent fewer explains: as much, where one was too many."""
    if not case.allows("full") or case.codes.shape[1] < 2:
        return ""
    return f", with one latent fewer {explained(case.fewer, case.x[case.halves[1]]):.1%}"


def fit_strength(left: float) -> float:
    """Return 1 where hardly anything is left over, 0 at 5% and -1 from 50% on."""
    return float(np.clip(np.log10(_SHORT / max(left, 1e-12)), -1, 1))


def explained(model: Any, x: np.ndarray) -> float:
    """Return the share of the variance explained, mean over standardised columns."""
    spread = x.std(0)
    left = (x - model.inverse_transform(model.transform(x))) / np.where(spread > 0, spread, 1)
    return 1 - float(np.square(left).mean())


def agreement(case: Case) -> Link:
    """Compare each latent with that of a refit to half of the rows from another seed, on the other half."""
    name = "comes back from one half"
    if not case.allows("quick"):
        return unchecked(name, case.codes.shape[1], "quick")
    return _compared(name, case, case.first, case.halves[1], "a refit to half of the rows", "quick")


def second_agreement(case: Case) -> Link:
    """Compare each latent with that of a refit to the other half of the rows."""
    name = "comes back from the other half"
    if not case.allows("full"):
        return unchecked(name, case.codes.shape[1], "full")
    return _compared(name, case, case.second, case.halves[0], "a refit to the other half", "full")


def survival(case: Case) -> Link:
    """Look for each latent in a refit with one latent more."""
    name, n = "survives one latent more", case.codes.shape[1]
    if not case.allows("full"):
        return unchecked(name, n, "full")
    if not can_have(case, n + 1):
        words = ["x has no direction left for one latent more"] * n
        return link(name, np.nan, np.nan, 0.0, words, effort="full")
    return _compared(name, case, case.more, case.halves[1], "a refit with one latent more", "full")


def can_have(case: Case, n_components: int) -> bool:
    """Return whether the first half of the data has the rank for so many latents."""
    return bool(rank_of(case.x[case.halves[0]]) >= n_components)


def rank_of(x: np.ndarray) -> int:
    """Return the number of directions in which standardised columns vary."""
    scaled = (x - x.mean(0)) / np.where(x.std(0) > 0, x.std(0), 1)
    return int(np.linalg.matrix_rank(scaled.T @ scaled / len(x), tol=1e-9, hermitian=True))


def _compared(name: str, case: Case, other: Any, rows: np.ndarray, who: str, effort: str) -> Link:
    found = best_match(case.codes[rows], other.transform(case.x[rows]))
    null = chance_match(case.codes[rows], case.rng(2))
    told = "{} has it with correlation {:.3f}; a random rotation of it would have {:.2f}"
    words = [told.format(who, here, chance) for here, chance in zip(found, null, strict=True)]
    return link(name, found, null, match_strength(found), and_lost(case, other, found, words), effort=effort)


def and_lost(case: Case, other: Any, found: np.ndarray, words: list[str]) -> list[str]:
    """Add to the words on each latent that a refit which does not have it is a counterexample, where so."""
    more = counterexamples(case.model, other, np.abs(found) < SAME)
    return [first + then for first, then in zip(words, more, strict=True)]


def match_strength(correlation: np.ndarray) -> np.ndarray:
    """Return 0 at a correlation of .95, 1 at .995, and -1 at .5."""
    away = np.maximum(1 - np.abs(correlation), 1e-3)
    return np.log10((1 - SAME) / away)


def best_match(codes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return for each latent the size of its rank correlation with its match in another code."""
    table = np.abs(correlations(codes, others))
    rows, columns = linear_sum_assignment(-table)
    found = table.max(1) * (len(others.T) < len(codes.T))  # what is left unmatched may share a partner
    found[rows] = table[rows, columns]
    return found


def correlations(codes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return rank correlations between two sets of columns."""
    ranks = [ranks_of(np.asarray(each)) for each in (codes, others)]
    white = [_unit(each - each.mean(0)) for each in ranks]
    return white[0].T @ white[1]


def ranks_of(values: np.ndarray) -> np.ndarray:
    """Return the rank of each entry within its column, those of equal ones shared: SciPy's, in less time.

    >>> ranks_of(np.array([[3.0, 1.0], [1.0, 1.0], [2.0, 5.0]])).tolist()
    [[3.0, 1.5], [1.0, 1.5], [2.0, 3.0]]
    """
    order = np.argsort(values, axis=0)
    ordered = np.take_along_axis(values, order, axis=0)
    if not (ordered[1:] > ordered[:-1]).all():  # some are equal, or not numbers
        return np.asarray(rankdata(values, axis=0))
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, np.arange(1.0, len(values) + 1)[:, None], axis=0)
    return ranks


def chance_match(codes: np.ndarray, rng: np.random.Generator, draws: int = 20) -> np.ndarray:
    """Return what a random rotation of the same code would score against it, on average."""
    n = codes.shape[1]
    white = codes - codes.mean(0)
    white = white @ np.linalg.pinv(np.linalg.cholesky(np.cov(white.T).reshape(n, n) + 1e-9 * np.eye(n))).T
    turns = [np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(draws)]
    return np.mean([best_match(white, white @ turn) for turn in turns], axis=0)


def _unit(columns: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(columns, axis=0)
    return columns / np.where(length > 0, length, 1)
