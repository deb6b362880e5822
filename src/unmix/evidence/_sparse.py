"""Sparse mixing: zeros beyond generic ones, latents that turn out independent, refits that find them again.

Three pieces of evidence speak for the coordinates themselves, and add up. Zeros: how many there are beyond
those that any data show, and beyond those of the sparsest other direction. And independence, which the search
for sparse coordinates does not look for: a basis that is merely sparse leaves codes dependent. It counts as
far as turned codes would be less independent, since Gaussian ones are independent in every turn. And both for
the other latents, since a basis is found as a whole. Everything else only rules out.
"""

from collections.abc import Iterator
from functools import partial
from itertools import combinations

import numpy as np
from scipy.stats import norm, rankdata

from unmix.estimators import Autoencoder
from unmix.theory import generic_sparsity

from ._case import Case, fit_anew
from ._common import agreement, explained, held_out_fit, rank_of, second_agreement, survival
from ._link import Link, link, unchecked

_DEPENDENT = 0.12  # correlation, of codes or of their squares, at which they are half in doubt
_DOUBT, _CLEAR = -1.0, 1.5  # strengths of independence: latents may depend, and be right
_COUNTED = (-1.0, 3.0)  # zeros beyond which fewer or more make no difference
_ANGLES = np.pi * np.array([0.1, 0.2, 0.25, 0.3, 0.4])  # by which pairs are turned, and back
_PARTNERS = 12  # others with which a latent is turned at most
_POINTS = 60  # Jacobians
_DROP = 0.25  # a latent more that leaves less than this share of what was left was missing


def links(case: Case) -> Iterator[Link]:
    """Measure what must hold for sparsity to have found the latents."""
    yield from coordinates(case)
    yield held_out_fit(case)
    yield number_of_latents(case)
    yield agreement(case)
    yield second_agreement(case)
    yield survival(case)


def coordinates(case: Case) -> Iterator[Link]:
    """Yield what speaks for the coordinates: zeros, independence, and both of the other latents."""
    zeros, independent = sparsity(case), independence(case)
    yield from (zeros, independent, company(zeros, independent))


