"""One number of a published table, and what has to be run for it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

BUDGETS = ("smoke", "laptop", "full", "gpu")
USUAL = BUDGETS[:3]  # those of a table that names none
BETTER = ("higher", "lower")


@dataclass(frozen=True)
class Cell:
    """One number of a table: where it stands, what the paper says, and what to run.

    Parameters
    ----------
    row, column : str
        Where the number stands. Methods are rows, settings are columns.
    paper, spread : float, optional
        The published mean and standard deviation; without the first there is nothing to compare with.
    source : str
        Where it was published.
    value : str
        Name of the number among those that `run` returns.
    better : {"higher", "lower"}
    precision : float
        How exactly the published number is known, half of its last digit by default.
    always : bool
        Whether every run has this number; else one without it is not a fault.
    other : str
        What sets our data apart from the paper's ("another set of images"): such a number stands beside the
        paper's and is not judged by it.
    settings : mapping
        Everything that `run` looks at, as JSON knows it; by default row and column. Cells of an experiment
        with the same settings share one run.

    Examples
    --------
    >>> Cell("OroJAR", "n = 3", paper=0.7288, spread=0.028, source="Table 4").settings
    {'row': 'OroJAR', 'column': 'n = 3'}
    """

    row: str
    column: str
    paper: float | None = None
    spread: float | None = None
    source: str = ""
    value: str = "mcc"
    better: str = "higher"
    precision: float = 0.005
    always: bool = True
    other: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.better not in BETTER:
            raise ValueError(f"`better` must be one of {BETTER}, got {self.better!r}. Choose one of these.")
        if not self.settings:
            object.__setattr__(self, "settings", {"row": self.row, "column": self.column})

    def to_dict(self) -> dict[str, Any]:
        """Return what a stored result says about the cell, without the settings it shares with others."""
        left_out = ("settings", "always", *(() if self.other else ("other",)))
        return {name: value for name, value in asdict(self).items() if name not in left_out}
