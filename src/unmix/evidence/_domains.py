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
from ._common import agreement, best_match, chance_match, correlations, held_out_fit, match_strength
from ._domains_pairs import by_chance, dependence, share, turned
from ._domains_zeros import effects, pair_evidence
from ._link import MOST, Link, link, unchecked

_ROWS = 10_000  # are enough to tell
_DRAWS = 20  # of permuted labels
_LEAK = 0.3  # correlation within domains that a latent which is just still right may have with another
_CLEAR = 2.0  # times what noise scores on average: about its 95% quantile


def links(case: Case) -> Iterator[Link]:
    """What must hold."""
    yield changes(case)
    yield told_apart(case)
    yield independent(case)
    yield cleaner(case)
    yield held_out_fit(case)
    yield agreement(case)
    yield told_apart_elsewhere(case)
    yield returns(case, "comes back from the other half", "second")
    yield returns(case, "stays with one latent more", "more")


def changes(case: Case) -> Link:
    """Measure how much the laws of the latents differ between domains, against permuted labels."""
    z, u = _looked_at(case.codes, case.domains)
    found, rng = _gain(z, u), case.rng(11)
    null = float(np.mean([_gain(z, rng.permutation(u)) for _ in range(_DRAWS)]))
    words = f"telling domains apart gains {found:.0f} nats of log-likelihood, and {null:.0f} by permuted labels"
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
    z, u = _looked_at(case.codes, case.domains)
    zeros = pair_evidence(effects(case.fitted.jacobians, case.codes))
    return _least_apart("told apart from the others", z, u, case.rng(12), zeros, "none")


def told_apart_elsewhere(case: Case) -> Link:
    """Measure the same with the refit to one half of the rows, on the other half."""
    name, n = "told apart on rows not used", case.codes.shape[1]
    if not case.allows("quick"):
        return unchecked(name, n, "quick")
    rows = case.halves[1]
    codes = _codes(case.first, case.x[rows])
    order = _partners(case.codes[rows], codes)
    z, u = _looked_at(codes[:, order], np.asarray(case.domains)[rows])
    zeros = pair_evidence(effects(case.first.jacobian(case.x[rows])[..., order], z))
    return _least_apart(name, z, u, case.rng(13), zeros, "quick")


def _partners(codes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return which latent of a refit belongs to each."""
    return linear_sum_assignment(-np.abs(correlations(codes, others)))[1]


def _least_apart(
    name: str, z: np.ndarray, u: np.ndarray, rng: np.random.Generator, zeros: np.ndarray, effort: str
) -> Link:
    """Look at the rival of each latent from which least keeps it apart."""
    found, null = _pairwise(lambda pair: turned(pair, u).min(), z), by_chance(u, rng)
    strength = np.maximum(_times(found, null), (zeros - 1) / 2)
    at = _weakest(strength)
    told = [
        f"turned towards z{j} the two would be dependent by {found[k, j]:.0f}, {null:.0f} by chance; zeros that "
        f"part them are there by chance once in {10 ** zeros[k, j]:.0f}"
        for k, j in zip(*at, strict=True)
    ]
    return link(name, found[at], null, strength[at], told, effort=effort)


def independent(case: Case) -> Link:
    """Measure how large a correlation within domains, or a dependence worth as much, is left between latents."""
    z, u = _looked_at(case.codes, case.domains)
    left = _pairwise(lambda pair: share(dependence(pair, u), len(u)), z)
    rivals = left.argmax(1)
    most, null = left[np.arange(len(left)), rivals], share(u.max() + 4.0, len(u))  # of degrees of freedom
    told = [
        f"as dependent on z{j} within domains as at a correlation of {np.sqrt(r):.2f}; {np.sqrt(null):.2f} by chance"
        for j, r in zip(rivals, most, strict=True)
    ]
    strength = np.log10(_LEAK**2 / np.maximum(most, null))
    return link("independent within domains", np.sqrt(most), np.sqrt(null), strength, told)


def cleaner(case: Case) -> Link:
    """Compare the dependence of each pair within domains with that which the least turn causes."""
    z, u = _looked_at(case.codes, case.domains)
    now = _pairwise(lambda pair: dependence(pair, u), z)
    then = _pairwise(lambda pair: turned(pair, u)[[0, -1]].min(), z)
    by_luck = u.max() + 4.0
    strength = np.log10(np.maximum(then, by_luck) / np.maximum(now, by_luck))
    at = _weakest(strength)
    told = [
        f"dependent on z{j} by {now[k, j]:.0f} within domains, by {then[k, j]:.0f} if the two were turned by 18 "
        f"degrees, and by {by_luck:.0f} if independent"
        for k, j in zip(*at, strict=True)
    ]
    return link("cleaner than if turned", now[at], then[at], strength[at], told)


def returns(case: Case, name: str, refit: str) -> Link:
    """Compare each latent with that of a refit on the second half."""
    n = case.codes.shape[1]
    if not case.allows("full"):
        return unchecked(name, n, "full")
    rows = case.halves[0 if refit == "second" else 1]  # that the refit has not seen
    found = best_match(case.codes[rows], _codes(getattr(case, refit), case.x[rows]))
    null = chance_match(case.codes[rows], case.rng(14))
    told = [f"the refit has it with correlation {r:.2f}; a random rotation would with {c:.2f}" for r, c in zip(found, null, strict=True)]
    return link(name, found, null, match_strength(found), told, effort="full")


def _codes(model: Any, x: np.ndarray) -> np.ndarray:
    return np.asarray(model.transform(x), dtype=np.float64)


def _weakest(strength: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each latent and its weakest rival; one latent alone has none, and nothing to fear."""
    np.fill_diagonal(strength, np.inf if len(strength) > 1 else MOST)
    return np.arange(len(strength)), strength.argmin(1)


def _pairwise(measure: Callable[[np.ndarray], float], z: np.ndarray) -> np.ndarray:
    table = np.zeros((z.shape[1], z.shape[1]))
    for j, k in combinations(range(z.shape[1]), 2):
        table[j, k] = table[k, j] = measure(z[:, [j, k]])
    return table


def _times(found: Any, null: float) -> np.ndarray:
    """Return 0 where a score is what noise may well reach, 1 at ten times that."""
    return np.log10(np.maximum(found, 1e-9) / (_CLEAR * max(null, 1e-9)))


def _looked_at(codes: np.ndarray, domains: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return rows spread over the data, and the numbers of their domains."""
    step = max(1, -(-len(codes) // _ROWS))
    return codes[::step], np.unique(np.asarray(domains)[::step], return_inverse=True)[1]
