"""Latents that change between domains: what has to hold for `CGVAE` and `IVAE` to have found them.

Changes must be there at all, against permuted labels. Every latent must be told apart from every other: by
changes in other proportions, by laws that are not Gaussian, or by zeros of the mixing. The latents must be
independent in each domain, as the theorem has them. And all this must come back on rows that were not used.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ._case import Case
from ._common import (
    agreement,
    and_lost,
    best_match,
    chance_match,
    correlations,
    explained,
    held_out_fit,
    match_strength,
    one_fewer,
)
from ._domains_pairs import by_chance, degrees, dependence, inside, share, turned
from ._domains_rows import codes_of, looked_at, numbers, slopes
from ._domains_zeros import zeros_between
from ._link import MOST, Link, link, unchecked

_DRAWS = 20  # of permuted labels
_STRAIGHT = 0.004  # of the variance of x in bends: as much as a network bends that is fitted to linear data
_LEAK = 0.3  # correlation within domains that a latent which is just still right may have with another
_LEAST_LEFT = 0.005  # of the variance of x: no fit is trusted to explain more
_CLEAR = 2.0  # times what noise scores on average: about its 95% quantile


def links(case: Case) -> Iterator[Link]:
    """Yield what must hold for latents that change between domains."""
    yield changes(case)
    yield told_apart(case)
    yield independent(case)
    yield cleaner(case)
    yield pinned(case)
    yield moves(case)
    yield held_out_fit(case, one_fewer(case))
    yield agreement(case)
    yield told_apart_elsewhere(case)
    yield returns(case, "comes back from the other half", "second")
    yield stays(case)


def changes(case: Case) -> Link:
    """Measure how much the laws of the latents differ between domains, against permuted labels."""
    z, u = looked_at(case.codes, numbers(case))
    found, rng = _gain(z, u), case.rng(11)
    null = float(np.mean([_gain(z, rng.permutation(u)) for _ in range(_DRAWS)]))
    words = f"laws of their own gain the domains {found:.0f} nats, and {null:.0f} if labels are permuted"
    return link("changes between domains", found, null, _times(found, null), [words] * z.shape[1])


def _gain(z: np.ndarray, u: np.ndarray) -> float:
    """Return what Gaussian laws of the latents gain in log-likelihood if each domain has its own."""
    parts = [z[u == domain] for domain in range(u.max() + 1)]
    own = np.sum([len(part) * _log_variance(part) for part in parts], axis=0)
    return float((len(z) * _log_variance(z) - own).sum() / 2)


def _log_variance(z: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(z.var(0), 1e-12))


def told_apart(case: Case) -> Link:
    """Measure what keeps every other latent out of each: dependence that a turn would cause, or zeros."""
    z, u = looked_at(case.codes, numbers(case))
    return _least_apart("told apart from the others", z, u, case.rng(12), _zeros(case), "none")


def told_apart_elsewhere(case: Case) -> Link:
    """Measure the same with the refit to one half of the rows, on the other half."""
    name, n = "told apart on rows not used", case.codes.shape[1]
    if not case.allows("quick"):
        return unchecked(name, n, "quick")
    rows = case.halves[1]
    codes = codes_of(case.first, case.x[rows])
    order = _partners(case.codes[rows], codes)
    z, u = looked_at(codes[:, order], numbers(case)[rows])
    zeros = zeros_between(slopes(case, case.first)[..., order], codes[:, order])
    return _least_apart(name, z, u, case.rng(13), zeros, "quick")


def _partners(codes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return which latent of a refit belongs to each."""
    return linear_sum_assignment(-np.abs(correlations(codes, others)))[1]


def _least_apart(
    name: str, z: np.ndarray, u: np.ndarray, rng: np.random.Generator, zeros: np.ndarray, effort: str
) -> Link:
    """Look at the rival of each latent from which least keeps it apart."""
    found, null = _pairwise(lambda pair: turned(pair, u).min(), z), by_chance(u, rng)
    strength = np.maximum(_times(found, null), _of_zeros(zeros))
    at = _weakest(strength)
    told = [
        f"turned towards z{j} they would be dependent by {found[k, j]:.0f}, and by {null:.0f} if nothing "
        f"told them apart; zeros between the two would be there by luck once in {10 ** zeros[k, j]:.3g} times"
        for k, j in zip(*at, strict=True)
    ]
    return link(name, found[at], null, strength[at], told, effort=effort)


def independent(case: Case) -> Link:
    """Measure how large a correlation within domains, or dependence worth as much, is left."""
    z, u = looked_at(case.codes, numbers(case))
    luck = degrees(u)
    left = _pairwise(lambda pair: share(dependence(pair, u), len(u)), z)
    rivals = left.argmax(1)
    most, null = left[np.arange(len(left)), rivals], share(luck, len(u))
    told = [
        f"as dependent on z{j} within domains as at a correlation of {np.sqrt(r):.2f}; by chance at one of "
        f"{np.sqrt(null):.2f}"
        for j, r in zip(rivals, most, strict=True)
    ]
    beyond = np.maximum(most - null, share(np.sqrt(2 * luck), len(u)))  # its standard error at least
    return link("independent within domains", np.sqrt(most), np.sqrt(null), np.log10(_LEAK**2 / beyond), told)


