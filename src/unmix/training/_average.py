"""The exponential average of a run's tensors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from ._adam import Dial
from ._kernels import copy_, lerp_
from ._parts import Named


class Average:
    """Exponential average of what a run trains, which can be looked at while the run goes on.

    After t steps the average is sum_s d^(t-s) p_s / sum_s d^(t-s), s = 1..t, with decay d: where the
    tensors started does not matter. Buffers are averaged too, those of whole numbers copied. When the run is
    over the tensors hold their averages.

    Parameters
    ----------
    decay : float
        Strictly between 0 and 1.

    Examples
    --------
    >>> from unmix.training import minimise
    >>> w, average, seen = torch.ones(1, requires_grad=True), Average(0.9), []
    >>> def look(step, terms):
    ...     with average.swapped():
    ...         seen.append(round(w.item(), 3))
    >>> _ = minimise(lambda _: {"w": w.sum()}, {"w": w}, [0], n_steps=3, lr=0.1, ema=average, on_step=look)
    >>> seen, round(w.item(), 3)
    ([0.9, 0.847, 0.793], 0.793)
    """

    def __init__(self, decay: float):
        if not 0 < decay < 1:
            raise ValueError(f"`ema` must be strictly between 0 and 1, got {decay}. Use 0.999, say.")
        self.decay, self.n_steps = decay, 0
        self._named: Named | None = None

    def start(self, named: Named, static: bool = False) -> None:
        """Begin with the tensors of a run."""
        self._named, self.n_steps = named, 0
        self.average = {name: tensor.detach().clone() for name, tensor in named.all.items()}
        self._share = Dial(1.0, named.device if static else None)
        self._trained = list(named.trained.values())
        self._averages = [self.average[name] for name in named.trained]
        self._has_rest = len(named.trained) < len(self.average)

    def prepare(self) -> None:
        """Count a step that is about to be taken."""
        self.n_steps += 1
        self._share.set((1 - self.decay) / (1 - self.decay**self.n_steps))

    @torch.no_grad()
    def update(self) -> None:
        """Take in the tensors as they are now."""
        lerp_(self._averages, self._trained, self._share.value)
        if self._has_rest:
            for name, tensor in self._running().rest.items():
                _take_in(self.average[name], tensor, self._share.value)

    @contextmanager
    def swapped(self) -> Iterator[None]:
        """Let the tensors hold their averages inside a ``with`` block, for an evaluation during the run."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        for name, tensor in self._running().all.items():
            held = tensor.clone()
            tensor.copy_(self.average[name])
            self.average[name].copy_(held)

    @torch.no_grad()
    def apply(self) -> None:
        """Replace the tensors by their averages."""
        tensors = self._running().all
        copy_(list(tensors.values()), [self.average[name] for name in tensors])

    def _running(self) -> Named:
        if self._named is None:
            raise ValueError("`Average` must be used by a run first, got no run. Pass it as `ema`.")
        return self._named

    def state_dict(self) -> dict[str, Any]:
        """Return the averages by name."""
        return {"n_steps": self.n_steps, "average": self.average}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self.n_steps = state["n_steps"]
        for name, saved in self.average.items():
            saved.copy_(state["average"][name])


def _take_in(average: Tensor, tensor: Tensor, share: float | Tensor) -> None:
    """Average a buffer; whole numbers, and entries such as the -inf of a mask, are copied."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        average.copy_(tensor)
        return
    moved = average.lerp(tensor, share.to(tensor.dtype) if isinstance(share, Tensor) else share)
    average.copy_(torch.where(moved.isfinite(), moved, tensor))
