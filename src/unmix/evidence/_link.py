"""One link of the chain from data to a latent: what was measured, and what noise would score."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

EFFORTS = ("none", "quick", "full")
MOST = 3.0  # strengths beyond are no stronger: no measurement is that sure of its own model


@dataclass(frozen=True, eq=False)
class Link:
    """One item of evidence about every unit: a latent, a slot or a component.

    Attributes
    ----------
    name : str
        What is asked, as a noun: "zeros beyond generic ones".
    measured : ndarray of shape (n_units,)
    null : ndarray of shape (n_units,)
        What the same measurement gives where there is nothing to find; nan where it has no such value.
    strength : ndarray of shape (n_units,)
        Above 0 where the measurement speaks for the unit, below 0 where against, 1 where it is clear; nan
        where it was not taken. Within [-3, 3].
    words : tuple of str
        For each unit what was found, beside what noise would give, as a clause that a scientist can act on.
    effort : {"none", "quick", "full"}
        The least effort at which it is taken. It has the same value at every higher one.

    Examples
    --------
    >>> print(link("held-out fit", [0.99], [0.10], [1.2], ["99% of x on rows not used, 10% by chance"]))
    held-out fit: 99% of x on rows not used, 10% by chance
    """

    name: str
    measured: np.ndarray
    null: np.ndarray
    strength: np.ndarray
    words: tuple[str, ...]
    effort: str = "none"

    @property
    def checked(self) -> bool:
        """Whether it was measured."""
        return not bool(np.isnan(self.strength).all())

    def figures(self, k: int) -> tuple[str, str]:
        """Return what was measured of a unit, and what noise would give, as text; a dash for no value.

        >>> link("changes", [2588.0], [np.nan], [1.0], ["2588 of them"]).figures(0)
        ('2,588', '–')
        """
        return figure(self.measured[k]), figure(self.null[k])

    def __str__(self) -> str:
        return f"{self.name}: {'; '.join(dict.fromkeys(self.words))}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; what was not measured is None."""
        numbers = {name: _plain(vars(self)[name]) for name in ("measured", "null", "strength")}
        return {
            "name": self.name,
            "effort": self.effort,
            **numbers,
            "words": list(self.words),
        }


def link(
    name: str,
    measured: ArrayLike,
    null: ArrayLike,
    strength: ArrayLike,
    words: Iterable[str],
    *,
    effort: str = "none",
) -> Link:
    """Make a link, with one value for each unit of what is given for all at once."""
    words = tuple(words)
    values = [np.broadcast_to(np.asarray(v, dtype=float), (len(words),)) for v in (measured, null, strength)]
    return Link(name, values[0], values[1], np.clip(values[2], -MOST, MOST), words, effort)


def unchecked(name: str, n_units: int, effort: str) -> Link:
    """Make a link that was not measured, since more effort is needed.

    >>> print(unchecked("agreement of halves", 2, "quick"))
    agreement of halves: not checked, which takes effort "quick"
    """
    words = (f'not checked, which takes effort "{effort}"',) * n_units
    return link(name, np.nan, np.nan, np.nan, words, effort=effort)


def figure(value: float) -> str:
    """Write a number as evidence shows it; a dash for no value."""
    if not np.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _plain(values: np.ndarray) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]
