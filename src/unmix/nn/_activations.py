"""Elementwise activations and their derivatives, which the closed-form Jacobian multiplies along."""

from collections.abc import Callable
from functools import partial
from math import pi, sqrt
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

__all__ = ["ACTIVATIONS", "Activation"]

Values = Float[Tensor, "*shape"]


class Activation(NamedTuple):
    """A factory of modules and the derivative `(module, a) -> slopes`, elementwise at the pre-activation."""

    module: Callable[[], nn.Module]
    derivative: Callable[[Any, Tensor], Tensor]


def _step(module: Any, a: Values) -> Values:
    # without a gradient of its own: the second derivative is zero almost everywhere
    return (a > 0).to(a.dtype)


def _leaky_step(module: Any, a: Values) -> Values:
    # filled, not chosen by `where`: a Python number there is copied to the GPU at every call
    return torch.full_like(a, module.negative_slope).masked_fill_(a > 0, 1.0)


def _elu(module: Any, a: Values) -> Values:
    # exp of the clamped value: exp(a) may overflow where it is not used, and its gradient would be nan
    return (module.alpha * a.clamp(max=0).exp()).masked_fill(a > 0, 1.0)


def _silu(module: Any, a: Values) -> Values:
    s = a.sigmoid()
    return s * (1 + a * (1 - s))


def _gelu(module: Any, a: Values) -> Values:
    return (1 + torch.erf(a / sqrt(2))) / 2 + a * (-(a**2) / 2).exp() / sqrt(2 * pi)


def _tanh(module: Any, a: Values) -> Values:
    return 1 - a.tanh() ** 2


def _sigmoid(module: Any, a: Values) -> Values:
    s = a.sigmoid()
    return s * (1 - s)


def _softplus(module: Any, a: Values) -> Values:
    return (module.beta * a).sigmoid()


def _ones(module: Any, a: Values) -> Values:
    return torch.ones_like(a)


ACTIVATIONS: dict[str, Activation] = {
    "leaky_relu": Activation(partial(nn.LeakyReLU, 0.2), _leaky_step),
    "relu": Activation(nn.ReLU, _step),
    "elu": Activation(nn.ELU, _elu),
    "silu": Activation(nn.SiLU, _silu),
    "gelu": Activation(nn.GELU, _gelu),
    "tanh": Activation(nn.Tanh, _tanh),
    "sigmoid": Activation(nn.Sigmoid, _sigmoid),
    "softplus": Activation(nn.Softplus, _softplus),
    "identity": Activation(nn.Identity, _ones),
}
