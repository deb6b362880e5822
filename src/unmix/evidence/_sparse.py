"""Sparse mixing: zeros beyond generic ones, latents that turn out independent, refits that find them again.

Two pieces of evidence speak for the coordinates themselves, and add up. Zeros: how many there are beyond
those that any data show, and beyond those of the sparsest other direction. And independence, which the search
for sparse coordinates does not look for: a basis that is merely sparse leaves codes dependent. Everything
else only rules out.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.stats import norm, rankdata

from unmix.estimators import Autoencoder
from unmix.theory import generic_sparsity

from ._case import Case, fit_anew
from ._common import agreement, explained, held_out_fit, rank_of, second_agreement, survival
from ._link import Link, link, unchecked

_DEPENDENT = 0.12  # correlation, of codes or of their squares, at which they are half in doubt
_CLEAR = 1.5
_COUNTED = (-1.0, 2.0)  # zeros beyond which fewer or more make no difference
_POINTS = 60  # Jacobians
_DROP = 0.25  # a latent more that leaves less than this share of what was left was missing


def links(case: Case) -> Iterator[Link]:
    """Measure what must hold for sparsity to have found the latents."""
    yield sparsity(case)
    yield independence(case)
    yield held_out_fit(case)
    yield number_of_latents(case)
    yield agreement(case)
    yield second_agreement(case)
    yield survival(case)


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
    strength = (np.clip(found.excess, *_COUNTED) + np.clip(found.lead, *_COUNTED)) / 2
    return link("zeros beyond generic ones", found.excess, 0.0, strength, words)


def independence(case: Case) -> Link:
    """Measure the largest correlation of each latent with another, or of their squares, as normal scores."""
    found, rng = dependence(case.codes), case.rng(3)
    null = np.mean([dependence(_turned(case.codes, rng)) for _ in range(10)], axis=0)
    words = [
        f"its largest correlation with another latent, or of their squares, is {here:.2f}; random "
        f"coordinates have {there:.2f}"
        for here, there in zip(found, null, strict=True)
    ]
    strength = np.clip(2 * np.log10(_DEPENDENT / np.maximum(found, 1e-3)), -_CLEAR, _CLEAR)
    if case.codes.shape[1] == case.x.shape[1]:  # square models are asked for it, so that it is no evidence
        strength = np.minimum(strength, 0.0)
    return link("independence", found, null, strength, words)


def dependence(codes: np.ndarray) -> np.ndarray:
    """Return for each latent the largest size of a correlation with another, or of one between their squares.

    Codes become normal scores first, so that a function of each changes nothing.
    """
    scores = norm.ppf((rankdata(codes, axis=0) - 0.5) / len(codes))
    tables = [np.abs(np.corrcoef(power.T)) for power in (scores, np.square(scores))]
    largest = np.nan_to_num(np.maximum(*tables))
    np.fill_diagonal(largest, 0.0)
    return largest.max(1)


def _turned(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n = codes.shape[1]
    return ((codes - codes.mean(0)) / codes.std(0)) @ rng.normal(size=(n, n))


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