def cleaner(case: Case) -> Link:
    """Compare the dependence of each pair within domains with that which the least turn causes."""
    z, u = looked_at(case.codes, numbers(case))
    now = _pairwise(lambda pair: dependence(pair, u), z)
    then = _pairwise(lambda pair: turned(pair, u)[[0, -1]].min(), z)
    by_luck = degrees(u)
    cleared = np.log10(np.maximum(then, by_luck) / np.maximum(now, by_luck))
    strength = np.maximum(cleared, _of_zeros(_zeros(case)))
    at = _weakest(strength)
    told = [
        f"dependent on z{j} by {now[k, j]:.0f} within domains, by {then[k, j]:.0f} after a turn of 18 "
        f"degrees, and by {by_luck:.0f} if independent"
        for k, j in zip(*at, strict=True)
    ]
    return link("cleaner than if turned", now[at], then[at], strength[at], told)


def pinned(case: Case) -> Link:
    """Compare the bends of the mixing with what pins them down: 2n + 1 domains, or zeros.

    Two domains tell apart latents behind a linear mixing; a dense one that bends needs 2n + 1 (Theorem 2).
    """
    bend, n, n_domains = _bend(case), case.codes.shape[1], int(numbers(case).max()) + 1
    enough = max(np.log10(_STRAIGHT / max(bend, 1e-9)), np.log2((n_domains - 1) / (2 * n)))
    zeros = _of_zeros(_zeros(case))
    strength = np.maximum(enough, zeros[_weakest(zeros)])
    words = (
        f"{bend:.1%} of the variance of x is in bends of the mixing, {_STRAIGHT:.1%} being nearly straight; "
        f"there are {n_domains} domains, and a dense mixing that bends needs {2 * n + 1}"
    )
    return link("bends that changes pin down", bend, _STRAIGHT, strength, [words] * n)


def _bend(case: Case) -> float:
    """Return the share of the variance of x that the decoder explains and no linear map of the code does."""
    known = np.column_stack([np.ones(len(case.x)), case.codes])
    spread = case.x.std(0)
    x = case.x / np.where(spread > 0, spread, 1)
    left = x - known @ np.linalg.lstsq(known, x, rcond=None)[0]
    return float(np.square(left).mean()) - (1 - explained(case.model, case.x))


def returns(case: Case, name: str, refit: str) -> Link:
    """Compare each latent within domains with that of a refit to one half, on the other half."""
    if not case.allows("full"):
        return unchecked(name, case.codes.shape[1], "full")
    rows = case.halves[0 if refit == "second" else 1]
    u = numbers(case)[rows]
    other = getattr(case, refit)
    mine, others = (inside(z, u) for z in (case.codes[rows], codes_of(other, case.x[rows])))
    found, null = best_match(mine, others), chance_match(mine, case.rng(14))
    told = "the refit has it with correlation {:.2f} within domains; a random rotation would have {:.2f}"
    words = [told.format(here, chance) for here, chance in zip(found, null, strict=True)]
    return link(name, found, null, match_strength(found), and_lost(case, other, found, words), effort="full")


def stays(case: Case) -> Link:
    """Compare each latent with that of a refit with one latent more, where x has room for one."""
    name, n = "stays with one latent more", case.codes.shape[1]
    if not case.allows("full") or _has_room(case):
        return returns(case, name, "more")
    words = f"x varies in {n} directions, so that there is no room for one latent more"
    return link(name, 1.0, 0.0, 1.0, [words] * n, effort="full")


def _has_room(case: Case) -> bool:
    """Return whether the estimator takes one latent more: x must have the rank."""
    try:
        return case.more is not None
    except ValueError:
        return False


def moves(case: Case) -> Link:
    """Compare the share of the variance of x that each latent moves with the share that none explains."""
    spread = case.x.std(0)
    own = slopes(case, case.model) / np.where(spread > 0, spread, 1)[:, None]
    found = np.square(own).mean((0, 1)) * case.codes.var(0)
    left = max(1 - explained(case.model, case.x), _LEAST_LEFT)
    words = [f"it moves {part:.1%} of the variance of x; {left:.1%} is left over" for part in found]
    return link("moves what is observed", found, left, _times(found, left), words)


def _weakest(strength: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each latent and its weakest rival; one latent alone has none, and nothing to fear."""
    np.fill_diagonal(strength, np.inf if len(strength) > 1 else MOST)
    return np.arange(len(strength)), strength.argmin(1)


def _zeros(case: Case) -> np.ndarray:
    """Return in decimal places how surely zeros keep latents out of each other."""
    return zeros_between(slopes(case, case.model), case.codes)


def _of_zeros(places: np.ndarray) -> np.ndarray:
    """Return 0 where zeros would be there by chance once in 10 times, 1 at once in 1,000."""
    return (places - 1) / 2


def _pairwise(measure: Callable[[np.ndarray], float], z: np.ndarray) -> np.ndarray:
    table = np.zeros((z.shape[1], z.shape[1]))
    for j, k in combinations(range(z.shape[1]), 2):
        table[j, k] = table[k, j] = measure(z[:, [j, k]])
    return table


def _times(found: Any, null: float) -> np.ndarray:
    """Return 0 where a score is what noise may well reach, 1 at ten times that."""
    return np.log10(np.maximum(found, 1e-9) / (_CLEAR * max(null, 1e-9)))
