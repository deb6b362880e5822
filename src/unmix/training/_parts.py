"""The moving parts of a run that a checkpoint must hold: tensors and random states."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn


class Named:
    """Named tensors, changed in place: those that require a gradient are trained, the rest carried along."""

    def __init__(self, parameters: nn.Module | Mapping[str, Tensor]):
        self._source = dict(parameters) if isinstance(parameters, Mapping) else parameters
        self.trained = {name: tensor for name, tensor in self.all.items() if tensor.requires_grad}
        if not self.trained:
            raise ValueError(
                "`parameters` must hold a tensor that requires a gradient, got none. Check the dict."
            )
        inner = [name for name, tensor in self.trained.items() if not tensor.is_leaf]
        if inner:
            raise ValueError(
                f"`parameters` must be leaf tensors, got computed ones: {inner}. Detach them first."
            )

    @property
    def all(self) -> dict[str, Tensor]:
        """Every tensor, read again each time: a module may put another one in a buffer's place."""
        return _named(self._source)

    @property
    def rest(self) -> dict[str, Tensor]:
        """The tensors that are carried along."""
        return {name: tensor for name, tensor in self.all.items() if name not in self.trained}

    @property
    def device(self) -> torch.device:
        """Where the first trained tensor lives."""
        return next(iter(self.trained.values())).device

    def not_finite(self) -> tuple[str, float] | None:
        """Return the name and value of an entry that is not finite, if there is one."""
        for name, tensor in self.trained.items():
            bad = tensor.detach()[~tensor.detach().isfinite()]
            if bad.numel():
                return name, bad.flatten()[0].item()
        return None

    def state_dict(self) -> dict[str, Any]:
        """Return every tensor by name."""
        return self.all

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Copy saved values into the tensors."""
        with torch.no_grad():
            for name, tensor in self.all.items():
                tensor.copy_(state[name])

    def fingerprint(self) -> dict[str, str]:
        """Return shape and type of every tensor."""
        return {name: f"{tuple(tensor.shape)} {tensor.dtype}" for name, tensor in self.all.items()}


class RandomState:
    """The states of the given generators and of torch's own, which dropout draws from."""

    def __init__(self, generators: Sequence[torch.Generator], device: torch.device):
        self.generators, self.device = list(generators), device

    def state_dict(self) -> dict[str, Any]:
        """Return every generator's state."""
        cuda = torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else None
        own = {str(i): generator.get_state() for i, generator in enumerate(self.generators)}
        return {"generators": own, "torch": torch.get_rng_state(), "cuda": cuda}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        torch.set_rng_state(state["torch"])
        if state["cuda"] is not None:
            torch.cuda.set_rng_state(state["cuda"], self.device)
        for i, generator in enumerate(self.generators):
            generator.set_state(state["generators"][str(i)])

    def fingerprint(self) -> list[int]:
        """Return the generators' seeds."""
        return [generator.initial_seed() for generator in self.generators]


@contextmanager
def seeded(where: nn.Module | torch.device, seed: int) -> Iterator[None]:
    """Fix torch's own random numbers, which dropout and penalties draw, and leave them as they were.

    Examples
    --------
    >>> with seeded(torch.device("cpu"), 0):
    ...     first = torch.rand(())
    >>> with seeded(torch.device("cpu"), 0):
    ...     bool(torch.rand(()) == first)
    True
    """
    place = next(where.parameters()).device if isinstance(where, nn.Module) else where
    with torch.random.fork_rng(devices=[place] if place.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def _named(parameters: nn.Module | Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return a module's parameters and buffers, or the given dict."""
    if isinstance(parameters, nn.Module):
        return {**dict(parameters.named_parameters()), **dict(parameters.named_buffers())}
    if isinstance(parameters, Mapping) and all(isinstance(tensor, Tensor) for tensor in parameters.values()):
        return dict(parameters)
    raise TypeError(
        f"`parameters` must be a module or a dict of tensors, got {type(parameters).__name__}. "
        "Pass dict(module.named_parameters())."
    )
