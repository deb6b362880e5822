"""What must hold for independent components: they are independent, no rotation of them is, and they return.

Whitened data leave a rotation open. Comon's theorem closes it where components are independent and at most
one is Gaussian, and pairs suffice for both: in the plane of each pair little dependence may be left, and a
rotation must add some, on rows that took no part in the search too, since a search finds a best rotation of
anything. Noise, components left out and other optima are what the theorem does not speak of.

References
----------
Comon (1994), Independent component analysis, a new concept? Theorem 11.
Learned-Miller, Fisher (2003), ICA using spacings estimates of entropy: rotations of pairs by entropies.
"""

from collections.abc import Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment

from unmix.solvers.ica import shape_of_codes

from ._case import Case
from ._common import match_strength
from ._linear_noise import free_of_noise, none_left_out
from ._linear_planes import Planes, planes_of, standard
from ._link import Link, link, unchecked

_LITTLE = 1e-4  # nats of dependence that no one need mind
_ENOUGH = 2.5  # standard errors at which a gain counts as undecided: the least of several is looked at
_WORK = 2e7  # rows x components^2 over all other starts, which keeps them to about a second
_MOST_STARTS, _MOST_HALVES = 8, 3
_UNCHANGED = 0.99  # correlation from which on another start has ended at the same place

_PARTS = ("measured", "null", "strength")


def links(case: Case) -> Iterator[Link]:
    """Ask whether components are independent, told from their rotations, free of noise, and found again."""
    here = planes_of(case.codes, case.rng(21))
    yield told_apart("a rotation would show", here, "none")
    yield independent(here)
    yield enough_rows(case)
    yield free_of_noise(case)
    yield none_left_out(case)
    halves = _halves(case) if case.allows("quick") else []
    yield told_apart_elsewhere(case, halves)
    yield comes_back(case, "comes back from one half", "quick", halves)
    yield other_starts(case, here, halves)
    yield one_more(case)


def told_apart(name: str, planes: Planes, effort: str) -> Link:
    """Measure the dependence that the most favourable rotation towards another component would add."""
    if len(planes.gain) == 1:
        return link(name, np.nan, 0.0, -1.0, ["there is no other component to tell it from"], effort=effort)
    ratio = planes.gain / planes.gain_error
    pair = _weakest(ratio)
    gain, error = _at(planes.gain, pair), _at(planes.gain_error, pair)
    told = "turned towards z{} its dependence grows by {:.4f} nats, error {:.4f}; by 0 in a flat plane"
    words = [told.format(*each) for each in zip(pair, gain, error, strict=True)]
    return link(name, gain, 0.0, (_at(ratio, pair) - _ENOUGH) / _ENOUGH, words, effort=effort)


def told_apart_elsewhere(case: Case, halves: list[np.ndarray]) -> Link:
    """Measure the same on the second half of the rows, for the components of refits to the first."""
    name, n = "a rotation would show on rows not used", case.codes.shape[1]
    if not halves:
        return unchecked(name, n, "quick")
    seen = case.halves[1]
    best = np.argmax([same(case.codes[seen], each[seen]) for each in halves], axis=0)
    found = [each[seen][:, partner(case.codes[seen], each[seen])] for each in halves]
    planes = [planes_of(each, case.rng(22), of=best == k, left=False) for k, each in enumerate(found)]
    return _chosen([told_apart(name, each, "quick") for each in planes], best)


def _chosen(told: list[Link], best: np.ndarray) -> Link:
    """Take for each component what one of several links says of it."""
    each = np.arange(len(best))
    measured, null, strength = (np.array([getattr(one, part) for one in told])[best, each] for part in _PARTS)
    words = [told[one].words[k] for k, one in enumerate(best)]
    return link(told[0].name, measured, null, strength, words, effort=told[0].effort)


def independent(planes: Planes) -> Link:
    """Compare the dependence on all others that is left with what a rotation in a plane would add.

    Of each pair counts what exceeds twice its error, and of what a rotation would add the median over pairs,
    since one weak partner says nothing about the dependence on the others.
    """
    name = "independent of the others"
    if planes.left.shape[1] == 1:
        return link(name, np.nan, 0.0, 0.0, ["there is no other component"])
    beyond = np.nan_to_num(np.maximum(planes.left - 2 * planes.left_error, 0))
    left, pair = beyond.sum(1), np.nan_to_num(planes.left, nan=-np.inf).argmax(1)
    added = np.nanmedian(np.maximum(planes.gain, 2 * planes.gain_error), axis=1)
    told = "{:.4f} nats of dependence are left beyond chance, most on z{}; a rotation would add {:.4f}"
    words = [told.format(*each) for each in zip(left, pair, added, strict=True)]
    return link(name, left, 0.0, np.log10(added / np.maximum(left, _LITTLE)), words)


