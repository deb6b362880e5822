"""Slots: groups of latents, each of which moves its own set of observed variables."""

from collections.abc import Iterable, Sequence
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from ._checks import amounts, at_least, is_count, one_of
from ._dataset import LatentDataset, Law, World
from ._slot_mixing import MIXINGS, SlotMixing
from ._sparse_mixing import LATENTS, keeps_apart

PROFILES = ("chain", "cyclic", "nested")
LAWS = (*LATENTS, "reweighted")
_FLATTENINGS = 40
_PROBES = 2000
_LEAST_WEIGHT = 0.05


def slots(
    n_samples: int = 10_000,
    n_slots: int = 3,
    sizes: int | Sequence[int] = 3,
    *,
    n_rows: int = 20,
    overlap: float = 0.0,
    profile: str = "chain",
    supports: Iterable[Iterable[int]] | None = None,
    mixing: str = "bent",
    nonlinearity: float = 1.0,
    latents: str = "normal",
    noise: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> LatentDataset:
    """Draw slots of latents, each of which moves a set of observed variables of its own; sets may overlap.

    The mixing is injective at the sampled points: the Jacobian's smallest singular value, and the secants
    between samples, stay above 0.1; networks that bend too much for that are flattened in steps of 0.8. The
    mixing depends on `random_state` but not on the law of the latents.

    Parameters
    ----------
    n_samples, n_slots : int
    sizes : int or sequence of int
        Latents in each slot.
    n_rows : int
        Observed variables that a slot moves (the smallest one, where slots are nested).
    overlap : float
        Share of rows that a slot has in common with the next one, from 0 to 0.9.
    profile : {"chain", "cyclic", "nested"}
        Slot k moves the rows from k s on, s = (1 - overlap) n_rows: in a row; in a circle, where the last
        slot meets the first; or one inside the other, where slot k moves the first n_rows + k s rows.
    supports : iterable of iterables of int, optional
        The observed variables that each slot moves; overrides `n_slots`, `n_rows`, `overlap` and `profile`.
    mixing : {"bent", "additive", "interacting"}
        See `SlotMixing`: interactions of every order where rows are shared, none (Type H_2), or of second
        order only (Type H_3).
    nonlinearity : float
        Spread of the networks against that of the linear part, about, and before any flattening.
    latents : {"normal", "uniform", "laplace", "dependent", "reweighted"}
        As for `sparse_mixing`; "reweighted": normal, thinned out where a random projection is negative, which
        makes all latents dependent and skewed but leaves the density positive everywhere.
    noise : float
        Standard deviation of Gaussian noise, in standard deviations of each observed variable.
    random_state : int, Generator or None

    Returns
    -------
    LatentDataset
        With `partition`, the latents of each slot, beside `structure`.

    Examples
    --------
    >>> data = slots(100, n_slots=3, sizes=2, n_rows=8, overlap=0.25, random_state=0)
    >>> data.x.shape, data.z.shape, data.partition
    ((100, 20), (100, 6), ((0, 1), (2, 3), (4, 5)))
    >>> sorted(data.structure.influence(0) & data.structure.influence(2))
    [6, 7]

    References
    ----------
    Brady et al. (2023), Provably learning object-centric representations, Section 5, arXiv:2305.14229;
    Matthes, Han and Shen (2026), Mechanistic independence, arXiv:2509.22196 (overlapping supports; the
    layouts here are ours).
    """
    one_of(profile=(profile, PROFILES), mixing=(mixing, MIXINGS), latents=(latents, LAWS))
    at_least(n_samples=(n_samples, 2), n_slots=(n_slots, 1), n_rows=(n_rows, 1))
    amounts(noise=noise, nonlinearity=nonlinearity)
    amounts(0.9, overlap=overlap)
    rows = _given(supports) if supports is not None else _laid_out(n_slots, n_rows, overlap, profile)
    counts = _sizes(sizes, rows.shape[1])
    _check_supports(rows, counts)
    rng = np.random.default_rng(random_state)
    mixer, sampler, noiser = rng.spawn(3)  # so that the mixing does not depend on the latents
    g = _injective(rows, counts, mixing, nonlinearity, mixer)
    law = _law(latents, sum(counts), sampler)
    world = World(law, latents, g, noise, _describe(g, latents, noise))
    return world.observed(law((n_samples, sum(counts)), sampler), noiser)


def _laid_out(n_slots: int, n_rows: int, overlap: float, profile: str) -> np.ndarray:
    """Return which slot moves which row, bool of shape (n_observed, n_slots)."""
    step = max(1, round((1 - overlap) * n_rows))
    starts = step * np.arange(n_slots)
    if profile == "nested":
        return np.arange(starts[-1] + n_rows)[:, None] < n_rows + starts
    if profile == "chain":
        after = np.arange(starts[-1] + n_rows)[:, None] - starts
    else:
        after = (np.arange(step * n_slots)[:, None] - starts) % (step * n_slots)
    return (after >= 0) & (after < n_rows)


def _given(supports: Iterable[Iterable[int]]) -> np.ndarray:
    rows = [sorted(set(slot)) for slot in supports]
    flat = [n for slot in rows for n in slot]
    if not flat or min(flat) < 0 or sorted(set(flat)) != list(range(max(flat) + 1)):
        raise ValueError(
            f"`supports` must name every observed variable from 0 on, got {rows}. Leave no row out."
        )
    return np.array([[n in slot for slot in rows] for n in range(max(flat) + 1)])


def _injective(
    rows: np.ndarray, sizes: list[int], mixing: str, nonlinearity: float, rng: np.random.Generator
) -> SlotMixing:
    """Draw a mixing and flatten it until it keeps probes apart."""
    g = SlotMixing.draw(rows, sizes, mixing=mixing, nonlinearity=nonlinearity, rng=rng)
    probe = 1.2 * rng.normal(size=(_PROBES, sum(sizes)))  # somewhat wider than the latents
    for _ in range(_FLATTENINGS):
        if keeps_apart(g, g.jacobian(probe), probe):
            return g
        g = g.flattened(0.8)
    raise ValueError(
        f"`n_rows` must allow an injective mixing, none was found for slots of {rows.sum(0).tolist()} rows "
        f"and {sizes} latents. Use more rows, or less overlap."
    )


def _law(latents: str, n_latents: int, rng: np.random.Generator) -> Law:
    """Return how to draw latents; where they are thinned out is the same for all samples of a world."""
    if latents != "reweighted":
        return LATENTS[latents]
    towards = rng.normal(size=n_latents)
    return partial(_reweighted, towards / np.linalg.norm(towards))


def _reweighted(towards: np.ndarray, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    proposals = rng.normal(size=(8 * shape[0] + 64, shape[1]))
    weight = _LEAST_WEIGHT + (1 - _LEAST_WEIGHT) / (1 + np.exp(-6 * proposals @ towards))
    kept = proposals[rng.random(len(proposals)) < weight][: shape[0]]
    return (kept - kept.mean(0)) / kept.std(0)


def _describe(g: SlotMixing, latents: str, noise: float) -> str:
    shared = int((g.supports.sum(1) > 1).sum())
    return (
        f"{len(g.partition)} slots of {'+'.join(str(len(slot)) for slot in g.partition)} {latents} latents, "
        f"mixed into {len(g.supports)} observed variables of which {shared} are shared"
    ) + (f", with noise of {noise:g} standard deviations." if noise else ".")


def _sizes(sizes: int | Sequence[int], n_slots: int) -> list[int]:
    each: list[Any] = [sizes] * n_slots if isinstance(sizes, Integral) else list(sizes)  # type: ignore[arg-type]
    if len(each) != n_slots or not all(is_count(size) for size in each):
        raise ValueError(
            f"`sizes` must be an integer of at least 1, or one for each of {n_slots} slots, got {sizes!r}."
        )
    return [int(size) for size in each]


def _check_supports(rows: np.ndarray, sizes: list[int]) -> None:
    few = np.flatnonzero(rows.sum(0) < sizes)
    if len(few):
        raise ValueError(
            f"`sizes` must be at most the number of rows that a slot moves, got {[sizes[k] for k in few]} "
            f"for {rows.sum(0)[few].tolist()} rows. Give these slots more rows."
        )
    n_observed, n_latents = len(rows), sum(sizes)
    if n_observed < n_latents:
        raise ValueError(
            f"`n_rows` must leave at least as many observed variables as latents, got {n_observed} for "
            f"{n_latents}. Use more rows, or less overlap."
        )
