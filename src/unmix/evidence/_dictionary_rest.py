"""What is left in the rows of a feature: one direction of its own, no more beside it than noise, no tilt."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

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
    times: np.ndarray


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
    strength = np.where(beside.times < LEAST, -2.0, 3 * np.log10(_BESIDE / np.maximum(most, 1e-3)))
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
    strength = np.where(beside.times < LEAST, -2.0, 2 * np.log10(_TILT / np.maximum(most, 1e-3)))
    told = "where it is on, {1:.1%} of its own energy is left along feature {0} beyond what is left elsewhere"
    words = [told.format(*each) for each in zip(which, most, strict=True)]
    return link("not tilted by another", most, 0.0, strength, words)


def spectrum(here: Measured, feature: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the second squared singular value over the first, of a feature's rows, and by noise alone."""
    some = slice(here.codes.indptr[feature], here.codes.indptr[feature + 1])
    rows, values = here.codes.indices[some], here.codes.data[some]
    if len(rows) < LEAST:
        return np.nan, np.nan
    chosen = rng.choice(len(rows), min(_OWN, len(rows)), replace=False)
    atom = here.atoms[feature]
    own = here.left[rows[chosen]] + values[chosen, None] * atom
    first, second = two_largest(own, atom, rng)
    elsewhere = here.left[rng.choice(len(here.left), len(chosen))]
    return second / max(first, 1e-300), two_largest(elsewhere, atom, rng)[0] / max(first, 1e-300)


def two_largest(rows: np.ndarray, start: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """Return the two largest squared singular values, by a few steps of the power method."""
    basis = np.stack([start, rng.standard_normal(len(start))], axis=1)
    for _ in range(8):
        basis = np.linalg.qr(rows.T @ (rows @ basis))[0]
    found = np.linalg.svd(rows @ basis, compute_uv=False) ** 2
    return float(found[0]), float(found[-1]) if len(found) > 1 else 0.0
