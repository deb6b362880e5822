"""What `align` returns: four errors, their marks, and a sentence about them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._words import agreement, meaning

_COLUMNS = ("map", "error", "median", "worst", "R2")


@dataclass(frozen=True, eq=False)
class MapError:
    """What one map leaves, in diameters of the target: mean, median and worst distance, and R2.

    `matrix` takes centred rows of the first table to centred rows of the second.
    """

    mean: float
    median: float
    worst: float
    r2: float
    matrix: np.ndarray

    def to_dict(self) -> dict[str, float]:
        """Return the numbers, without the matrix."""
        return {"mean": self.mean, "median": self.median, "worst": self.worst, "r2": self.r2}


@dataclass(frozen=True, eq=False)
class Alignment:
    """How far two tables agree, family by family; see `align`.

    Attributes
    ----------
    permutation, rigid, linear, ica : float
        Mean error of the best map of each family over the diameter of the second table.
    efficiency : float
        Share of the way from the signed permutation to the rigid map that ICA covers without seeing the
        other table; NaN where there is no way to cover, and `notes` says so.
    diameter : float
        Of the second table.
    diameter_exact : bool
        Whether it is the diameter itself; otherwise it is a lower bound, at least half of it.
    mean, shuffled : float
        The error of predicting the mean, and of the linear map when rows are shuffled: no agreement at all.
    errors : dict of str to MapError
        Each map with its matrix.
    shape1, shape2 : tuple of int
    n_scored : int
        Rows on which errors were measured.
    notes : tuple of str
        What to bear in mind.
    """

    permutation: float
    rigid: float
    linear: float
    ica: float
    efficiency: float
    diameter: float
    diameter_exact: bool
    mean: float
    shuffled: float
    errors: dict[str, MapError]
    shape1: tuple[int, int]
    shape2: tuple[int, int]
    n_scored: int
    notes: tuple[str, ...] = ()

    @property
    def agreement(self) -> str:
        """Up to what the runs agree: "permutation", "rotation, removed by ICA", "linear map, removed by
        ICA", "rotation", "linear map", "partial" or "none".
        """
        return agreement(self)

    @property
    def meaning(self) -> str:
        """One sentence on what the numbers say."""
        return meaning(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; an efficiency that is not defined is None."""
        plain = {name: value for name, value in vars(self).items() if name != "errors"}
        plain |= {name: list(plain[name]) for name in ("shape1", "shape2", "notes")}
        plain["efficiency"] = None if np.isnan(self.efficiency) else self.efficiency
        words = {"agreement": self.agreement, "meaning": self.meaning}
        return plain | {"errors": {k: e.to_dict() for k, e in self.errors.items()}} | words

    def __str__(self) -> str:
        rows = [_COLUMNS, *self._rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([*lines, self._caption(), self.meaning, *(f"Note: {note}" for note in self.notes)])

    def __rich__(self) -> Any:
        from rich.table import Table

        drawn = Table(*_COLUMNS, caption=self._caption())
        for row in self._rows():
            drawn.add_row(*row)
        return drawn

    def _rows(self) -> list[tuple[str, ...]]:
        fits = [
            (name, *(f"{value:.4f}" for value in e.to_dict().values())) for name, e in self.errors.items()
        ]
        marks = {"predict the mean": self.mean, "shuffled rows, linear": self.shuffled}
        return [*fits, *((name, f"{value:.4f}", "", "", "") for name, value in marks.items())]

    def _caption(self) -> str:
        share = "not defined" if np.isnan(self.efficiency) else f"{self.efficiency:.0%}"
        bound = "" if self.diameter_exact else " (a lower bound)"
        return f"Errors in diameters, {self.diameter:.4g}{bound}. ICA efficiency: {share}."
