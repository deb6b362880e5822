"""What must hold for independent components: they are independent, no rotation of them is, and they return.

Whitened data leave a rotation open. Comon's theorem closes it where components are independent and at most
one is Gaussian, and pairs suffice for both: in the plane of each pair little dependence may be left, and a
rotation must add some. Noise, components left out and other optima are what the theorem does not speak of.

References
----------
Comon (1994), Independent component analysis, a new concept? Theorem 11.
Learned-Miller, Fisher (2003), ICA using spacings estimates of entropy: rotations of pairs by entropies.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
from scipy.optimize import linear_sum_assignment

from unmix._fitted import thinned
from unmix.solvers.ica import shape_of_codes

from ._case import Case
from ._common import SAME, match_strength
from ._counterexamples import COUNTEREXAMPLE
from ._linear_forced import forbidden
from ._linear_noise import free_of_noise, none_left_out, outside
from ._linear_planes import Planes, planes_of, standard
from ._linear_refits import codes_with_one_more, half_codes, other_ends
from ._link import Link, link, unchecked

_LITTLE = 1e-4  # nats of dependence that no one need mind
_ENOUGH = 2.5  # standard errors at which a gain counts as undecided: the least of several is looked at
_UNCHANGED = 0.99  # correlation from which on another start has ended at the same place
_FORCED = 2.0  # standard errors, in the square mean over the others, at which it is half in doubt
_MOST = 2000  # rows that laws of components are taken from


def links(case: Case) -> Iterator[Link]:
    """Ask whether components are independent, told from their rotations, free of noise, and found again."""
    here, left_out = planes_of(case.codes), outside(case)
    yield told_apart(here)
    yield independent(here)
    yield unforced(case.codes)
    yield enough_rows(case)
    yield free_of_noise(case, left_out)
    yield none_left_out(case, left_out)
    half = half_codes(case) if case.allows("quick") else None
    yield comes_back(case, "comes back from one half", "quick", half)
    yield other_starts(case, here)
    yield one_more(case)


def told_apart(planes: Planes) -> Link:
    """Measure the dependence that the most favourable rotation towards another component would add."""
    name, gain, error = "a rotation would show", planes.gain, planes.gain_error
    if len(gain) == 1:
        return link(name, np.nan, 0.0, -1.0, ["there is no other component to tell it from"])
    ratio = gain / error
    pair = _weakest(ratio)
    told = "turned towards z{} its dependence grows by {:.4f} nats, error {:.4f}; by 0 in a flat plane"
    words = [told.format(*each) for each in zip(pair, _at(gain, pair), _at(error, pair), strict=True)]
    return link(name, _at(gain, pair), 0.0, (_at(ratio, pair) - _ENOUGH) / _ENOUGH, words)


def independent(planes: Planes) -> Link:
    """Compare the dependence on all others that is left with what a rotation in a plane would add.

    Of each pair counts what exceeds twice its error, and of what a rotation would add the median over the
    planes that were turned, since one weak partner says nothing about the dependence on the others.
    """
    name = "independent of the others"
    if planes.left.shape[1] == 1:
        return link(name, np.nan, 0.0, 0.0, ["there is no other component"])
    beyond = np.nan_to_num(np.maximum(planes.left - 2 * planes.left_error, 0))
    left, pair = beyond.sum(1), np.nan_to_num(planes.left, nan=-np.inf).argmax(1)
    added = _median(np.maximum(planes.gain, 2 * planes.gain_error))
    told = "{:.4f} nats of dependence are left beyond chance, most on z{}; a rotation would add {:.4f}"
    words = [told.format(*each) for each in zip(left, pair, added, strict=True)]
    return link(name, left, 0.0, np.log10(added / np.maximum(left, _LITTLE)), words)


def unforced(codes: np.ndarray) -> Link:
    """Ask whether components are uncorrelated by themselves, or since the fit looked at no others."""
    name, sizes = "uncorrelated of itself", np.abs(forbidden(codes))
    if len(sizes) == 1:
        return link(name, np.nan, 1.0, 0.0, ["there is no other component"])
    found, pair = np.sqrt(np.square(sizes).sum(1) / (len(sizes) - 1)), sizes.argmax(1)
    told = "left free it would correlate with others by {:.1f} times the error, most with z{}; 1 by chance"
    words = [told.format(*each) for each in zip(found, pair, strict=True)]
    return link(name, found, 1.0, 2 * np.log10(_FORCED / np.maximum(found, 0.2)), words)


def enough_rows(case: Case) -> Link:
    """Tell the correlation that is left with so few rows, by the theory behind `FastICA.reliability_`."""
    n_rows = len(case.codes)
    found = shape_of_codes(thinned(case.codes, _MOST), case.model.fun, n_rows).reliability
    told = "with {} rows, and as dependent as they are, a correlation of {:.3f}"
    words = [told.format(n_rows, each) for each in found]
    flat = np.clip(1 - found / 0.5, 0, 1)  # 1 where any rotation would do, which is worse than an error
    return link("error of sampling", found, 0.0, match_strength(found) - 2 * flat, words)


def comes_back(case: Case, name: str, effort: str, other: np.ndarray | None) -> Link:
    """Compare each component with those of a refit to the first half of the rows, on the second."""
    n, seen = case.codes.shape[1], case.halves[1]
    if other is None:
        return unchecked(name, n, effort)
    found, chance = matched(case.codes[seen], other[seen])[1], by_chance(n)
    told = "a refit has it with correlation {:.3f}; a random rotation would have {:.2f}"
    words = [told.format(each, chance) for each in found]
    return link(name, found, chance, match_strength(found), words, effort=effort)


def other_starts(case: Case, here: Planes) -> Link:
    """Look for a counterexample: another start that ends at another component, as independent as this one."""
    name, n = "no other optimum", case.codes.shape[1]
    if not case.allows("full"):
        return unchecked(name, n, "full")
    own, found, tried = np.minimum(independent(here).strength, 1) - 0.5, np.ones(n), 0
    for each in other_ends(case, case.rng(25)):
        found, tried = _challenged(case, each, own, found), tried + 1
    told = "of {} more starts none has as independent a component in its place with correlation below {:.3f}"
    shown = [f"; that one is {COUNTEREXAMPLE}" if each < SAME else "" for each in found]
    words = [told.format(tried, each) + then for each, then in zip(found, shown, strict=True)]
    return link(name, found, by_chance(n), match_strength(found), words, effort="full")


def _challenged(case: Case, others: np.ndarray, own: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return the least correlation so far with a component of another end that is as independent.

    An end at the same place need not prove that it is; and what would not lower the least is not looked at.
    """
    partner, found = matched(case.codes, others)
    lower = found < before
    if found.min() <= _UNCHANGED and lower.any():
        planes = planes_of(others[:, partner], of=lower)
        lower[lower] = independent(Planes(*(table[lower] for table in planes))).strength >= own[lower]
    return np.where(lower, found, before)


