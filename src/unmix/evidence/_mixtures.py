"""Links for latents with values of rest: degenerate mixtures, and sparse bases.

Theorem 3.9 of Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, needs latents that rest at one value,
each while every other one varies (Assumption 3.8). Both are seen in the data: a latent that is a mixture
rests only where all its parts do. Labels of components, where a method was given some, take no part.

A refit to one half of the rows takes up to the time of the fit, since the search for sparse coordinates takes
as long for few rows; a full effort adds one with one latent more. The fit of `SparseBasis` is itself the
search for rest, and takes less than a second: its refits search from fewer starts.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from unmix._fitted import thinned

from ._case import Case
from ._common import and_lost, held_out_fit, match_strength, one_fewer
from ._link import Link, link, unchecked
from ._mixtures_rest import (
    SMOOTH,
    Rest,
    count,
    in_sparsest,
    match,
    moved,
    rest_values,
    searched_noise,
    second_rest,
    turned_noise,
)

_SURE = 3.0  # standard errors beyond chance that leave it undecided, if a search could choose directions
_FRESH = 2.0  # the same on rows that took no part in any search
_MOST = 20_000  # rows on which rest is counted


def links(case: Case) -> Iterator[Link]:
    """Yield what must hold: rest beside variation, sharp and on fresh rows; a fit; latents that come back."""
    codes = thinned(case.codes, _MOST)
    yield from _at_rest(case, codes, searched_noise)
    yield _sparsest(case, codes)
    yield from _again_elsewhere(case)
    yield _returns_with_more(case)


def basis_links(case: Case) -> Iterator[Link]:
    """Yield the same for `SparseBasis`, as far as it takes no second search."""
    yield from _at_rest(case, thinned(case.codes, _MOST), turned_noise)
    yield from _again_elsewhere(case)
    yield _returns_with_more(case)


def _at_rest(case: Case, codes: np.ndarray, null: Callable[[np.ndarray, int], float]) -> Iterator[Link]:
    """Ask what the codes at hand tell of rest, beside what a null finds in codes without directions."""
    values = _distances(case.model, codes)
    found, noise = count(values), null(codes, int(case.rng(21).integers(2**31)))
    yield _rest_link("rests while others vary", found.z, noise, _SURE, "none")
    yield _sharp(found)
    yield _one_rest(values)


def _again_elsewhere(case: Case) -> Iterator[Link]:
    """Ask what a refit to one half of the rows says of the others."""
    yield held_out_fit(case, one_fewer(case))
    yield _rests_again(case)
    yield _returns(case)


def _distances(model: Any, codes: np.ndarray) -> np.ndarray:
    return moved(model, codes, rest_values(codes))


def _rest_link(name: str, z: np.ndarray, noise: float, undecided: float, effort: str) -> Link:
    weakest, chance = z.min(1), max(noise, undecided)
    words = [_paired_words(j, int(k), z[j, k], chance) for j, k in enumerate(z.argmin(1))]
    return link(name, weakest, noise, (weakest - chance) / _SURE, words, effort=effort)


def _paired_words(j: int, k: int, value: float, chance: float) -> str:
    when = "" if j == k else f" while z{k} varies"
    return (
        f"samples at its value of rest{when} exceed what a smooth law has by {value:.1f} standard errors; "
        f"noise reaches {chance:.1f}"
    )


def _sharp(found: Rest) -> Link:
    """Ask by how much samples at rest outnumber those beside it, whatever the number of samples."""
    weakest = found.z.argmin(1)
    ratio = np.take_along_axis(found.ratio, weakest[:, None], 1)[:, 0]
    told = (
        "{:.1f} times more samples at its value of rest than beside it; the most peaked smooth laws have {:g}"
    )
    words = [told.format(value, SMOOTH) for value in ratio]
    return link("sharpness of rest", ratio, SMOOTH, np.log2(ratio / SMOOTH), words)


def _one_rest(values: np.ndarray) -> Link:
    """Ask whether values off rest are spread: sums of latents that take a few values each also rest often."""
    z = second_rest(values)
    told = "off its rest, samples at any one value exceed what a smooth law has by {:.1f} standard errors"
    return link("one value of rest", z, 0.0, (_SURE - z) / _SURE, [told.format(value) for value in z])


def _sparsest(case: Case, codes: np.ndarray) -> Link:
    """Ask whether other affine coordinates of the code rest more often, which Theorem 3.9 excludes."""
    found = in_sparsest(codes, int(case.rng(23).integers(2**31)))
    told = "the affine coordinates of the code that rest most often have it with correlation {:.3f}"
    words = [told.format(value) for value in found]
    return link("no sparser coordinates", found, _chance(codes, case.rng(22)), match_strength(found), words)


def _rests_again(case: Case) -> Link:
    """Ask the same of the latents of a refit on rows that it has not seen."""
    name = "rest on rows not used"
    if not case.allows("quick"):
        return unchecked(name, case.codes.shape[1], "quick")
    rows = case.halves[1]
    others = np.asarray(case.first.transform(case.x[rows]), dtype=np.float64)
    z = count(_distances(case.first, others)).z
    partner = match(case.codes[rows], others)[0]
    return _rest_link(name, z[partner][:, partner], 0.0, _FRESH, "quick")


def _returns(case: Case) -> Link:
    name = "comes back from one half"
    if not case.allows("quick"):
        return unchecked(name, case.codes.shape[1], "quick")
    return _again(case, case.first, name, "a refit to half of the rows", "quick")


def _returns_with_more(case: Case) -> Link:
    name, n, effort = "comes back with one latent more", case.codes.shape[1], "full"
    if not case.allows(effort):
        return unchecked(name, n, effort)
    if _rank(case.x[case.halves[0]]) <= n:
        words = "x has no more dimensions than there are latents"
        return link(name, 1.0, np.nan, 1.0, [words] * n, effort=effort)
    return _again(case, case.more, name, "a refit with one latent more", effort)


def _rank(x: np.ndarray) -> int:
    """Return in how many directions data vary, each column in its own units."""
    return int(np.linalg.matrix_rank(np.nan_to_num(np.corrcoef(x, rowvar=False)), tol=1e-9, hermitian=True))


def _again(case: Case, other: Any, name: str, who: str, effort: str) -> Link:
    """Compare latents with those of a refit, on rows that it has not seen, by the correlation of values.

    Ranks would say little: samples at rest are ties, and a latent may rest most of the time.
    """
    rows = case.halves[1]
    codes = case.codes[rows]
    found = match(codes, other.transform(case.x[rows]))[1]
    null = _chance(codes, case.rng(22))
    told = f"{who} has it with correlation {{:.3f}}; a random rotation of it would have {{:.2f}}"
    words = [told.format(*pair) for pair in zip(found, null, strict=True)]
    return link(name, found, null, match_strength(found), and_lost(case, other, found, words), effort=effort)


def _chance(codes: np.ndarray, rng: np.random.Generator, draws: int = 20) -> np.ndarray:
    """Return the correlation of each latent with its partner in a random rotation of the code, on average."""
    n, spread = codes.shape[1], codes.std(0)
    unit = (codes - codes.mean(0)) / np.where(spread > 0, spread, 1)
    turns = [np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(draws)]
    return np.mean([match(unit, unit @ turn)[1] for turn in turns], axis=0)
