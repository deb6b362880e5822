"""What happened in a run: the record kept while it goes on, and the history it leaves."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .._group import numbers_from

WINDOW = 50  # steps whose mean objective is watched


@dataclass(frozen=True)
class History:
    """Every term of the loss at every recorded step, as it entered the objective.

    Attributes
    ----------
    terms : dict of str to list of float
        One number per recorded step for each term, weight included.
    n_steps : int
        Steps taken.
    seconds : float
        Time spent in the loop, over all resumptions.
    stopped : str
        Why the run ended: "finished", "patience" or "on_step".
    extras : dict of str to list of float
        Series that are not part of the objective, such as a constraint and its multiplier.
    steps : list of int
        The recorded steps: all of a short run, evenly spaced ones and the last of a long one.

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
    steps: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.steps:
            object.__setattr__(self, "steps", list(range(len(next(iter(self.terms.values()), ())))))

    @property
    def objective(self) -> list[float]:
        """The sum of the terms at each recorded step."""
        return [sum(row) for row in zip(*self.terms.values(), strict=True)]

    def thinned(self, max_rows: int) -> "History":
        """Return evenly spaced rows and the last one, about `max_rows` at most.

        Examples
        --------
        >>> History({"fit": [4.0, 3.0, 2.0, 1.0, 0.0, 0.0]}, 6, 0.1, "finished").thinned(3).steps
        [0, 2, 4, 5]
        """
        if len(self.steps) <= max_rows:
            return self
        rows = sorted({*range(0, len(self.steps), -(-len(self.steps) // max_rows)), len(self.steps) - 1})
        terms, extras = (
            {name: [series[row] for row in rows] for name, series in part.items()}
            for part in (self.terms, self.extras)
        )
        return replace(self, terms=terms, extras=extras, steps=[self.steps[row] for row in rows])

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers, ready for JSON."""
        return asdict(self) | {"objective": self.objective}


class Row(NamedTuple):
    """The terms of one step: names, a copy of the values on the device, and which are no part of the sum."""

    names: tuple[str, ...]
    values: Tensor
    extras: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Tensor]:
        """Return the values by name."""
        return dict(zip(self.names, self.values, strict=True))


class Record:
    """A history under way. Values stay on their device until `flush`, which is where they are checked.

    Reading a number from a CUDA device waits for the device; doing so once every few dozen steps costs
    nothing, doing so at every step costs more than the step. Once there are more than `max_rows` rows every
    second one is dropped, and only steps of twice the distance are kept from then on.
    """

    def __init__(self, max_rows: int = 10_000):
        self.max_rows, self.stride, self.n_read = max_rows, 1, 0
        self.names: tuple[str, ...] = ()
        self.extras: tuple[str, ...] = ()
        self.recent: list[list[float]] = []
        self._kept: list[Tensor] = []
        self._pending: list[Tensor] = []
        self.seconds, self.stopped = 0.0, ""

    @property
    def n_steps(self) -> int:
        """Steps recorded, checked or not."""
        return self.n_read + len(self._pending)

    def append(self, row: Row) -> None:
        """Keep the terms of one step, unread."""
        self.names, self.extras = row.names, row.extras
        self._pending.append(row.values)

    def flush(self, kept: Callable[[], str] = str) -> None:
        """Read the pending values; raise if one of them is not finite, after `kept` said what is saved."""
        if not self._pending:
            return
        rows = torch.stack(self._pending).to("cpu", torch.float64)
        self._pending.clear()
        finite = rows.isfinite()
        whole = finite.all(1)
        good = len(rows) if whole.all() else int(whole.int().argmin())
        self._keep(rows[:good])
        if good < len(rows):
            bad = int(finite[good].int().argmin())
            what = f"term `{self.names[bad]}`"
            raise FloatingPointError(not_finite(what, rows[good, bad].item(), self.n_read, kept()))

    def _keep(self, rows: Tensor) -> None:
        self.recent = (self.recent + rows[-WINDOW:].tolist())[-WINDOW:]
        self._kept.append(rows[-self.n_read % self.stride :: self.stride].clone())
        self.n_read += len(rows)
        while self.n_read > self.max_rows * self.stride:
            self._kept = [torch.cat(self._kept)[::2].clone()]
            self.stride *= 2

    def latest(self) -> dict[str, float]:
        """Return the terms of the last checked step."""
        return dict(zip(self.names, self.recent[-1], strict=True)) if self.recent else {}

    def mean_objective(self, window: int) -> float:
        """Return the mean sum of the terms over the last checked steps."""
        counted = [i for i, name in enumerate(self.names) if name not in self.extras]
        rows = self.recent[-window:]
        return sum(sum(row[i] for i in counted) for row in rows) / len(rows)

    def history(self) -> History:
        """Return what was recorded so far."""
        steps, rows = list(range(0, self.n_read, self.stride)), torch.cat(self._kept).tolist()
        if steps[-1] != self.n_read - 1:
            steps, rows = [*steps, self.n_read - 1], [*rows, self.recent[-1]]
        columns = dict(zip(self.names, map(list, zip(*rows, strict=True)), strict=True))
        extras = {name: columns.pop(name) for name in self.extras}
        return History(columns, self.n_read, self.seconds, self.stopped, extras, steps)

    def state_dict(self) -> dict[str, Any]:
        """Return the checked rows; whoever saves a record flushes it first."""
        return {
            "names": list(self.names),
            "extras": list(self.extras),
            "rows": torch.cat(self._kept),
            "recent": torch.tensor(self.recent, dtype=torch.float64),
            "stride": self.stride,
            "n_steps": self.n_read,
            "seconds": self.seconds,
            "stopped": self.stopped,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a record saved by `state_dict`."""
        self.names, self.extras = tuple(state["names"]), tuple(state["extras"])
        self._kept, self.recent = [state["rows"]], state["recent"].tolist()
        self.stride, self.n_read = state["stride"], state["n_steps"]
        self.seconds, self.stopped = state["seconds"], state["stopped"]
        self._pending.clear()


def not_finite(what: str, value: float, step: int, kept: str) -> str:
    """Say what broke, where, what is saved and what to try."""
    return (
        f"{what} must stay finite, got {value} at step {step}. {kept} Try a smaller `lr`, clipped gradients, "
        f"a smaller or slowly growing weight for this term, or full precision (`precision=None`)."
    )


class Patience:
    """Stop when the watched value has found no new minimum for `patience` steps.

    The watched value is `monitor()` where given, else the mean objective of the last `window` steps, 50 at
    most. A new minimum is lower than the old one by more than a ten-thousandth of its size: a run that
    converges makes ever smaller progress and would otherwise never end.
    """

    def __init__(self, patience: int | None, monitor: Callable[[], float] | None, window: int = WINDOW):
        if patience is not None and patience < 1:
            raise ValueError(f"`patience` must be at least 1 step, got {patience}. Use None for no limit.")
        self.patience, self.monitor, self._window = patience, monitor, window
        self._best, self._best_step = math.inf, 0

    def exhausted(self, record: Record) -> bool:
        """Look at the watched value; say whether to stop."""
        if self.patience is None:
            return False
        value = record.mean_objective(self._window) if self.monitor is None else float(self.monitor())
        (value,) = numbers_from(0, [value])
        if self._best == math.inf or value < self._best - 1e-4 * abs(self._best):
            self._best, self._best_step = value, record.n_read
        return record.n_read - self._best_step >= self.patience

    def state_dict(self) -> dict[str, Any]:
        """Return the best value so far and where it was."""
        return {"best": None if self._best == math.inf else self._best, "best_step": self._best_step}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what was saved by `state_dict`."""
        self._best = math.inf if state["best"] is None else state["best"]
        self._best_step = state["best_step"]
