"""What must hold for an atom of a sparse dictionary: one direction, by itself, beyond noise, found again.

Theorems on the uniqueness of dictionaries are vacuous at usual sizes (`unmix.theory.certify_dictionary`), so
that nothing here is a proof: each link asks for something that a true atom has and a mixture of atoms, a
split one, or an atom of data without any sparse structure lacks. Agreement of refits rules out, and never
rules in. Two features that always come together at a fixed ratio cannot be told from one by anything here.

References
----------
Aharon, Elad, Bruckstein (2006), K-SVD: what is left once all other atoms are taken off has rank one.
Garfinkle, Hillar (2019), On the uniqueness and stability of dictionaries, arXiv:1606.06997.
Heap et al. (2025), Sparse autoencoders can interpret randomly initialized transformers, arXiv:2501.17727, for
features of data that have none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._case import Case
from ._common import match_strength
from ._dictionary_company import features_come_apart, no_own_company, on_its_own, origin_is_told, pulled
from ._dictionary_measured import LEAST, Measured, measured
from ._dictionary_rest import (
    left_beside,
    no_more_than_noise,
    no_tilt,
    nothing_beside,
    one_direction,
    spectra_of,
)
from ._link import Link, link, unchecked

_ROWS = 50_000  # rows that are measured on, spread over the data
_DIRECTIONS = 200  # random directions that a projection is compared with


def links(case: Case) -> Iterator[Link]:
    """Ask whether atoms are single directions beyond noise, told from others, and found again."""
    here = measured(case.model, case.x[:: max(1, -(-len(case.x) // _ROWS))])
    surrogate = gaussian_like(here.x, case.rng(31))
    yield beyond_gaussian("sparser than Gaussian data", case.model, here, surrogate, "none")
    spectra = spectra_of(here, case.rng(32))
    yield one_direction(spectra)
    yield no_more_than_noise(spectra)
    beside = left_beside(here)
    yield nothing_beside(beside)
    yield no_tilt(beside)
    yield origin_is_told(here)
    yield enough_rows(here)
    yield peaked(here, case.rng(33))
    yield on_its_own(here)
    company_of = pulled(here)
    yield no_own_company(company_of)
    yield features_come_apart(company_of)
    yield no_twin(here)
    first = _refit(case, 0) if case.allows("quick") else None
    yield holds_elsewhere(case, first)
    yield comes_back(case, "comes back from one half", "quick", first)
    second = _refit(case, 1) if case.allows("full") else None
    yield comes_back(case, "comes back from the other half", "full", second)


def gaussian_like(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw Gaussian rows of the same mean and covariance, as many: nothing sparse is left in them."""
    centre = x.mean(0)
    values, vectors = np.linalg.eigh(np.cov((x - centre).T).reshape(x.shape[1], x.shape[1]))
    root = vectors * np.sqrt(np.maximum(values, 0))
    return centre + rng.standard_normal(x.shape) @ root.T


def beyond_gaussian(name: str, model: Any, here: Measured, surrogate: np.ndarray, effort: str) -> Link:
    """Compare what is left of the rows with what the same model leaves of Gaussian rows like them."""
    own, theirs = _left_over(model, here.x), _left_over(model, surrogate)
    strength = 3 * np.log10(max(theirs, 1e-6) / max(own, 1e-6)) - 0.3
    told = f"{1 - own:.1%} of x is explained, and {1 - theirs:.1%} of Gaussian data of the same covariance"
    return link(name, 1 - own, 1 - theirs, strength, [told] * len(here.atoms), effort=effort)


def _left_over(model: Any, x: np.ndarray) -> float:
    left = x - model.inverse_transform(model.transform(x))
    return float(np.square(left).sum() / np.square(x - x.mean(0)).sum())


def enough_rows(here: Measured) -> Link:
    """Tell the error of an atom's direction that is left with so few rows and so much else in them."""
    energy = np.asarray(here.codes.power(2).sum(axis=0)).ravel()
    rest = float(np.square(here.left).sum() / len(here.left))
    error = np.where(energy > 0, rest / np.maximum(energy, 1e-300), np.inf)  # tan^2 of the angle
    found = 1 / np.sqrt(1 + np.minimum(error, 1e6))
    told = "it is on in {:,} rows, which leave a cosine of {:.3f}"
    words = [told.format(int(n), value) for n, value in zip(here.times, found, strict=True)]
    strength = np.where(here.times < LEAST, -2.0, match_strength(found))
    return link("error of sampling", found, 0.0, strength, words)


