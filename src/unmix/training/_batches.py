"""Endless batches whose position can be saved and restored."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from ._records import block_of, columns_of, views

_SAMPLED_ENTRIES = 1 << 20  # a digest of more would cost a transfer from the device for little


class Minibatches:
    """Endless shuffled batches of tensors that stay on their device, which resume bit for bit.

    The stream is one random order of the samples after another, cut into batches of equal size: every
    sample is seen exactly once in each run of ``n_samples`` draws. With ``batch_size >= n_samples`` every
    batch is the whole data, in its own order.

    Parameters
    ----------
    *tensors : Tensor of shape (n_samples, ...)
        Batched together along the first axis; those that lie `side_by_side` are gathered at once.
    batch_size : int
        Samples per batch.
    generator : torch.Generator
        The only source of randomness; on the CPU it gives the same order on every device.
    noise : int, optional
        If given, each batch ends with a fresh standard normal tensor of shape (batch, noise).

    Examples
    --------
    >>> x = torch.arange(6.0)
    >>> batches = Minibatches(x, batch_size=4, generator=torch.Generator().manual_seed(0))
    >>> (first,), (second,), (third,) = next(batches), next(batches), next(batches)
    >>> torch.cat([first, second, third]).sort().values
    tensor([0., 0., 1., 1., 2., 2., 3., 3., 4., 4., 5., 5.])
    """

    def __init__(
        self, *tensors: Tensor, batch_size: int, generator: torch.Generator, noise: int | None = None
    ):
        sizes = {len(tensor) for tensor in tensors}
        if len(sizes) != 1 or 0 in sizes:
            shapes = [tuple(tensor.shape) for tensor in tensors]
            raise ValueError(
                f"`tensors` must share a first axis of at least 1, got {shapes}. Check the rows."
            )
        if batch_size < 1:
            raise ValueError(f"`batch_size` must be at least 1, got {batch_size}. Use 256, say.")
        self.tensors, self.n_samples = tensors, len(tensors[0])
        self.batch_size = min(batch_size, self.n_samples)
        self.generator, self.noise = generator, noise
        self._block = block_of(tensors)
        self._part = slice(None)
        self._order, self._cursor = torch.empty(0, dtype=torch.long, device=tensors[0].device), 0

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        return self

    def __next__(self) -> tuple[Tensor, ...]:
        batch = self._samples()
        return batch if self.noise is None else (*batch, self._normal(self.noise)[self._part])

    def share(self, rank: int, size: int) -> int:
        """Give one of so many processes its rows of each batch, and return how many the batch has in all."""
        self._part = slice(rank, None, size) if size > 1 else slice(None)
        return self.batch_size

    def _samples(self) -> tuple[Tensor, ...]:
        if self.batch_size == self.n_samples:
            whole = self._part == slice(None)
            return self.tensors if whole else tuple(tensor[self._part] for tensor in self.tensors)
        rows = self._rows()[self._part]
        if self._block is not None:
            return views(self._block.index_select(0, rows), columns_of(self.tensors))
        return tuple(tensor.index_select(0, rows) for tensor in self.tensors)

    def _rows(self) -> Tensor:
        rows = self._order[self._cursor : self._cursor + self.batch_size]
        self._cursor += self.batch_size
        missing = self.batch_size - len(rows)
        if missing == 0:
            return rows
        order = torch.randperm(self.n_samples, generator=self.generator, device=self.generator.device)
        self._order, self._cursor = order.to(self._order.device), missing
        return torch.cat([rows, self._order[:missing]])

    def _normal(self, n_columns: int) -> Tensor:
        like = next((tensor for tensor in self.tensors if tensor.is_floating_point()), torch.empty(0))
        shape = (self.batch_size, n_columns)
        draw = torch.randn(shape, generator=self.generator, device=self.generator.device, dtype=like.dtype)
        return draw.to(self.tensors[0].device)

    def state_dict(self) -> dict[str, Any]:
        """Return the order of the current epoch, the place in it and the generator's state."""
        return {"order": self._order, "cursor": self._cursor, "generator": self.generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a place saved by `state_dict`."""
        self._order, self._cursor = state["order"].to(self._order.device), state["cursor"]
        self.generator.set_state(state["generator"])

    def fingerprint(self) -> dict[str, Any]:
        """Say what is batched and how, so that a resumed run notices other data."""
        return {
            "shapes": [list(tensor.shape) for tensor in self.tensors],
            "batch_size": self.batch_size,
            "noise": self.noise,
            "seed": self.generator.initial_seed(),
            "digest": digest_of(self.tensors),
        }


class Feed:
    """Endless batches from any iterable, with a place that can be restored.

    An iterable with `state_dict` and `load_state_dict` is restored by them; any other is started again and
    fast-forwarded, which is exact when it gives the same batches each time.
    """

    def __init__(self, batches: Iterable[Any]):
        self.batches, self._drawn = batches, 0
        self._iterator = iter(batches)

    def draw(self) -> Any:
        """Return the next batch, starting over at the end of the iterable."""
        self._drawn += 1
        try:
            return next(self._iterator)
        except StopIteration:
            return self._start_over()

    def _start_over(self) -> Any:
        self._iterator = iter(self.batches)
        try:
            return next(self._iterator)
        except StopIteration:
            advice = "Pass a list, or an iterable that can be started again."
            raise ValueError(f"`batches` must hold a batch each time, got none. {advice}") from None

    def state_dict(self) -> dict[str, Any]:
        """Return how many batches were drawn, and the iterable's own state where it has one."""
        own = self.batches.state_dict() if hasattr(self.batches, "state_dict") else None
        return {"drawn": self._drawn, "own": own}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a place saved by `state_dict`."""
        if state["own"] is not None and hasattr(self.batches, "load_state_dict"):
            self.batches.load_state_dict(state["own"])
            self._iterator, self._drawn = iter(self.batches), state["drawn"]
            return
        while self._drawn < state["drawn"]:
            self.draw()

    def share(self, rank: int, size: int) -> int | None:
        """Let batches hold the rows of one process; None where the iterable is a process' own anyway."""
        return self.batches.share(rank, size) if hasattr(self.batches, "share") else None

    def close(self) -> None:
        """Pause reading ahead until the next batch is drawn."""
        if hasattr(self.batches, "rest"):
            self.batches.rest()

    def fingerprint(self) -> dict[str, Any] | None:
        """Return the iterable's own fingerprint where it has one."""
        return self.batches.fingerprint() if hasattr(self.batches, "fingerprint") else None


def digest_of(tensors: tuple[Tensor, ...]) -> str:
    """Hash evenly spaced entries of each tensor."""
    found = hashlib.sha256()
    for tensor in tensors:
        flat = tensor.detach().reshape(-1)
        sample = flat[:: max(1, flat.numel() // _SAMPLED_ENTRIES)].cpu().contiguous()
        found.update(sample.view(torch.uint8).numpy().tobytes())
    return found.hexdigest()[:16]
