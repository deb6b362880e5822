"""What is left in the rows of a feature: one direction of its own, no more beside it than noise, no tilt."""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

from ._dictionary_measured import LEAST, Measured
from ._link import Link, link

_OWN = 256  # rows of one feature that its direction is read from
_SPLIT = 0.15  # share of a second direction at which a feature may as well be two
_NOISE, _BESIDE = 1.5, 2.5  # times what is usual elsewhere, at which a second direction is in doubt
_TILT = 0.02  # of a feature's own energy, that its rows have more of along another atom than rows elsewhere
_ENTRIES = 2**26  # projections that are in memory at a time


def one_direction(spectra: np.ndarray) -> Link:
    """Take all other features off the rows of one: what stays has one direction, unless it is several."""
    share, noise = spectra.T
    beyond = np.maximum(share - noise, 1e-4)
    strength = np.where(np.isnan(share), -2.0, 2 * np.log10(_SPLIT / beyond))
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


class Most(NamedTuple):
    """For each feature the atom along which most is left in its rows: how much, usually, and by chance."""

    which: np.ndarray
    there: np.ndarray
    usual: np.ndarray
    chance: np.ndarray


class Beside(NamedTuple):
    """Where most is left beside a feature, over what is usual and at all; its own energy, and its rows."""

    over_usual: Most
    at_all: Most
    energy: np.ndarray
    times: np.ndarray


def left_beside(here: Measured) -> Beside:
    """Square what is left along each atom, in the rows of each feature and in all rows of the same kind.

    The chance is that of the largest of all atoms: so far above the usual would one of them be in as many
    rows drawn at random.
    """
    n = min(len(here.left), max(1000, _ENTRIES // len(here.atoms)))
    order = np.argsort(here.kind[:n], kind="stable")
    along, codes = np.square(here.left[order] @ here.atoms.T), csr_array(csr_array(here.codes)[order])
    energy = np.asarray(codes.power(2).sum(axis=0)).ravel()
    codes.data = np.ones_like(codes.data)
    rows, usual = _by_kind(along, codes, here.kind[order])
    times, on, size = rows.sum(0), csc_array(codes), max(1, 2**22 // len(here.atoms))
    found = []
    for start in range(0, len(times), size):
        some = np.arange(start, min(start + size, len(times)))
        count = np.maximum(times[some], 1)
        parts = (each / count[:, None] for each in (on[:, some].T @ along, *(rows[:, some].T @ usual)))
        found.append(_largest(some, count, *parts))
    over, at_all = (Most(*map(np.concatenate, zip(*each, strict=True))) for each in zip(*found, strict=True))
    return Beside(over, at_all, energy / np.maximum(times, 1), times)


def _by_kind(along: np.ndarray, on: csr_array, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for kinds of rows, which come in order, how often features are on, and moments along atoms."""
    ends = np.searchsorted(kind, np.arange(kind[-1] + 2))
    spans = [slice(a, b) for a, b in pairwise(ends) if a < b]
    rows = np.array([np.asarray(on[span].sum(axis=0)).ravel() for span in spans])
    parts = [along[span] for span in spans]
    squares = [np.einsum("nm,nm->m", part, part) / len(part) for part in parts]
    return rows, np.array([[part.mean(0) for part in parts], squares])


def _largest(
    some: np.ndarray, count: np.ndarray, there: np.ndarray, usual: np.ndarray, squares: np.ndarray
) -> tuple[Most, Most]:
    """Return for some features the other atom that stands out most, over what is usual and at all."""
    spread = np.sqrt(np.maximum(squares - np.square(usual), 0) / count[:, None])
    chance = np.sqrt(2 * np.log(max(there.shape[1], 2))) * spread
    at_all = there - usual - chance
    over = at_all / np.maximum(usual, 1e-300)
    here = np.arange(len(some))
    found = []
    for table in (over, at_all):
        table[here, some] = -np.inf
        which = table.argmax(1)
        found.append(Most(which, there[here, which], usual[here, which], chance[here, which]))
    return found[0], found[1]


def nothing_beside(beside: Beside) -> Link:
    """Look for another atom in what is left of a feature's rows: an absorbed one leaves its variation."""
    most = beside.over_usual
    usual = np.maximum(most.usual, 1e-300)
    beyond = np.maximum((most.there - most.chance) / usual, 1e-3)
    strength = np.where(beside.times < LEAST, -2.0, 3 * np.log10(_BESIDE / beyond))
    told = (
        "where it is on, what is left along feature {} varies {:.1f} times as much as elsewhere; "
        "by chance {:.1f}"
    )
    ratio, chance = most.there / usual, 1 + most.chance / usual
    words = [told.format(*each) for each in zip(most.which, ratio, chance, strict=True)]
    return link("nothing else in its rows", ratio, chance, strength, words)


def no_tilt(beside: Beside) -> Link:
    """Ask the same in units of the feature's own energy.

    An atom that is on in a share p of the rows of a feature, and not told apart, tilts it by p a and leaves a
    variance of p (1 - p) a^2 or more, both over the strength of the feature: no tilt without such a rest.
    """
    most, energy = beside.at_all, np.maximum(beside.energy, 1e-300)
    beyond, chance = (most.there - most.usual) / energy, most.chance / energy
    strength = 2 * np.log10(_TILT / np.maximum(beyond - chance, 1e-3))
    told = (
        "where it is on, {1:.1%} of its own energy is left along feature {0} beyond what is left elsewhere; "
        "by chance {2:.1%}"
    )
    words = [told.format(*each) for each in zip(most.which, beyond, chance, strict=True)]
    strength = np.where(beside.times < LEAST, -2.0, strength)
    return link("not tilted by another", beyond, chance, strength, words)


def spectra_of(here: Measured, rng: np.random.Generator) -> np.ndarray:
    """Return for each feature the second squared singular value of its rows over the first, and by noise.

    The noise is that of as many rows of the same kinds.
    """
    order = np.argsort(here.kind, kind="stable")
    starts = np.searchsorted(here.kind[order], np.arange(here.kind.max() + 2))

    def elsewhere(rows: np.ndarray) -> np.ndarray:
        low, high = starts[here.kind[rows]], starts[here.kind[rows] + 1]
        return here.left[order[rng.integers(low, high)]]

    found = [_spectrum(here, each, elsewhere, rng) for each in range(len(here.atoms))]
    return np.array(found)


def _spectrum(
    here: Measured, feature: int, elsewhere: Callable[[np.ndarray], np.ndarray], rng: np.random.Generator
) -> tuple[float, float]:
    some = slice(here.codes.indptr[feature], here.codes.indptr[feature + 1])
    rows, values = here.codes.indices[some], here.codes.data[some]
    if len(rows) < LEAST:
        return np.nan, np.nan
    chosen = rng.choice(len(rows), min(_OWN, len(rows)), replace=False)
    atom = here.atoms[feature]
    own = here.left[rows[chosen]] + values[chosen, None] * atom
    first, second = two_largest(own, atom, rng)
    return second / max(first, 1e-300), two_largest(elsewhere(rows[chosen]), atom, rng)[0] / max(
        first, 1e-300
    )


def two_largest(rows: np.ndarray, start: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """Return the two largest squared singular values, by a few steps of the power method."""
    basis = np.stack([start, rng.standard_normal(len(start))], axis=1)
    for _ in range(8):
        basis = np.linalg.qr(rows.T @ (rows @ basis))[0]
    found = np.linalg.svd(rows @ basis, compute_uv=False) ** 2
    return float(found[0]), float(found[-1]) if len(found) > 1 else 0.0
