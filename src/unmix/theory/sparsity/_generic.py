"""Generic sparsity: how many zeros any data can be made to show, and what is beyond.

Let n latents move d >= n variables by a generic map. Any n of the variables may serve as codes, and any
direction of latent space can be chosen to move n - 1 fewer of them: n - 1 zeros for each latent are free,
whatever the truth is, and a search among C(d, n - 1) such directions finds more by luck. So zeros count by
what they exceed: the free ones, within every set of latents that could be recombined while the rest stays;
and those of the sparsest other direction at hand, which had the same luck.

A zero is a zero at a resolution: an entry counts in full below it and not at all from three times it on. It
is that of the estimate itself: where most small entries are tiny, one that is merely small is no zero. Rows
that point the same way at every sample are one row: copies of a sensor are no coincidence.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb, inf, log10, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._certificate import attributes

COARSE, FINE = 0.1, 0.05  # resolutions of zeros: at most, and where directions are compared
_SHARP = 3.0  # times the middle of the small entries is the resolution of an estimate
_SHARPEST = 0.01
_ALIKE = 0.1  # rows whose directions differ by less, as an angle, count as one
_TOUCHED = 0.2  # share of a row's size from which on a set of latents moves it
_PART = 0.35  # share of a unit direction from which on it contains a latent
_MOST = 3.0  # what exceeds by more is not told apart
_CANDIDATES = 4000
_MOST_VARIABLES = 1000  # up to which a plan looks
_SIZES = (2, 3, 4)  # sets of latents that are gone through, besides all of them


@dataclass(frozen=True, eq=False)
class GenericSparsity:
    """Zeros beyond what any data show, for each latent; see `generic_sparsity`.

    Attributes
    ----------
    excess : ndarray of shape (n_latents,)
        Zeros that keep others from taking part in the latent, beyond the free ones, in the set of latents
        where they are fewest.
    lead : ndarray of shape (n_latents,)
        By how many zeros they exceed those of the sparsest direction that would mix the latent in; 0 where
        there are too few rows for any.
    n_rows : int
        Rows that differ.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> support = np.repeat([[1, 1, 0], [1, 0, 1], [0, 1, 1]], 6, axis=0)
    >>> sparse = support * rng.uniform(0.3, 1, support.shape)
    >>> bool((generic_sparsity(sparse[None]).excess > 1).all())
    True
    >>> bool((generic_sparsity(rng.normal(size=(1, 18, 3))).excess > 1).any())
    False
    """

    excess: np.ndarray
    lead: np.ndarray
    n_rows: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return attributes(self, "excess", "lead", "n_rows")


def generic_sparsity(
    jacobians: ArrayLike, *, latent_scale: ArrayLike | None = None, random_state: int = 0
) -> GenericSparsity:
    """Count zeros of Jacobians beyond those that generic data show.

    Parameters
    ----------
    jacobians : array-like of shape (n, n_observed, n_latents)
        Samples of a decoder's Jacobian.
    latent_scale : array-like of shape (n_latents,), optional
        Standard deviations of the latents, in which they are compared.
    random_state : int
        For a choice among directions, where there are more than a few thousand.

    Returns
    -------
    GenericSparsity
    """
    samples = np.asarray(jacobians, dtype=np.float64)
    if samples.ndim != 3 or not samples.size:
        raise ValueError(
            f"`jacobians` must have shape (n, n_observed, n_latents), got {samples.shape}. Stack them."
        )
    if not np.isfinite(samples).all():
        raise ValueError("`jacobians` must be finite, got nan or inf. Leave out the samples that have them.")
    moments = _moments(_distinct(samples * _scale(latent_scale, samples.shape[2])))
    return GenericSparsity(
        _excess(moments), _lead(moments, np.random.default_rng(random_state)), len(moments)
    )


def _scale(latent_scale: ArrayLike | None, n: int) -> np.ndarray:
    scale = np.ones(n) if latent_scale is None else np.asarray(latent_scale, dtype=np.float64)
    if scale.shape != (n,) or not (np.isfinite(scale) & (scale >= 0)).all():
        raise ValueError(
            f"`latent_scale` must hold {n} standard deviations, got {scale}. Give one for each latent."
        )
    return scale


def _distinct(samples: np.ndarray) -> np.ndarray:
    """Keep one of all rows that point the same way at every sample, the largest; none that are zero."""
    size = np.square(samples).sum((0, 2))
    unit = samples / np.maximum(np.linalg.norm(samples, axis=2, keepdims=True), 1e-300)
    cosines = np.abs(np.einsum("mdn,men->mde", unit, unit)).mean(0)
    kept: list[int] = []
    for row in np.argsort(-size):
        if size[row] > 0 and (cosines[row, kept] < 1 - _ALIKE**2 / 2).all():
            kept.append(int(row))
    return samples[:, kept]


def _moments(samples: np.ndarray) -> np.ndarray:
    """Return E[J_i J_i'] of each row i, with trace 1: the size of J_i r is the root of r' E r."""
    moments = np.einsum("mdi,mdj->dij", samples, samples) / len(samples)
    return moments / np.trace(moments, axis1=1, axis2=2)[:, None, None]


def zeros(sizes: np.ndarray, resolution: float) -> np.ndarray:
    """Count entries as zeros: in full below the resolution, less and less up to three times it.

    >>> zeros(np.array([0.0, 0.1, 0.3, 1.0]), 0.1).round(3)
    array([1., 1., 0., 0.])
    """
    return np.clip(np.log(3 * resolution / np.maximum(sizes, 1e-300)) / np.log(3), 0, 1)


def _sets(n: int) -> Iterator[list[int]]:
    for size in sorted({size for size in (*_SIZES, n) if 2 <= size <= n}):
        if comb(n, size) <= _CANDIDATES:
            yield from map(list, combinations(range(n), size))


def _excess(moments: np.ndarray) -> np.ndarray:
    """Take for each latent the least over sets that contain it of the mean excess of the others."""
    sizes = np.sqrt(np.einsum("dii->di", moments))
    here = _resolution_of(sizes)
    found = np.full(sizes.shape[1], inf)
    for latents in _sets(sizes.shape[1]):
        own = np.linalg.norm(sizes[:, latents], axis=1)
        touched = own > _TOUCHED
        relative = sizes[touched][:, latents] / own[touched, None]
        beyond = zeros(relative, here).sum(0) - (len(latents) - 1)
        others = (beyond.sum() - beyond) / (len(latents) - 1)
        found[latents] = np.minimum(found[latents], others)
    return np.clip(np.where(np.isinf(found), 0.0, found), -_MOST, _MOST)


def _resolution_of(sizes: np.ndarray) -> float:
    """Return the size up to which entries of this estimate are zeros, by the middle of the small ones."""
    small = sizes[sizes < COARSE]
    enough = len(small) >= sizes.shape[1]
    return float(np.clip(_SHARP * np.median(small), _SHARPEST, COARSE)) if enough else COARSE


def _lead(moments: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Compare the zeros of each direction j with those of the sparsest one that contains j and latent k."""
    n = moments.shape[1]
    others = _other_directions(moments, rng)
    own, theirs = _zeros_along(moments, np.eye(n)), _zeros_along(moments, others)
    holds = np.abs(others) > _PART
    lead = np.full(n, inf)
    for j, k in ((j, k) for j in range(n) for k in range(n) if j != k):
        rivals = theirs[holds[:, j] & holds[:, k]]
        if len(rivals):
            lead[k] = min(lead[k], own[j] - rivals.max())
    return np.clip(np.where(np.isinf(lead), 0.0, lead), -_MOST, _MOST)


def _zeros_along(moments: np.ndarray, directions: np.ndarray) -> np.ndarray:
    sizes = np.sqrt(np.maximum(np.einsum("ri,dij,rj->rd", directions, moments, directions), 0))
    return zeros(sizes, FINE).sum(1)


def _other_directions(moments: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return unit directions within pairs, triples and all of the latents that move few rows."""
    n = moments.shape[1]
    found = [np.empty((0, n))]
    for latents in _sets(n):
        if len(latents) == 4 != n:
            continue  # triples and all are enough for rivals
        part = moments[:, latents][:, :, latents]
        size = np.trace(part, axis1=1, axis2=2)
        touched = part[size > _TOUCHED**2] / size[size > _TOUCHED**2][:, None, None]
        for_rows = _choices(len(touched), len(latents) - 1, _CANDIDATES if len(latents) == n else 1000, rng)
        if len(for_rows):
            directions = np.zeros((len(for_rows), n))
            directions[:, latents] = np.linalg.eigh(touched[for_rows].sum(1))[1][:, :, 0]
            found.append(directions)
    return np.concatenate(found)


def _choices(n: int, size: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return all choices of so many of n rows, or as many random ones as there may be."""
    if comb(n, size) <= most:
        return np.array(list(combinations(range(n), size)), dtype=int).reshape(-1, size)
    return np.argsort(rng.random((most, n)), axis=1)[:, :size]


@dataclass(frozen=True)
class Plan:
    """How many variables a certificate by sparsity needs; see `variables_needed`.

    Attributes
    ----------
    n_latents, n_parents : int
    resolution, level : float
    n_observed : int or None
        The smallest number of variables from which on all are enough; None where none up to 1000 is.
    zeros, free : int
        Zeros of each latent then, and how many of these are free.
    """

    n_latents: int
    n_parents: int
    resolution: float
    level: float
    n_observed: int | None
    zeros: int
    free: int

    def __str__(self) -> str:
        if self.n_observed is None:
            return (
                f"No number of variables is enough for {self.n_latents} latents, {self.n_parents} for each "
                f"variable, at a resolution of {self.resolution:.3g}: fewer parents or more samples would be."
            )
        return (
            f"{self.n_observed} variables or more: each of {self.n_latents} latents then leaves "
            f"{self.zeros} alone, of which {self.free} are free and the rest happen by luck in less than "
            f"{self.level:.0%}."
        )


def resolution(n_samples: int, noise: float = 0.1) -> float:
    """Return the size below which an entry can't be told from zero: four standard errors of a loading.

    >>> round(resolution(10_000, noise=0.5), 2)
    0.02
    """
    if n_samples < 2 or noise < 0:
        raise ValueError(
            f"`n_samples` must be at least 2 and `noise` at least 0, got {n_samples} and {noise}. Mend them."
        )
    return max(4 * noise / sqrt(n_samples), 1e-4)


def variables_needed(
    n_latents: int, n_parents: int = 2, *, resolution: float = 0.05, level: float = 0.05
) -> Plan:
    """Tell beforehand how many observed variables a certificate by sparsity needs.

    The chance that some generic direction leaves k variables beyond the free ones alone is at most
    C(d, n-1) C(d-n+1, k) e^k at a resolution e: a union bound over directions and variables.

    Parameters
    ----------
    n_latents, n_parents : int
        The number of latents, and of those that move each variable.
    resolution : float
        Of an entry against the largest of its row; `resolution(n_samples, noise)` tells it.
    level : float
        The chance of being misled, for one latent.

    Returns
    -------
    Plan

    Examples
    --------
    >>> print(variables_needed(5, 2, resolution=0.01))
    14 variables or more: each of 5 latents then leaves 8 alone, of which 4 are free and the rest happen by
    luck in less than 5%.
    """
    if not 1 <= n_parents < n_latents:
        raise ValueError(
            f"`n_parents` must be at least 1 and below n_latents={n_latents}, got {n_parents}. Choose fewer."
        )
    if not 0 < resolution < 1:
        raise ValueError(f"`resolution` must be between 0 and 1, got {resolution}. Use that of a loading.")
    if not 0 < level < 1:
        raise ValueError(f"`level` must be between 0 and 1, got {level}. Use 0.05 if in doubt.")
    settings = (n_latents, n_parents, resolution, level)
    least = None
    for d in range(_MOST_VARIABLES, n_latents - 1, -1):  # downwards: every larger number must do as well
        if luck(n_latents, d, _left_alone(d, n_latents, n_parents), resolution) > log10(level):
            break
        least = d
    zeros_then = 0 if least is None else _left_alone(least, n_latents, n_parents)
    return Plan(*settings, least, zeros_then, n_latents - 1)


def _left_alone(n_observed: int, n_latents: int, n_parents: int) -> int:
    """Return how many variables each latent leaves alone at least, where they are shared out evenly."""
    return n_observed * (n_latents - n_parents) // n_latents


def luck(n_latents: int, n_observed: int, n_zeros: int, resolution: float) -> float:
    """Return log10 of the bound on the chance that a generic direction has so many zeros, at most 0."""
    free, beyond = n_latents - 1, n_zeros - (n_latents - 1)
    if beyond <= 0:
        return 0.0
    ways = log10(comb(n_observed, free)) + log10(comb(n_observed - free, beyond))
    return min(0.0, ways + beyond * log10(resolution))