def one_more(case: Case) -> Link:
    """Ask for one component more: a latent that was there stays, unless x has no more directions."""
    name, n = "comes back beside one component more", case.codes.shape[1]
    if not case.allows("full"):
        return unchecked(name, n, "full")
    beside = f"; one component fewer leaves at least {_least_direction(case):.1%} of x"
    if case.model.rank_ > n:
        found = comes_back(case, name, "full", codes_with_one_more(case, case.rng(26)))
        return replace(found, words=tuple(each + beside for each in found.words))
    words = [f"x has no further direction that a component could take{beside}"] * n
    return link(name, np.nan, np.nan, 1.0, words, effort="full")


def _least_direction(case: Case) -> float:
    """Return the share of x, each column in its own units, in the least direction that components span."""
    spread = case.x.std(0)
    sizes = np.linalg.svd(case.model.mixing_ / np.where(spread > 0, spread, 1)[:, None], compute_uv=False)
    return float(sizes[-1] ** 2 / len(spread))


def matched(codes: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which component of another fit with as many or more is matched to each, and the size of their
    correlation.
    """
    table = np.abs(standard(codes).T @ standard(others)) / len(codes)
    rows, columns = linear_sum_assignment(-table)
    return columns, table[rows, columns]


@cache
def by_chance(n: int, draws: int = 10) -> float:
    """Return the correlation that components would have with those of a random rotation, on average."""
    rng = np.random.default_rng(n)
    turns = [np.abs(np.linalg.qr(rng.normal(size=(n, n)))[0]) for _ in range(draws)]
    return float(np.mean([turn[linear_sum_assignment(-turn)] for turn in turns]))


def _weakest(ratio: np.ndarray) -> np.ndarray:
    """Return for each component the other one from which it is least protected."""
    return np.where(np.isnan(ratio), np.inf, ratio).argmin(1)


def _median(table: np.ndarray) -> np.ndarray:
    """Return the median of each row over what was measured."""
    ordered, counts = np.sort(table, axis=1), np.isfinite(table).sum(1)
    each = np.arange(len(table))
    return (ordered[each, (counts - 1) // 2] + ordered[each, counts // 2]) / 2


def _at(table: np.ndarray, pair: np.ndarray) -> np.ndarray:
    return table[np.arange(len(table)), pair]
