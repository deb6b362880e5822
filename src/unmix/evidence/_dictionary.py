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
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

from ._case import Case
from ._common import match_strength
from ._link import Link, link, unchecked

_ROWS = 50_000  # rows that are measured on, spread over the data
_OWN = 256  # rows of one feature that its direction is read from
_SPLIT = 0.15  # share of a second direction at which a feature may as well be two
_NOISE, _BESIDE = 1.5, 2.5  # times what is usual elsewhere, at which a second direction is in doubt
_ENTRIES = 2**26  # projections that are in memory at a time
_DIRECTIONS = 200  # random directions that a projection is compared with
_LEAST = 8  # rows that a feature must be on in before anything is said of it
_TILT = 0.02  # of a feature's own energy, that its rows have more of along another atom than rows elsewhere
_ORIGIN = 0.12  # variance of the sum of codes, over the energy of codes, at which their origin is in doubt
_PULL, _PULLED = 0.1, 0.08  # correlation of firing, beyond others', at which one feature and all are in doubt
_COMPANY = 0.05  # share of its rows in which a feature must be on without the one that is most beside it


class Measured(NamedTuple):
    """What a model makes of some rows: codes by column, what they leave of each row, and the atoms."""

    x: np.ndarray
    codes: csc_array
    left: np.ndarray
    atoms: np.ndarray
    times: np.ndarray


