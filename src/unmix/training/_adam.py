"""The optimiser, and numbers that change between its steps."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ._kernels import adamw_


class Dial:
    """A number set before each step; with a device it lives there, where a recorded step can read it.

    The fused kernel of CUDA reads its rate in single precision; on the CPU a tensor keeps every bit.
    """

    def __init__(self, number: float = 1.0, device: torch.device | None = None):
        self._number = number
        self.value: float | Tensor = number
        if device is not None:
            dtype = torch.float64 if device.type == "cpu" else torch.float32
            self.value = torch.full((), number, dtype=dtype, device=device)

    def set(self, number: float) -> None:
        """Set the number; a tensor is written only where it changes."""
        if not isinstance(self.value, Tensor):
            self.value = number
        elif number != self._number:
            self.value.fill_(number)
            self._number = number

    def times(self, term: Tensor) -> Tensor:
        """Return the product with a term, in the term's type."""
        return term * (self.value.to(term.dtype) if isinstance(self.value, Tensor) else self.value)


class Adam:
    """Adam with decoupled weight decay over named tensors, whose state is saved by name.

    It calls the fused kernel that torch's own optimiser calls, without the wrapping: a step of a small
    network takes half the time, and the first one does not import torch's compiler.

    References
    ----------
    Kingma and Ba (2015), Algorithm 1, arXiv:1412.6980; Loshchilov and Hutter (2019), Algorithm 2,
    arXiv:1711.05101.
    """

    def __init__(
        self,
        tensors: Mapping[str, Tensor],
        *,
        lr: float,
        betas: tuple[float, float] = (0.9, 0.999),
        weight_decay: float | Mapping[str, float] = 0.0,
        maximize: bool = False,
        static: bool = False,
    ):
        self.tensors, self.lr = dict(tensors), lr
        self.rate = Dial(lr, next(iter(tensors.values())).device if static else None)
        self._options: dict[str, Any] = {
            "beta1": betas[0],
            "beta2": betas[1],
            "eps": 1e-8,
            "maximize": maximize,
        }
        self._state = {
            name: {
                "step": torch.zeros((), device=tensor.device),
                "mean": torch.zeros_like(tensor.detach()),
                "square": torch.zeros_like(tensor.detach()),
            }
            for name, tensor in self.tensors.items()
        }
        self._groups: dict[float, list[tuple[Tensor, ...]]] = {}
        for name, state in self._state.items():
            decay = weight_decay.get(name, 0.0) if isinstance(weight_decay, Mapping) else weight_decay
            self._groups.setdefault(decay, []).append((self.tensors[name], *state.values()))
        self._columns = {decay: _columns(rows) for decay, rows in self._groups.items()}

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The tensors in the form that torch's gradient scaler reads."""
        return [{"params": list(self.tensors.values())}]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for tensor in self.tensors.values():
            tensor.grad = None

    def step(self) -> None:
        """Update, in place, every tensor that has a gradient."""
        for decay in self._groups:
            self._step(decay)

    def _step(self, decay: float) -> None:
        """Update the tensors of one weight decay."""
        tensors, steps, means, squares = self._columns[decay]
        gradients = [gradient for tensor in tensors if (gradient := tensor.grad) is not None]
        if len(gradients) < len(tensors):
            rows = [row for row in self._groups[decay] if row[0].grad is not None]
            tensors, steps, means, squares = _columns(rows)
        if gradients:
            options = self._options | {"lr": self.rate.value, "weight_decay": decay}
            with torch.no_grad():
                adamw_(tensors, gradients, means, squares, steps, **options)

    def set_rate(self, factor: float) -> None:
        """Scale the learning rate for the coming steps."""
        self.rate.set(self.lr * factor)

    def state_dict(self) -> dict[str, Any]:
        """Return step count and both moments of each tensor."""
        return self._state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        for name, own in self._state.items():
            for key, tensor in own.items():
                tensor.copy_(state[name][key])


def _columns(rows: list[tuple[Tensor, ...]]) -> list[list[Tensor]]:
    """Return tensors, steps, means and squares as a list each."""
    return [[row[i] for row in rows] for i in range(4)]
