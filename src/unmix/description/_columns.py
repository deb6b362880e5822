"""A column beside the observed variables: what kind it is, and what is measured of the latents on it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ._variables import sign_of

FEW_NUMBERS = 24  # whole numbers with so few values, and ten rows for each, are names of something
LEAST_ROWS = 10


@dataclass(frozen=True, eq=False)
class Column:
    """The known rows of a column, as the number of their category or as ranks.

    Attributes
    ----------
    name : str
    kind : {"eta squared", "AUROC", "correlation"}
    rows : array of int
        The rows at which it is known.
    values : array
        The category of each, counted from 0, or its rank.
    levels : tuple of str
        Names of the categories.
    """

    name: str
    kind: str
    rows: np.ndarray
    values: np.ndarray
    levels: tuple[str, ...] = ()

    @property
    def chance(self) -> float:
        """What no relation gives."""
        return 0.5 if self.kind == "AUROC" else 0.0

    def prepared(self, codes: np.ndarray) -> np.ndarray:
        """Return the codes of the known rows: standardised, or ranks unless shares are meant."""
        z = codes[self.rows]
        if self.kind == "AUROC":
            return rankdata(z, axis=0) / len(z)
        z = rankdata(z, axis=0) if self.kind == "correlation" else z
        return (z - z.mean(0)) / np.where(z.std(0) > 0, z.std(0), 1.0)

    def measure(self, z: np.ndarray) -> np.ndarray:
        """Return one number for each latent: of prepared codes, in any order of the rows."""
        if self.kind != "eta squared":  # of ranks: Spearman's correlation, or the Mann-Whitney statistic
            return self.chance + self._weights @ z
        means = np.add.reduceat(z[self._order], self._starts) / self._counts[:, None]
        return self._counts @ np.square(means) / len(z)

    def size(self, value: np.ndarray) -> np.ndarray:
        """Return how far numbers are from what no relation gives."""
        return np.abs(value - self.chance)

    def where(self, z: np.ndarray) -> list[str]:
        """Name for each latent the category that stands out; nothing for numbers."""
        if self.kind == "correlation":
            return [""] * z.shape[1]
        if self.kind == "AUROC":
            return [self.levels[int(above)] for above in self.measure(z) >= 0.5]
        sums = np.add.reduceat(z[self._order], self._starts) / np.sqrt(self._counts)[:, None]
        top = np.abs(sums).argmax(0)
        return [f"{sign_of(sums[k, j])}{self.levels[k]}" for j, k in enumerate(top)]

    @cached_property
    def _weights(self) -> np.ndarray:
        if self.kind == "correlation":
            centred = self.values - self.values.mean()
            return centred / (np.sqrt(np.square(centred).mean()) * len(centred))
        ones = self.values.astype(float)
        return ones / ones.sum() - (1 - ones) / (1 - ones).sum()

    @cached_property
    def _order(self) -> np.ndarray:
        return np.argsort(self.values, kind="stable")

    @cached_property
    def _counts(self) -> np.ndarray:
        return np.bincount(self.values, minlength=len(self.levels)).astype(float)

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self._counts)[:-1]]).astype(int)


def column_of(name: str, values: np.ndarray) -> Column | str:
    """Return the column as one of three kinds, or why no relation to it can be measured.

    >>> column_of("dose", np.array([0.0, 1.5, np.nan] * 9)).kind
    'AUROC'
    >>> column_of("site", np.array(["a", None] * 10, dtype=object))
    'it has one value only'
    """
    known = np.flatnonzero([not _missing(each) for each in values.tolist()])
    if len(known) < LEAST_ROWS:
        return f"it is known in {len(known)} rows only"
    cells = values[known]
    numbers = _numbers(cells)
    levels, number = np.unique(cells.astype(str) if numbers is None else numbers, return_inverse=True)
    if len(levels) < 2:
        return "it has one value only"
    if len(levels) > 2 and numbers is not None and not _names(numbers, len(levels)):
        return Column(name, "correlation", known, rankdata(numbers))
    if len(levels) > 0.5 * len(known):
        return "nearly every row has a value of its own"
    named = tuple(f"{each:g}" if numbers is not None else str(each) for each in levels)
    return Column(name, "AUROC" if len(levels) == 2 else "eta squared", known, number.reshape(-1), named)


def _missing(value: Any) -> bool:
    """Whether a cell is empty: None, empty text, NaN, or the marks that pandas has for it."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return value == "" if isinstance(value, str) else isinstance(value, float) and value != value


def _numbers(cells: np.ndarray) -> np.ndarray | None:
    """Return the cells as numbers where all of them are; None for text and truth values."""
    if cells.dtype.kind in "fiu":
        return cells.astype(float)
    if cells.dtype.kind == "O" and all(isinstance(c, int | float) and not isinstance(c, bool) for c in cells):
        return cells.astype(float)
    return None


def _names(numbers: np.ndarray, n_levels: int) -> bool:
    """Whether numbers look like names: whole, few, and each with many rows."""
    whole = bool((numbers == np.round(numbers)).all())
    return whole and n_levels <= FEW_NUMBERS and len(numbers) >= 10 * n_levels
