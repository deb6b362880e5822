"""A number with its interval and with what chance gives, and the table that such numbers make."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._confounding import Confounding

_RESAMPLES = 1000

COLUMNS = {
    "leak": "leak",
    "leak_held_out": "leak, held out",
    "replicate_map": "replicates",
    "relation_map": "relations",
    "relation_next": "next",
    "relation_next_other_batch": "next, other batch",
    "auroc": "AUROC",
    "hoyer": "sparsity",
    "concentration": "concentration",
    "variance_kept": "variance",
}
MEANINGS = {
    "leak": "share of controls whose nearest neighbour is of their batch; chance is best",
    "leak_held_out": "the same, on controls that the method was not fitted to",
    "replicate_map": "mean average precision with which rows of a label are found in other batches",
    "relation_map": "mean average precision with which treatments of other labels with the same relation are found",
    "relation_next": "share of treatments whose nearest other label has the same relation",
    "relation_next_other_batch": "the same among other batches",
    "auroc": "of trees that tell treatments from controls on batches they have not seen",
    "hoyer": "how few features these trees split on",
    "concentration": "share of their skill that goes with the quarter of features used most",
    "variance_kept": "share of the table that can be read off the adjusted one",
}


@dataclass(frozen=True)
class Score:
    """A mean, the interval of resampled batches, and what chance gives; NaN where there is nothing to score."""

    value: float
    low: float = float("nan")
    high: float = float("nan")
    chance: float = float("nan")
    n: int = 0

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "-"
        between = "" if np.isnan(self.low) else f" [{_digits(self.low)}, {_digits(self.high)}]"
        return f"{_digits(self.value)}{between}"


def _digits(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1) if 0 <= value < 1 else f"{value:.3f}"


def resampled(values: np.ndarray, batch: np.ndarray, chance: np.ndarray, random_state: int = 0) -> Score:
    """Return the mean of scores with an interval from drawing whole batches again.

    >>> resampled(np.array([1.0, 1, 0, 0]), np.array([0, 0, 1, 1]), np.full(4, 0.5)).value
    0.5
    """
    if not len(values):
        return Score(float("nan"))
    _, codes = np.unique(batch, return_inverse=True)
    sums, counts = np.bincount(codes, weights=values), np.bincount(codes)
    drawn = np.random.default_rng(random_state).multinomial(
        len(counts), np.full(len(counts), 1 / len(counts)), size=_RESAMPLES
    )
    means = (drawn @ sums) / np.maximum(drawn @ counts, 1)
    low, high = np.quantile(means, [0.025, 0.975]) if len(counts) > 1 else (np.nan, np.nan)
    return Score(float(values.mean()), float(low), float(high), float(chance.mean()), len(values))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What each method keeps and what it gives away.

    Parameters
    ----------
    scores : dict from methods to dicts from names of `COLUMNS` to Score
    confounding : Confounding or None
    notes : tuple of str
        What could not be scored, and why.
    folds : list
        What trees reached for every task and fold.
    n_rows : int
        Rows that were scored.
    """

    scores: dict[str, dict[str, Score]]
    confounding: Confounding | None = None
    notes: tuple[str, ...] = ()
    folds: list = field(default_factory=list)
    n_rows: int = 0

    @property
    def columns(self) -> list[str]:
        """Return the columns that have a number for some method."""
        return [
            name
            for name in COLUMNS
            if any(name in row and not np.isnan(row[name].value) for row in self.scores.values())
        ]

    def chance(self, name: str) -> float:
        """Return what chance gives in a column, as the mean over methods."""
        values = [row[name].chance for row in self.scores.values() if name in row]
        known = [value for value in values if not np.isnan(value)]
        return float(np.mean(known)) if known else float("nan")

    def lines(self, intervals: bool = True) -> tuple[list[str], list[list[str]]]:
        """Return heads and rows of the table; the last row is chance."""
        shown = self.columns
        nothing = Score(float("nan"))
        cells = [
            [method, *(_cell(row.get(name, nothing), intervals) for name in shown)]
            for method, row in self.scores.items()
        ]
        chance = ["chance", *(str(Score(self.chance(name))) for name in shown)]
        return ["method", *(COLUMNS[name] for name in shown)], [*cells, chance]

    @property
    def legend(self) -> list[str]:
        """Return what each column means."""
        return [f"{COLUMNS[name]}: {MEANINGS[name]}." for name in self.columns]

    def __str__(self) -> str:
        heads, rows = self.lines()
        widths = [max(len(row[k]) for row in (heads, *rows)) for k in range(len(heads))]
        table = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in (heads, *rows)
        ]
        return "\n".join(line.rstrip() for line in (*table, *self.notes))

    def to_dict(self) -> dict[str, Any]:
        """Return the same for JSON."""
        return {
            "confounding": None if self.confounding is None else self.confounding.to_dict(),
            "methods": {
                method: {name: vars(score) for name, score in row.items()}
                for method, row in self.scores.items()
            },
            "notes": list(self.notes),
            "tasks": [fold._asdict() for fold in self.folds],
            "n_rows": self.n_rows,
        }


def _cell(score: Score, intervals: bool) -> str:
    return str(score) if intervals else str(Score(score.value))