def links(case: Case) -> Iterator[Link]:
    """Ask whether atoms are single directions beyond noise, told from others, and found again."""
    here = measured(case.model, case.x[:: max(1, -(-len(case.x) // _ROWS))])
    surrogate = gaussian_like(here.x, case.rng(31))
    yield beyond_gaussian("sparser than Gaussian data", case.model, here, surrogate, "none")
    rng = case.rng(32)
    spectra = np.array([_spectrum(here, k, rng) for k in range(len(here.atoms))])
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


def measured(model: Any, x: np.ndarray) -> Measured:
    """Encode rows."""
    codes = csr_array(model.transform(x))
    left = x - model.inverse_transform(codes)
    by_column = csc_array(codes)
    return Measured(x, by_column, left, np.asarray(model.dictionary_, float), np.diff(by_column.indptr))


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


def one_direction(spectra: np.ndarray) -> Link:
    """Take all other features off the rows of one: what stays has one direction, unless it is several."""
    share, noise = spectra.T
    strength = np.where(np.isnan(share), -2.0, 2 * np.log10(_SPLIT / np.maximum(share, 1e-4)))
    told = (
        "once all others are taken off, a second direction has {:.3f} of the first; in rows elsewhere {:.3f}"
    )
    rare = "it is on in too few rows to tell"
    words = [rare if np.isnan(a) else told.format(a, b) for a, b in zip(share, noise, strict=True)]
    return link("one direction", share, noise, strength, words)


def no_more_than_noise(spectra: np.ndarray) -> Link:
    """Compare the second direction with the first one of as many rows elsewhere."""
    ratio = spectra[:, 0] / spectra[:, 1]
    strength = np.where(np.isnan(ratio), -2.0, 3 * np.log10(_NOISE / np.maximum(ratio, 1e-3)))
    told = "the second direction of its rows has {:.2f} times what the first has in rows elsewhere"
    rare = "it is on in too few rows to tell"
    words = [rare if np.isnan(value) else told.format(value) for value in ratio]
    return link("no more than noise", ratio, 1.0, strength, words)


class Beside(NamedTuple):
    """What is left of rows along every atom: on average, where each feature is on, and how strong that is."""

    usual: np.ndarray
    there: np.ndarray
    energy: np.ndarray
    count: np.ndarray


def left_beside(here: Measured) -> Beside:
    """Square what is left of the rows along each atom, over all rows and over those of each feature."""
    rows = slice(0, min(len(here.left), max(1000, _ENTRIES // len(here.atoms))))
    along = np.square(here.left[rows] @ here.atoms.T)
    codes = csr_array(here.codes[rows])
    energy = np.asarray(codes.power(2).sum(axis=0)).ravel()
    codes.data = np.ones_like(codes.data)
    count = np.asarray(codes.sum(axis=0)).ravel()
    there = (codes.T @ along) / np.maximum(count, 1)[:, None]
    return Beside(along.mean(0), there, energy / np.maximum(count, 1), count)


def nothing_beside(beside: Beside) -> Link:
    """Look for another atom in what is left of a feature's rows: an absorbed one leaves its variation."""
    table = beside.there / np.maximum(beside.usual, 1e-300)
    np.fill_diagonal(table, 0)
    most, which = table.max(1), table.argmax(1)
    strength = np.where(beside.count < _LEAST, -2.0, 3 * np.log10(_BESIDE / np.maximum(most, 1e-3)))
    told = "where it is on, what is left along feature {} varies {:.1f} times as much as elsewhere"
    words = [told.format(*each) for each in zip(which, most, strict=True)]
    return link("nothing else in its rows", most, 1.0, strength, words)


def no_tilt(beside: Beside) -> Link:
    """Ask the same in units of the feature's own energy.

    An atom that is on in a share p of the rows of a feature, and not told apart, tilts it by p a and leaves a
    variance of p (1 - p) a^2 or more, both over the strength of the feature: no tilt without such a rest.
    """
    table = (beside.there - beside.usual) / np.maximum(beside.energy, 1e-300)[:, None]
    np.fill_diagonal(table, 0)
    most, which = table.max(1), table.argmax(1)
    strength = np.where(beside.count < _LEAST, -2.0, 2 * np.log10(_TILT / np.maximum(most, 1e-3)))
    told = "where it is on, {1:.1%} of its own energy is left along feature {0} beyond what is left elsewhere"
    words = [told.format(*each) for each in zip(which, most, strict=True)]
    return link("not tilted by another", most, 0.0, strength, words)


def origin_is_told(here: Measured) -> Link:
    """Ask whether the sum of all codes varies.

    If it were the same in every row, any vector could be added to all atoms, and its multiple taken off the
    bias, and nothing would change.
    """
    total = np.asarray(here.codes.sum(axis=1)).ravel()
    varies = float(total.var() / max(here.codes.power(2).sum() / len(total), 1e-300))
    strength = 3 * np.log10(max(varies, 1e-3) / _ORIGIN)
    told = (
        f"the sum of all codes has a variance of {varies:.2f} of their energy; of none, all atoms could move"
    )
    return link("the origin is told", varies, np.nan, strength, [told] * len(here.atoms))


def _spectrum(here: Measured, feature: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the second squared singular value over the first, of a feature's rows, and by noise alone."""
    some = slice(here.codes.indptr[feature], here.codes.indptr[feature + 1])
    rows, values = here.codes.indices[some], here.codes.data[some]
    if len(rows) < _LEAST:
        return np.nan, np.nan
    chosen = rng.choice(len(rows), min(_OWN, len(rows)), replace=False)
    atom = here.atoms[feature]
    own = here.left[rows[chosen]] + values[chosen, None] * atom
    first, second = _two_largest(own, atom, rng)
    elsewhere = here.left[rng.choice(len(here.left), len(chosen))]
    return second / max(first, 1e-300), _two_largest(elsewhere, atom, rng)[0] / max(first, 1e-300)


def _two_largest(rows: np.ndarray, start: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """Return the two largest squared singular values, by a few steps of the power method."""
    basis = np.stack([start, rng.standard_normal(len(start))], axis=1)
    for _ in range(8):
        basis = np.linalg.qr(rows.T @ (rows @ basis))[0]
    found = np.linalg.svd(rows @ basis, compute_uv=False) ** 2
    return float(found[0]), float(found[-1]) if len(found) > 1 else 0.0


def enough_rows(here: Measured) -> Link:
    """Tell the error of an atom's direction that is left with so few rows and so much else in them."""
    energy = np.asarray(here.codes.power(2).sum(axis=0)).ravel()
    rest = float(np.square(here.left).sum() / len(here.left))
    error = np.where(energy > 0, rest / np.maximum(energy, 1e-300), np.inf)  # tan^2 of the angle
    found = 1 / np.sqrt(1 + np.minimum(error, 1e6))
    told = "it is on in {:,} rows, which leave a cosine of {:.3f}"
    words = [told.format(int(n), value) for n, value in zip(here.times, found, strict=True)]
    strength = np.where(here.times < _LEAST, -2.0, match_strength(found))
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


def on_its_own(here: Measured) -> Link:
    """Ask how often a feature is on without the one that is most often beside it.

    Of two that are never apart, any multiple of one atom may be part of the other.
    """
    share, beside = company(here)
    strength = np.where(here.times < _LEAST, -2.0, np.log10(np.maximum(1 - share, 1e-3) / _COMPANY))
    told = "in {:.0%} of its rows feature {} is on too; if it always were, the two could not be told apart"
    words = [told.format(*each) for each in zip(share, beside, strict=True)]
    return link("on without others", share, np.nan, strength, words)


def company(here: Measured) -> tuple[np.ndarray, np.ndarray]:
    """Return how often another feature is on beside each at most, and which."""
    share, beside = np.zeros(len(here.atoms)), np.zeros(len(here.atoms), dtype=int)
    for some, both in _together(here):
        both[np.arange(len(some)), some] = 0
        beside[some] = both.argmax(1)
        share[some] = both.max(1) / np.maximum(here.times[some], 1)
    return share, beside


def _together(here: Measured) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield some features at a time, and in how many rows each is on together with every feature."""
    on = csc_array((np.ones(len(here.codes.data)), here.codes.indices, here.codes.indptr), here.codes.shape)
    by_row, width = csr_array(on), len(here.atoms)
    size = max(1, 2**23 // width)
    for start in range(0, width, size):
        some = np.arange(start, min(start + size, width))
        yield some, (on[:, some].T @ by_row).toarray()


def no_own_company(pulled: "Pulled") -> Link:
    """Ask whether one other feature is on beside it more than others are.

    Where an atom comes only with another, part of the other in it explains the same rows as well.
    """
    beyond = pulled.beyond - pulled.chance
    strength = np.where(np.isnan(beyond), -2.0, 3 * np.log10(_PULL / np.maximum(beyond, 1e-3)))
    told = (
        "its firing and that of feature {} have a correlation {:.2f} above those of others; by chance {:.2f}"
    )
    rare = "it is on in too few rows to tell"
    words = [
        rare if np.isnan(value) else told.format(which, value, pulled.chance)
        for which, value in zip(pulled.which, pulled.beyond, strict=True)
    ]
    return link("no company of its own", pulled.beyond, pulled.chance, strength, words)


def features_come_apart(pulled: "Pulled") -> Link:
    """Ask the same of all features: where most come in company, what looks alone may have lost its own."""
    known = pulled.beyond[~np.isnan(pulled.beyond)]
    usual = float(np.median(known)) if len(known) else np.nan
    gap = max(usual - pulled.chance, 1e-3)
    strength = -2.0 if np.isnan(usual) else 3 * np.log10(_PULLED / gap)
    told = f"half of all features have a partner with a correlation {usual:.2f} above those of others"
    n = len(pulled.beyond)
    return link("features come apart", usual, pulled.chance, strength, [told] * n)


class Pulled(NamedTuple):
    """How far the firing of one other feature goes with each feature's, beyond nine of ten; by chance."""

    beyond: np.ndarray
    which: np.ndarray
    chance: float


def pulled(here: Measured) -> Pulled:
    """Correlate the firing of each feature with that of every other; nan where one is on too rarely."""
    n, m = len(here.x), len(here.atoms)
    rate, there = here.times / n, here.times >= _LEAST
    spread = np.sqrt(np.maximum(rate * (1 - rate), 1e-300))
    beyond, which = np.full(m, np.nan), np.zeros(m, dtype=int)
    for some, both in _together(here):
        table = (both / n - np.outer(rate[some], rate)) / np.outer(spread[some], spread)
        table[np.arange(len(some)), some] = -1
        table = np.where(there, table, -1)
        which[some] = table.argmax(1)
        beyond[some] = table.max(1) - np.quantile(table[:, there], 0.9, axis=1) if there.sum() > 2 else np.nan
    chance = (np.sqrt(2 * np.log(max(m, 2))) - 1.28) / np.sqrt(n)  # largest of m Gaussians, less their 90%
    return Pulled(np.where(there, beyond, np.nan), which, float(max(chance, 0)))


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