def sparsity(case: Case) -> Link:
    """Count zeros beyond the free ones, and beyond those of the sparsest other coordinates."""
    points = case.x[:: max(1, len(case.x) // _POINTS)][:_POINTS]
    spread = case.x.std(0)
    varies = spread > 0  # a constant column is moved by nothing, whatever a network says of it
    jacobians = case.model.jacobian(points)[:, varies] / spread[varies, None]
    found = generic_sparsity(jacobians, latent_scale=case.codes.std(0))
    words = [
        f"{excess:.1f} zeros protect it beyond those that any data show, {lead:.1f} beyond those of the "
        "sparsest other coordinates"
        for excess, lead in zip(found.excess, found.lead, strict=True)
    ]
    strength = np.minimum(np.clip(found.excess, *_COUNTED), np.clip(found.lead, *_COUNTED) + 0.5)
    return link("zeros beyond generic ones", found.excess, 0.0, strength, words)


def independence(case: Case) -> Link:
    """Compare the dependence of the codes with what it would be if two of them were turned together."""
    found, null = dependence(case.codes), if_turned(case.codes, case.rng(3))
    words = [
        f"its largest correlation with another latent, or of their squares, is {here:.2f}; turned within a "
        f"pair it would be {there:.2f}"
        for here, there in zip(found, null, strict=True)
    ]
    strength = 2 * np.log10(np.minimum(_DEPENDENT, null) / np.maximum(found, 1e-3))
    if case.codes.shape[1] == case.x.shape[1]:  # square models are asked for it, so that it is no evidence
        strength = np.minimum(strength, 0.0)
    return link("independence", found, null, np.clip(strength, _DOUBT, _CLEAR), words)


def company(zeros: Link, independent: Link) -> Link:
    """Tell what speaks for the other latents: a search finds a sparse basis as a whole, or another one.

    >>> each = [link("", 0, 0, strength, [""] * 3) for strength in ([3.0, 2.0, 1.0], [1.0, 0.0, -1.0])]
    >>> company(*each).strength.tolist()
    [0.5, 1.0, 1.5]
    """
    own = (zeros.strength + independent.strength) / 2
    others = (own.sum() - own) / max(len(own) - 1, 1)  # 0 where there is no other
    told = "zeros and independence speak for the other latents by {:.1f} in the mean; 0 if any basis would do"
    return link("coordinates of the others", others, 0.0, others, [told.format(each) for each in others])


def dependence(codes: np.ndarray) -> np.ndarray:
    """Return for each latent the largest size of a correlation with another, or of one between their squares.

    Codes become normal scores first, so that a function of each changes nothing.
    """
    scores = norm.ppf((rankdata(codes, axis=0) - 0.5) / len(codes))
    tables = [np.abs(np.corrcoef(power.T)) for power in (scores, np.square(scores))]
    largest = np.nan_to_num(np.maximum(*tables))
    np.fill_diagonal(largest, 0.0)
    return largest.max(1)


def if_turned(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return for each latent the dependence that turns of a pair cause, with the partner that shows it least.

    Gaussian codes show none at any angle: then nothing but zeros tells their coordinates.
    """
    scores = (codes - codes.mean(0)) / np.maximum(codes.std(0), 1e-300)
    found = np.full(codes.shape[1], np.inf)
    for pair in map(list, _pairs(codes.shape[1], rng)):
        found[pair] = np.minimum(found[pair], _turned_pair(*scores[:, pair].T))
    return np.where(np.isinf(found), 0.0, found)


def _pairs(n: int, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Yield all pairs, or where there are many the neighbours in a few random orders."""
    if n <= _PARTNERS + 1:
        yield from combinations(range(n), 2)
        return
    for _ in range(_PARTNERS // 2):
        order = rng.permutation(n).tolist()
        yield from zip(order, order[1:] + order[:1], strict=True)


def _turned_pair(a: np.ndarray, b: np.ndarray) -> float:
    """Return the middle dependence of two codes, made uncorrelated, over turns of their plane."""
    correlation = float(np.clip(a @ b / len(a), -0.999, 0.999))
    sums, gaps = (a + b) / np.sqrt(1 + correlation), (a - b) / np.sqrt(1 - correlation)
    white = (sums + gaps) / 2, (sums - gaps) / 2
    turns = (np.array([[np.cos(t), np.sin(t)], [-np.sin(t), np.cos(t)]]) for t in (*_ANGLES, *-_ANGLES))
    return float(np.median([dependence(np.column_stack(white) @ turn)[0] for turn in turns]))


def number_of_latents(case: Case) -> Link:
    """Compare what plain autoencoders with one latent fewer, as many and one more leave of rows not used."""
    name, n = "number of latents", case.codes.shape[1]
    if not case.allows("quick"):
        return unchecked(name, n, "quick")
    left = partial(_left, case)
    own, more = left(n), left(n + 1)
    ratio = more / max(own, 1e-12)
    beside = f"one latent more leaves {more:.2%} and one fewer {left(n - 1):.2%}"
    words = f"the model's number leaves {own:.2%} of x on rows not used to a plain autoencoder, {beside}"
    strength = 2 * np.log10(ratio / _DROP)
    return link(name, ratio, 1.0, min(strength, 1.0), [words] * n, effort="quick")


def _left(case: Case, n_components: int) -> float:
    """Return what a plain autoencoder leaves; as much as one fewer where there can't be more."""
    rows, held = case.halves
    size = int(np.clip(n_components, 1, rank_of(case.x[rows])))
    settings = {name: getattr(case.model, name) for name in ("max_iter", "batch_size", "lr", "device")}
    with case.telling(f"fitting an autoencoder with {size} latents"):
        plain = fit_anew(Autoencoder(size, **settings), case.x[rows], None, case.seed("autoencoder"))
    return 1 - explained(plain, case.x[held])
