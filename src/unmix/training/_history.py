"""What happened in a run: the record kept while it goes on, and the history it leaves."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor


@dataclass(frozen=True)
class History:
    """Every term of the loss at every step, as it entered the objective.

    Attributes
    ----------
    terms : dict of str to list of float
        One number per step for each term, weight included.
    n_steps : int
        Steps taken.
    seconds : float
        Time spent in the loop, over all resumptions.
    stopped : str
        Why the run ended: "finished", "patience" or "on_step".
    extras : dict of str to list of float
        Series that are not part of the objective, such as a constraint and its multiplier.

    Examples
    --------
    >>> History({"fit": [2.0, 1.0], "penalty": [0.5, 0.25]}, 2, 0.1, "finished").objective
    [2.5, 1.25]
    """

    terms: dict[str, list[float]]
    n_steps: int
    seconds: float
    stopped: str
    extras: dict[str, list[float]] = field(default_factory=dict)

    @property
    def objective(self) -> list[float]:
        """The sum of the terms at each step."""
        return [sum(row) for row in zip(*self.terms.values(), strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers, ready for JSON."""
        return {
            "terms": {name: list(values) for name, values in self.terms.items()},
            "objective": self.objective,
            "n_steps": self.n_steps,
            "seconds": self.seconds,
            "stopped": self.stopped,
            "extras": {name: list(values) for name, values in self.extras.items()},
        }


class Row(NamedTuple):
    """The terms of one step: their names, and a copy of their values, still on the device."""

    names: tuple[str, ...]
    values: Tensor

    def as_dict(self) -> dict[str, Tensor]:
        """Return the values by name."""
        return dict(zip(self.names, self.values, strict=True))


@torch.no_grad()
def as_row(terms: dict[str, Tensor]) -> Row:
    """Copy terms before the update: a term may be a view of a parameter, which the update changes."""
    return Row(tuple(terms), torch.stack(tuple(terms.values())))


class Record:
    """A history under way. Values stay on their device until `flush`, which is where they are checked.

    Reading a number from a CUDA device waits for the device; doing so once every few dozen steps costs
    nothing, doing so at every step costs more than the step.
    """

    def __init__(self, extras: tuple[str, ...] = ()):
        self.extras = extras
        self.names: tuple[str, ...] = ()
        self.rows: list[list[float]] = []
        self._pending: list[Tensor] = []
        self.seconds, self.stopped = 0.0, ""

    @property
    def n_steps(self) -> int:
        """Steps recorded, checked or not."""
        return len(self.rows) + len(self._pending)

    def append(self, row: Row) -> None:
        """Keep the terms of one step, unread."""
        self.names = self.names or row.names
        if row.names != self.names:
            raise ValueError(
                f"`loss` must return the same terms at every step, got {row.names} after {self.names}. "
                "Return a zero tensor for a term that is switched off."
            )
        self._pending.append(row.values)

    def flush(self, kept: Callable[[], str] = str) -> None:
        """Read the pending values; raise if one of them is not finite, after `kept` said what is saved."""
        if not self._pending:
            return
        rows = torch.stack(self._pending).tolist()
        self._pending.clear()
        bad = next((i for i, row in enumerate(rows) if not all(map(math.isfinite, row))), None)
        self.rows += rows[:bad]
        if bad is not None:
            name, value = next(p for p in zip(self.names, rows[bad], strict=True) if not math.isfinite(p[1]))
            raise FloatingPointError(not_finite(f"term `{name}`", value, len(self.rows), kept()))

    def latest(self) -> dict[str, float]:
        """Return the terms of the last checked step."""
        return dict(zip(self.names, self.rows[-1], strict=True)) if self.rows else {}

    def objective(self, step: int) -> float:
        """Return the sum of the terms at a checked step."""
        row = zip(self.names, self.rows[step], strict=True)
        return sum(value for name, value in row if name not in self.extras)

    def history(self) -> History:
        """Return what was recorded so far."""
        columns = {name: [row[i] for row in self.rows] for i, name in enumerate(self.names)}
        extras = {name: columns.pop(name) for name in self.extras if name in columns}
        return History(columns, len(self.rows), self.seconds, self.stopped, extras)

    def state_dict(self) -> dict[str, Any]:
        """Return the checked rows; whoever saves a record flushes it first."""
        rows = torch.tensor(self.rows, dtype=torch.float64)
        return {"names": list(self.names), "rows": rows, "seconds": self.seconds, "stopped": self.stopped}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a record saved by `state_dict`."""
        self.names, self.rows = tuple(state["names"]), state["rows"].tolist()
        self.seconds, self.stopped = state["seconds"], state["stopped"]
        self._pending.clear()


def not_finite(what: str, value: float, step: int, kept: str) -> str:
    """Say what broke, where, what is saved and what to try."""
    return (
        f"{what} must stay finite, got {value} at step {step}. {kept} Try a smaller `lr`, `clip_norm=1.0`, "
        f"a smaller or slowly growing weight for this term, or full precision (`precision=None`)."
    )


class Patience:
    """Stop when the watched value has found no new minimum for `patience` steps.

    The watched value is `monitor()` where given, else the mean objective of the last `window` steps. A new
    minimum is lower than the old one by more than a ten-thousandth of its size: a run that converges makes
    ever smaller progress and would otherwise never end.
    """

    def __init__(self, patience: int | None, monitor: Callable[[], float] | None, window: int = 50):
        if patience is not None and patience < 1:
            raise ValueError(f"`patience` must be at least 1 step, got {patience}. Use None for no limit.")
        self.patience, self.monitor, self._window = patience, monitor, window
        self._best, self._best_step = math.inf, 0

    def exhausted(self, record: Record) -> bool:
        """Look at the watched value; say whether to stop."""
        if self.patience is None:
            return False
        value = self._mean_objective(record) if self.monitor is None else float(self.monitor())
        if self._best == math.inf or value < self._best - 1e-4 * abs(self._best):
            self._best, self._best_step = value, len(record.rows)
        return len(record.rows) - self._best_step >= self.patience

    def _mean_objective(self, record: Record) -> float:
        steps = range(max(0, len(record.rows) - self._window), len(record.rows))
        return sum(map(record.objective, steps)) / len(steps)

    def state_dict(self) -> dict[str, Any]:
        """Return the best value so far and where it was."""
        return {"best": None if self._best == math.inf else self._best, "best_step": self._best_step}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what was saved by `state_dict`."""
        self._best = math.inf if state["best"] is None else state["best"]
        self._best_step = state["best_step"]
