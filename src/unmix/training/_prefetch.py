"""Batches that are read and copied to the device while the step before is computed."""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ._batches import Feed
from ._device import device as chosen
from ._tree import mapped


class _Read(NamedTuple):
    """A batch on the device, where its source stands after it, and when its copy is complete."""

    batch: Any
    state: dict[str, Any]
    ready: Any


class Prefetched:
    """Batches of any source, of which a thread reads the next one and copies it to a device meanwhile.

    It is endless and resumable as the source is: what it saves is the place of the batch last taken, not of
    the one read ahead. The thread ends with the run. A source that draws at random needs a generator of its
    own, since it is read at any moment of a step.

    Parameters
    ----------
    batches : iterable
        Of tensors, or tuples, lists or dicts of them; started over when it ends.
    device : str or torch.device, default="auto"
        Where the tensors go. On CUDA they are pinned and copied on a stream of their own.

    Examples
    --------
    >>> batches = Prefetched([torch.tensor([1.0]), torch.tensor([2.0])], "cpu")
    >>> [next(batches).item() for _ in range(3)]
    [1.0, 2.0, 1.0]
    >>> batches.rest()
    """

    def __init__(self, batches: Iterable[Any], device: str | torch.device = "auto"):
        self.device = torch.empty(0, device=chosen(device)).device  # with its number, which a thread needs
        self._feed = Feed(batches)
        self._state = self._feed.state_dict()
        self._thread: ThreadPoolExecutor | None = None
        self._ahead: Future[_Read] | None = None
        self._stream = torch.cuda.Stream(self.device) if self.device.type == "cuda" else None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        ahead, self._ahead = self._ahead or self._start(), None
        batch, self._state, ready = ahead.result()
        self._ahead = self._start()
        if ready is not None:
            now = torch.cuda.current_stream(self.device)
            now.wait_event(ready)
            mapped(lambda tensor: tensor.record_stream(now), batch)
        return batch

    def _start(self) -> "Future[_Read]":
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="prefetch")
            if self._stream is not None:
                self._stream.wait_stream(torch.cuda.current_stream(self.device))
        return self._thread.submit(self._read)

    def _read(self) -> _Read:
        with nullcontext() if self._stream is None else torch.cuda.stream(self._stream):
            batch = mapped(self._moved, self._feed.draw())
        return _Read(
            batch, self._feed.state_dict(), None if self._stream is None else self._stream.record_event()
        )

    def _moved(self, tensor: Tensor) -> Tensor:
        if self._stream is not None and tensor.device.type == "cpu":
            tensor = tensor.pin_memory()
        return tensor.to(self.device, non_blocking=True)

    def rest(self) -> None:
        """End the thread; a source that can go back does, to the batch last taken, else the next is kept."""
        if self._thread is None:
            return
        self._thread.shutdown(wait=True)
        self._thread = None
        if self._state["own"] is not None and hasattr(self._feed.batches, "load_state_dict"):
            self.load_state_dict(self._state)

    def share(self, rank: int, size: int) -> int | None:
        """Give one of so many processes its rows of each batch; before the first of them is read."""
        return self._feed.share(rank, size)

    def state_dict(self) -> dict[str, Any]:
        """Return the place in the source after the batch that was last taken."""
        return self._state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a place saved by `state_dict`."""
        self.rest()
        self._ahead, self._state = None, state
        self._feed.load_state_dict(state)

    def fingerprint(self) -> dict[str, Any] | None:
        """Return the source's own fingerprint where it has one."""
        return self._feed.fingerprint()
