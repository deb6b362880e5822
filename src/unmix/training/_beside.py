"""What stands beside the data in a batch: fresh noise, or a quantity which shrinks as training goes on."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ._sources import Source


class Noise(NamedTuple):
    """Fresh standard normal noise with each batch, and fixed noise where members are judged."""

    n_columns: int

    def batches(self, source: Source, start: int, **settings: Any) -> Any:
        """Return batches that end with noise."""
        return source.batches(**settings, noise=self.n_columns)

    def at(self, step: int, like: Tensor, generator: torch.Generator) -> Tensor:
        """Return noise for all of `like`, whatever the step."""
        noise = torch.randn(len(like), self.n_columns, generator=generator)
        return noise.to(like) if like.is_floating_point() else noise.to(like.device)


class Width(NamedTuple):
    """The value of a schedule at the step, such as the width of spikes."""

    schedule: Callable[[int], float]

    def batches(self, source: Source, start: int, **settings: Any) -> "Annealed":
        """Return batches that end with the width at their step, the first of them `start`."""
        return Annealed(source.batches(**settings), self.schedule, start)

    def at(self, step: int, like: Tensor, generator: torch.Generator) -> Tensor:
        """Return the width at a step."""
        return torch.tensor(self.schedule(step)).to(like)


class Annealed:
    """Batches, each followed by the value of a schedule at its step; resumable as the batches are.

    Examples
    --------
    >>> from unmix.training import Minibatches
    >>> batches = Minibatches(torch.zeros(4, 1), batch_size=2, generator=torch.Generator().manual_seed(0))
    >>> annealed = Annealed(batches, lambda step: 0.5**step, start=1)
    >>> [float(next(annealed)[1]) for _ in range(3)]
    [0.5, 0.25, 0.125]
    """

    def __init__(self, batches: Any, schedule: Callable[[int], float], start: int = 0) -> None:
        self.batches, self.schedule, self.step = batches, schedule, start

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        return self

    def __next__(self) -> tuple[Tensor, ...]:
        batch = next(self.batches)
        value = torch.tensor(self.schedule(self.step), dtype=batch[0].dtype, device=batch[0].device)
        self.step += 1
        return (*batch, value)

    def share(self, rank: int, size: int) -> int:
        """Give one of so many processes its rows of each batch."""
        return self.batches.share(rank, size)

    def state_dict(self) -> dict[str, Any]:
        """Return the place in the batches and the step."""
        return self.batches.state_dict() | {"step": self.step}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a place saved by `state_dict`."""
        self.batches.load_state_dict({name: value for name, value in state.items() if name != "step"})
        self.step = state["step"]

    def fingerprint(self) -> dict[str, Any]:
        """Say what is batched, so that a resumed run notices other data."""
        return self.batches.fingerprint()


def shrinking(first: float, last: float, n_steps: int, end: float = 0.8) -> Callable[[int], float]:
    """Fall from first to last at a constant rate until `end` of the steps, and stay.

    Examples
    --------
    >>> width = shrinking(0.5, 0.05, 1000)
    >>> [round(width(step), 3) for step in (0, 400, 800, 1000)]
    [0.5, 0.158, 0.05, 0.05]
    """
    return lambda step: first * (last / first) ** min(1.0, step / (end * n_steps))