def enough_rows(case: Case) -> Link:
    """Tell the correlation that is left with so few rows, by the theory behind `FastICA.reliability_`."""
    found = shape_of_codes(case.codes, case.model.fun).reliability
    words = [
        f"with {len(case.codes)} rows, and as dependent as they are, a correlation of {r:.3f}" for r in found
    ]
    flat = np.clip(
        1 - found / 0.5, 0, 1
    )  # 1 where any rotation would do as well, which is worse than an error
    return link("error of sampling", found, 0.0, match_strength(found) - 2 * flat, words)


def comes_back(case: Case, name: str, effort: str, others: list[np.ndarray]) -> Link:
    """Compare each component with those of refits to the first half, on the second.

    Each refit may end at a lesser optimum, which says nothing about these: the nearest is taken.
    """
    n = case.codes.shape[1]
    if not others:
        return unchecked(name, n, effort)
    seen = case.halves[1]
    found = np.max([same(case.codes[seen], each[seen]) for each in others], axis=0)
    chance = _by_chance(n, case.rng(23))
    told = "a refit has it with correlation {:.3f}; a random rotation would have {:.2f}"
    words = [told.format(each, chance) for each in found]
    return link(name, found, chance, match_strength(found), words, effort=effort)


def other_starts(case: Case, here: Planes, halves: list[np.ndarray]) -> Link:
    """Look for a counterexample: another start that ends at another component, as independent as this one.

    Where fits are dear, the one to half of the rows serves here too.
    """
    name, n = "no other optimum", case.codes.shape[1]
    if not halves:
        return unchecked(name, n, "quick")
    more = _starts(case)
    ends = [_end(case, np.arange(len(case.x)), k) for k in range(more)] if more > 1 else halves
    own = np.minimum(independent(here).strength, 1) - 0.5
    found = np.ones(n)
    for each in ends:
        found = _challenged(case, each, own, found)
    told = "of {} more starts none has as independent a component in its place with correlation below {:.3f}"
    words = [told.format(len(ends), each) for each in found]
    return link(name, found, _by_chance(n, case.rng(23)), match_strength(found), words, effort="quick")


def _challenged(case: Case, others: np.ndarray, own: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return the least correlation so far with a component of another end that is as independent.

    An end at the same place need not prove that it is; and what would not lower the least is not looked at.
    """
    found = same(case.codes, others)
    lower = found < before
    if found.min() <= _UNCHANGED and lower.any():
        planes = planes_of(others[:, partner(case.codes, others)], case.rng(21), of=lower)
        lower[lower] = independent(Planes(*(table[lower] for table in planes))).strength >= own[lower]
    return np.where(lower, found, before)


def _halves(case: Case) -> list[np.ndarray]:
    """Return the codes by a few fits to the first half of the rows, each from a start of its own."""
    return [_end(case, case.halves[0], k) for k in range(min(_starts(case), _MOST_HALVES))]


def _starts(case: Case) -> int:
    """How many fits may be made: as many as keep to about a second, and one at least."""
    n_rows, n = case.codes.shape
    return int(np.clip(_WORK / (n_rows * n**2), 1, _MOST_STARTS))


def _end(case: Case, rows: np.ndarray, start: int) -> np.ndarray:
    """Return the codes of all rows by a fit to some of them from a start of its own."""
    words = f"to {len(rows)} rows from start {start + 1}"
    fit = case.refit(rows, words, n_components=case.codes.shape[1], n_restarts=1, w_init=None)
    return np.asarray(fit.transform(case.x), dtype=np.float64)


def one_more(case: Case) -> Link:
    """Ask for one component more: a latent that was there stays, unless x has no more directions."""
    name, n = "comes back beside one component more", case.codes.shape[1]
    if not case.allows("full"):
        return unchecked(name, n, "full")
    if case.model.rank_ > n:
        return comes_back(case, name, "full", [case.more.transform(case.x)])
    words = ["x has no further direction that a component could take"] * n
    return link(name, np.nan, np.nan, 1.0, words, effort="full")


def same(codes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the size of the correlation of each component with the one of another fit matched to it."""
    table = _table(codes, others)
    rows, columns = linear_sum_assignment(-table)
    found = np.zeros(len(table))
    found[rows] = table[rows, columns]
    return found


def partner(codes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return which component of another fit with as many is matched to each."""
    return linear_sum_assignment(-_table(codes, others))[1]


def _table(codes: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.abs(standard(codes).T @ standard(others)) / len(codes)


def _by_chance(n: int, rng: np.random.Generator, draws: int = 20) -> float:
    """Return the correlation that components would have with those of a random rotation, on average."""
    turns = [np.abs(np.linalg.qr(rng.normal(size=(n, n)))[0]) for _ in range(draws)]
    return float(np.mean([turn[linear_sum_assignment(-turn)] for turn in turns]))


def _weakest(ratio: np.ndarray) -> np.ndarray:
    """Return for each component the other one from which it is least protected."""
    return np.where(np.isnan(ratio), np.inf, ratio).argmin(1)


def _at(table: np.ndarray, pair: np.ndarray) -> np.ndarray:
    return table[np.arange(len(table)), pair]
