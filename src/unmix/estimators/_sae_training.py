"""Training sparse autoencoders: one pass of data feeds as many of them as there are."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from unmix._group import added, current
from unmix.objectives import SparseRecipe
from unmix.rows import Rows
from unmix.training import Minibatches, Player, Prefetched, Run, Streamed, device

from ._dictionary import checked, geometric_median

_MEDIAN = 4096  # rows that tell the geometric median
_RESIDENT = 2**31  # bytes of a table in memory that go to the device as a whole
_BASE = 2e-4, 2**14  # learning rate of a dictionary of this many features
_IDLE = 1000  # times the samples in which an average feature fires once: one that is silent longer is dead
_DIGIT = 10 * np.finfo(np.float32).eps  # of an offset: columns that spread by less are rounding
_WARM, _FALL = 0.02, 0.2  # shares of a run in which the rate rises and falls


class Scale(NamedTuple):
    """The units that training takes place in: centred, with a mean square of 1 over all entries."""

    mean: np.ndarray
    spread: float

    def __call__(self, block: Any, /) -> Tensor:
        """Return a block of rows in these units."""
        values = np.asarray(block, dtype=np.float32) - self.mean.astype(np.float32)
        return torch.from_numpy(np.ascontiguousarray(values / np.float32(self.spread)))


def scale_of(rows: Rows) -> Scale:
    """Pass over the rows once for their mean and spread, and refuse what is not finite."""
    total, squares, group = np.zeros(rows.n_features), 0.0, current()
    shift = np.asarray(rows.take(0, 1), dtype=np.float64)[0]  # keeps digits where the mean is far from zero
    own = rows.part(group.rank, group.size)
    start = own.first
    for block in own.blocks():
        values = checked(block, start).astype(np.float64) - shift
        with np.errstate(over="ignore"):  # said below
            squares = squares + np.square(values).sum()
        total, start = total + values.sum(0), start + len(values)
    total, squares, start = _of_all(total), float(_of_all(squares)), rows.n_rows
    if not np.isfinite(squares):
        raise ValueError(
            "`X` must have entries whose squares are finite. Mend large ones, or change the units."
        )
    mean = total / start
    variance = (squares / start - np.square(mean).sum()) / rows.n_features
    if not variance > 1e-12 * (squares / start / rows.n_features + 1e-300):
        raise ValueError("`X` must vary, got the same values in every row. Check the table.")
    spread, largest = math.sqrt(variance), np.abs(mean + shift).max()
    if _DIGIT * largest > spread:
        raise ValueError(
            f"`X` must keep digits in single precision, got offsets of {largest:.1g} and a spread of "
            f"{spread:.1g}. Subtract the mean of each column first."
        )
    return Scale(mean + shift, spread)


def _of_all(sums: Any) -> np.ndarray:
    """Add up what processes found on their rows."""
    return added(torch.as_tensor(sums, dtype=torch.float64))[0].numpy()


class Source(NamedTuple):
    """Rows, the units they are trained in, and their geometric median in those units."""

    rows: Rows
    scale: Scale
    median: np.ndarray

    def batches(self, batch_size: int, generator: torch.Generator, place: torch.device) -> Any:
        """Return endless batches of shuffled rows on a device."""
        size = self.rows.n_rows * self.rows.n_features * 4
        if self.rows.resident and size <= _RESIDENT:
            x = torch.cat([self.scale(block) for block in self.rows.blocks()]).to(place)
            return Minibatches(x, batch_size=batch_size, generator=generator)
        streamed = Streamed(self.rows, self.scale.__call__).batches(
            batch_size=batch_size, generator=generator
        )
        return Prefetched(streamed, place) if place.type == "cuda" else streamed


def source_of(rows: Rows) -> Source:
    """Look at rows before training."""
    scale = scale_of(rows)
    # copies: a view of a few rows would keep its whole block in memory
    few = np.concatenate([np.array(part) for part in rows.every(max(1, rows.n_rows // _MEDIAN))])[:_MEDIAN]
    return Source(rows, scale, geometric_median_of(scale(few)))


def geometric_median_of(x: Tensor) -> np.ndarray:
    """Return the geometric median of a few thousand rows, spread over these."""
    return geometric_median(x[:: max(1, len(x) // _MEDIAN)].double().numpy())


def recipe_of(model: Any, n_features: int, n_steps: int, batch_size: int) -> SparseRecipe:
    """Turn the settings of an estimator into those of its objective; rules scale with the data."""
    m, k = model.n_components, min(model.k, model.n_components)
    silent = min(1e7, max(_IDLE * m / k, 4 * batch_size), n_steps * batch_size / 10)
    return SparseRecipe(
        activation=model.activation,
        k=k,
        prefixes=prefixes_of(model),
        n_auxiliary=min(m, max(1, n_features // 2)) if model.auxiliary else 0,
        dead_after=float(silent if model.dead_after is None else model.dead_after),
        settle=min(1000, n_steps // 4),
        memory=max(1, min(1000, n_steps // 10)),
        dense=place_of(model).type == "cuda",
    )


def prefixes_of(model: Any) -> tuple[int, ...]:
    """Return the numbers of leading features that must do by themselves; empty for all of them only."""
    if model.prefixes is None:
        return ()
    return tuple(sorted({*(int(n) for n in model.prefixes), model.n_components}))


def learning_rate_of(model: Any) -> float:
    """Return the rate that was asked for, or the one that suits the size of the dictionary."""
    rate, size = _BASE
    return rate / math.sqrt(model.n_components / size) if model.lr is None else float(model.lr)


def trapezium(n_steps: int) -> Callable[[int], float]:
    """Rise for a fiftieth of the run, stay, and fall to zero over its last fifth.

    Examples
    --------
    >>> [round(trapezium(100)(step), 2) for step in (0, 1, 50, 90, 99)]
    [0.5, 1.0, 1.0, 0.5, 0.05]
    """
    warm, fall = max(1, round(_WARM * n_steps)), max(1, round(_FALL * n_steps))
    return lambda step: min(1.0, (step + 1) / warm, max(0.0, (n_steps - step) / fall))


def player_of(model: Any, name: str, objective: nn.Module, n_steps: int, place: torch.device) -> Player:
    """Return the player that lowers an objective by the settings of an estimator."""
    bf16 = place.type == "cuda" if model.precision == "auto" else model.precision == "bf16"
    return Player(
        name=name,
        loss=lambda batch: objective(batch[0]),
        parameters=objective,
        lr=learning_rate_of(model),
        schedule=trapezium(n_steps),
        weights=objective.weights(model),  # type: ignore[operator]
        clip_norm=1.0,
        precision="bf16" if bf16 else None,
        project=objective.project,  # type: ignore[arg-type]
    )


def run_of(model: Any, n_steps: int, folder: Any) -> Run:
    """Say how long a run is and what it keeps."""
    return Run(
        n_steps=n_steps,
        checkpoint=folder,
        progress=bool(model.verbose),
        description="sparse autoencoder",
        compile=False,
    )


def place_of(model: Any) -> torch.device:
    """Return the device to train on."""
    return device(model.device)


def built(make: Callable[[], nn.Module], seed: int) -> Any:
    """Build an objective from a seed, leaving torch's global random state as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()