def peaked(here: Measured, rng: np.random.Generator) -> Link:
    """Compare the kurtosis of x along an atom with that along random directions of the same data."""
    centred = here.x - here.x.mean(0)
    own = _excess(centred, here.atoms)
    turns = rng.standard_normal((_DIRECTIONS, len(centred))) @ centred / np.sqrt(len(centred))
    usual = float(np.quantile(_excess(centred, turns), 0.95))
    strength = 2 * np.log10((np.maximum(own, 0) + 0.05) / (max(usual, 0) + 0.05)) - 0.5
    told = "x has an excess kurtosis of {:.2f} along it; along one in twenty random directions {:.2f}"
    return link("peaked", own, usual, strength, [told.format(value, usual) for value in own])


def _excess(x: np.ndarray, directions: np.ndarray, size: int = 512) -> np.ndarray:
    """Return the excess kurtosis of rows along directions, some of them at a time."""
    parts = []
    for start in range(0, len(directions), size):
        along = x @ directions[start : start + size].T
        along /= np.maximum(along.std(0), 1e-300)
        parts.append(np.square(np.square(along)).mean(0) - 3)
    return np.concatenate(parts)


def no_twin(here: Measured) -> Link:
    """Ask how near another atom is: of two that are nearly the same, one is too many."""
    nearest, which = nearest_atoms(here.atoms, here.atoms, same=True)
    strength = np.log10(np.maximum(1 - nearest, 1e-3) / 0.05)
    told = "the nearest other atom is feature {}, with a cosine of {:.2f}"
    words = [told.format(*each) for each in zip(which, nearest, strict=True)]
    return link("no twin", nearest, np.nan, strength, words)


def nearest_atoms(first: np.ndarray, second: np.ndarray, *, same: bool = False) -> tuple[np.ndarray, ...]:
    """Return the largest cosine of each atom with one of another dictionary, and which."""
    second = second / np.maximum(np.linalg.norm(second, axis=1, keepdims=True), 1e-300)
    best, which, size = np.zeros(len(first)), np.zeros(len(first), dtype=int), max(1, 2**22 // len(second))
    for start in range(0, len(first), size):
        rows = np.arange(start, min(start + size, len(first)))
        table = first[rows] @ second.T
        if same:
            table[np.arange(len(rows)), rows] = -1
        best[rows], which[rows] = table.max(1), table.argmax(1)
    return best, which


def holds_elsewhere(case: Case, other: Any) -> Link:
    """Ask the same of a refit to half of the rows, on the rows that it has not seen."""
    name, n = "sparser on rows not used", len(case.model.dictionary_)
    if other is None:
        return unchecked(name, n, "quick")
    rows = case.halves[1]
    here = measured(other, case.x[rows[:: max(1, -(-len(rows) // _ROWS))]])
    surrogate = gaussian_like(here.x, case.rng(34))
    found = beyond_gaussian(name, other, here, surrogate, "quick")
    parts = (found.measured[0], found.null[0], found.strength[0], [found.words[0]] * n)
    return link(name, *parts, effort="quick")


def comes_back(case: Case, name: str, effort: str, other: Any) -> Link:
    """Look for each atom in a refit to half of the rows from another seed."""
    n = len(case.model.dictionary_)
    if other is None:
        return unchecked(name, n, effort)
    atoms = np.asarray(case.model.dictionary_, float)
    found, _ = nearest_atoms(atoms, np.asarray(other.dictionary_, float))
    chance = _by_chance(case, atoms)
    told = "a refit to half of the rows has it with a cosine of {:.3f}; random atoms would have {:.2f}"
    return link(
        name, found, chance, match_strength(found), [told.format(v, chance) for v in found], effort=effort
    )


def _refit(case: Case, half: int) -> Any:
    """Return a fit to one half from another seed, over as many rows as the model saw."""
    rows = case.halves[half]
    seen = getattr(case.model, "n_tokens_seen_", 0) or 2 * case.model.max_iter * len(rows)
    passes = max(1, -(-int(seen) // len(rows)))
    return case.refit(rows, f"to half {half + 1} of the rows", max_iter=passes)


def _by_chance(case: Case, atoms: np.ndarray) -> float:
    """Return the cosine with the best of as many random atoms in the directions of the data."""
    rows = case.x[case.rng(35).choice(len(case.x), min(len(case.x), 2000), replace=False)]
    drawn = case.rng(36).standard_normal((len(atoms), len(rows))) @ (rows - rows.mean(0))
    return float(nearest_atoms(atoms[:512], drawn)[0].mean())
