"""Which features come in company, and whether codes tell where atoms begin."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

from ._dictionary_measured import LEAST, Measured
from ._link import Link, link

_PULL, _PULLED = 0.1, 0.08  # correlation of firing, beyond others', at which one feature and all are in doubt
_COMPANY = 0.05  # share of its rows in which a feature must be on without the one that is most beside it
_ORIGIN = 0.12  # variance of the sum of codes, over the energy of codes, at which their origin is in doubt


def on_its_own(here: Measured) -> Link:
    """Ask how often a feature is on without the one that is most often beside it.

    Of two that are never apart, any multiple of one atom may be part of the other.
    """
    share, beside = company(here)
    strength = np.where(here.times < LEAST, -2.0, np.log10(np.maximum(1 - share, 1e-3) / _COMPANY))
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
    rate, there = here.times / n, here.times >= LEAST
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
