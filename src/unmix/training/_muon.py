"""Steps of matrices by the orthogonal factor of the momentum, which moves all directions alike."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ._adam import Adam, Dial

_MOMENTUM, _ITERATIONS = 0.95, 5
_COEFFICIENTS = 3.4445, -4.7750, 2.0315  # of t, t^3 and t^5; steepest at 0, as the sizes need not be exact
_TINY = 1e-7


class Muon:
    """Momentum whose steps are orthogonal matrices, of named tensors with one matrix in the last two axes.

    A kernel of a convolution, which has four axes, is a matrix from all that an output sees to the outputs.

    A gradient of a perceptron has few large singular values. Adam moves each entry by as much as every other,
    and these values stay unequal; here each direction moves by as much. Steps of tall matrices are longer by
    the root of their ratio of sides, so that outputs change alike.

    Parameters
    ----------
    tensors : mapping of str to Tensor
    rates : mapping of str to float
        Learning rates, by name.
    weight_decay : float or mapping of str to float
        Decoupled, in units of the learning rate; a mapping names the tensors that decay.
    precision : {None, "bf16", "fp16"}
        Steps are worked out in half precision where losses are.
    maximize, static
        As for `Adam`.

    References
    ----------
    Jordan et al. (2024), Muon: an optimizer for hidden layers in neural networks; Bernstein and Newhouse
    (2024), Old optimizer, new norm, arXiv:2409.20325.
    """

    def __init__(
        self,
        tensors: Mapping[str, Tensor],
        *,
        rates: Mapping[str, float],
        weight_decay: float | Mapping[str, float] = 0.0,
        precision: str | None = None,
        maximize: bool = False,
        static: bool = False,
    ):
        self.tensors, self.rates = dict(tensors), dict(rates)
        each = weight_decay if isinstance(weight_decay, Mapping) else dict.fromkeys(tensors, weight_decay)
        self.decays = {name: each.get(name, 0.0) for name in tensors}
        self._half = precision is not None
        self.sign = -1.0 if maximize else 1.0
        self.factor = Dial(1.0, next(iter(tensors.values())).device if static else None)
        self._state = {name: {"mean": torch.zeros_like(t.detach())} for name, t in self.tensors.items()}

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The tensors in the form that torch's gradient scaler reads."""
        return [{"params": list(self.tensors.values())}]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for tensor in self.tensors.values():
            tensor.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update, in place, every tensor that has a gradient."""
        for name, tensor in self.tensors.items():
            if tensor.grad is None:
                continue
            mean = self._state[name]["mean"]
            mean.mul_(_MOMENTUM).add_(tensor.grad)
            ahead = as_matrices(tensor.grad + _MOMENTUM * mean)  # Nesterov's
            size = max(1.0, ahead.shape[-2] / ahead.shape[-1]) ** 0.5
            turned = orthogonal(ahead.bfloat16()).to(ahead) if self._half else orthogonal(ahead)
            if self.decays[name]:
                tensor.mul_(1 - self.decays[name] * self.rates[name] * self.factor.value)
            tensor.sub_(turned.view_as(tensor) * (self.sign * size * self.rates[name] * self.factor.value))

    def set_rate(self, factor: float) -> None:
        """Scale the learning rates for the coming steps."""
        self.factor.set(factor)

    def state_dict(self) -> dict[str, Any]:
        """Return the momentum of each tensor."""
        return self._state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        for name, own in self._state.items():
            own["mean"].copy_(state[name]["mean"])


def as_matrices(tensor: Tensor) -> Tensor:
    """Return matrices, or stacks of them, as they are, and the last three axes of kernels as one.

    >>> [tuple(as_matrices(torch.ones(shape)).shape) for shape in ((2, 3), (9, 2, 3), (8, 3, 4, 4))]
    [(2, 3), (9, 2, 3), (8, 48)]
    """
    return tensor if tensor.ndim < 4 else tensor.flatten(-3)


def orthogonal(matrices: Float[Tensor, "*n a b"]) -> Float[Tensor, "*n a b"]:
    """Return about U V^T of each matrix U S V^T: singular values between .6 and 1.3, zero for zero.

    Newton and Schulz's iteration, matrix products alone.

    Examples
    --------
    >>> turned = orthogonal(torch.diag(torch.tensor([100.0, -1.0])))
    >>> bool((turned.diag().abs() > 0.6).all()), turned[0, 1].item(), turned.diag().sign().tolist()
    (True, 0.0, [1.0, -1.0])
    """
    a, b, c = _COEFFICIENTS
    tall = matrices.shape[-2] > matrices.shape[-1]
    X = matrices.mT if tall else matrices
    X = X / (X.norm(dim=(-2, -1), keepdim=True) + _TINY)
    for _ in range(_ITERATIONS):
        square = X @ X.mT
        X = a * X + (b * square + c * square @ square) @ X
    return X.mT if tall else X


class SideBySide:
    """Optimisers of different tensors as one."""

    def __init__(self, optimisers: Sequence[Adam | Muon]):
        self.optimisers = tuple(optimisers)

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The tensors of all."""
        return [group for each in self.optimisers for group in each.param_groups]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for each in self.optimisers:
            each.zero_grad()

    def step(self) -> None:
        """Take a step of each."""
        for each in self.optimisers:
            each.step()

    def set_rate(self, factor: float) -> None:
        """Scale all learning rates for the coming steps."""
        for each in self.optimisers:
            each.set_rate(factor)

    def state_dict(self) -> dict[str, Any]:
        """Return the states of all tensors by name."""
        return {name: state for each in self.optimisers for name, state in each.state_dict().items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        for each in self.optimisers:
            each.load_state_dict(state)
