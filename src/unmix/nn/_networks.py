"""Multilayer perceptrons, plain and residual, with a choice of activation, normalisation and linear layer."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.parametrizations import orthogonal
from torch.nn.utils.parametrize import register_parametrization

from ._activations import ACTIVATIONS
from ._layer_norm import LayerNorm
from ._shapes import Shape, between

__all__ = ["ResidualMLP", "batch_norm_head", "mlp", "residual_mlp"]


class UnitSpectralNorm(nn.Module):
    """W -> W / sigma_max(W), exactly: a pure function of W, unlike power iteration with its hidden state."""

    def forward(self, weight: Float[Tensor, "out in"]) -> Float[Tensor, "out in"]:
        """Divide by the largest singular value."""
        return weight / torch.linalg.matrix_norm(weight, 2)


class ResidualMLP(nn.Module):
    """The map x -> W x + b + mlp(x); `linear` is the skip, `residual` the network beside it."""

    def __init__(self, linear: nn.Module, residual: nn.Module) -> None:
        super().__init__()
        self.linear = linear
        self.residual = residual

    def forward(self, x: Float[Tensor, "*n n_in"]) -> Float[Tensor, "*n n_out"]:
        """Add the two branches."""
        return self.linear(x) + self.residual(x)


def _plain(n_in: int, n_out: int) -> nn.Module:
    return nn.Linear(n_in, n_out)


def _orthogonal(n_in: int, n_out: int) -> nn.Module:
    return orthogonal(nn.Linear(n_in, n_out))


def _spectral(n_in: int, n_out: int) -> nn.Module:
    return register_parametrization(nn.Linear(n_in, n_out), "weight", UnitSpectralNorm())


_LINEARS: dict[str, Callable[[int, int], nn.Module]] = {
    "plain": _plain,
    "orthogonal": _orthogonal,
    "spectral": _spectral,
}
_NORMS: dict[str | None, Callable[[int], list[nn.Module]]] = {
    None: lambda width: [],
    "batch": lambda width: [nn.BatchNorm1d(width)],
    "layer": lambda width: [LayerNorm(width)],
}


def mlp(
    n_in: Shape,
    n_out: Shape,
    *,
    hidden: Sequence[int] = (64, 64),
    activation: str | Callable[[], nn.Module] = "leaky_relu",
    norm: str | None = None,
    linear: str = "plain",
) -> nn.Sequential:
    """Multilayer perceptron: linear layers with an activation between them.

    Parameters
    ----------
    n_in, n_out : int or sequence of int
        Sizes of the input and of the output; for a shape of several axes samples are flattened and reshaped.
    hidden : sequence of int
        Widths of the hidden layers; empty for a single linear layer.
    activation : str or callable
        A name from `ACTIVATIONS`, or a factory of modules such as ``nn.Mish``.
    norm : {None, "batch", "layer"}
        Normalisation between a hidden linear layer and its activation.
    linear : {"plain", "orthogonal", "spectral"}
        Free weights, (semi-)orthogonal weights, or weights of spectral norm one.

    Returns
    -------
    nn.Sequential
        With PyTorch's own initialisation; fork the random state around the call to fix it.

    Examples
    --------
    >>> mlp(2, 3, hidden=(8,), activation="tanh")
    Sequential(
      (0): Linear(in_features=2, out_features=8, bias=True)
      (1): Tanh()
      (2): Linear(in_features=8, out_features=3, bias=True)
    )
    """
    if not (isinstance(n_in, int) and isinstance(n_out, int)):
        plain = partial(mlp, hidden=hidden, activation=activation, norm=norm, linear=linear)
        return between(plain, n_in, n_out)
    widths = (n_in, *hidden, n_out)
    if min(widths) < 1:
        raise ValueError(f"`n_in`, `hidden` and `n_out` must be at least 1, got {widths}. Drop empty layers.")
    layer = _choice("linear", linear, _LINEARS)
    normalise = _choice("norm", norm, _NORMS)
    act = _choice("activation", activation, ACTIVATIONS).module if isinstance(activation, str) else activation
    layers: list[nn.Module] = []
    for left, right in pairwise(widths[:-1]):
        layers += [layer(left, right), *normalise(right), act()]
    return nn.Sequential(*layers, layer(widths[-2], n_out))


def residual_mlp(
    n_in: Shape, n_out: Shape, *, hidden: Sequence[int] = (64, 64), zero_init: bool = True, **options
) -> nn.Module:
    """Linear map plus a multilayer perceptron, x -> W x + b + mlp(x).

    Parameters
    ----------
    n_in, n_out, hidden, **options
        As for `mlp`; `linear` also shapes the skip.
    zero_init : bool
        Start the last layer of the perceptron at zero (always a plain layer then), so that training
        begins from a linear map and bends away from it only as far as the data ask.

    Examples
    --------
    >>> f = residual_mlp(2, 3)
    >>> x = torch.randn(4, 2)
    >>> torch.equal(f(x), f.linear(x))
    True
    """
    if not (isinstance(n_in, int) and isinstance(n_out, int)):
        plain = partial(residual_mlp, hidden=hidden, zero_init=zero_init, **options)
        return between(plain, n_in, n_out)
    skip = _choice("linear", options.get("linear", "plain"), _LINEARS)(n_in, n_out)
    residual = mlp(n_in, n_out, hidden=hidden, **options)
    if zero_init:
        residual[-1] = last = nn.Linear((n_in, *hidden)[-1], n_out)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
    return ResidualMLP(skip, residual)


def batch_norm_head(n: int) -> nn.BatchNorm1d:
    """Non-affine batch normalisation, which standardises codes and so closes the scale escape.

    Examples
    --------
    >>> codes = batch_norm_head(2)(torch.tensor([[0., 5.], [2., 9.]]))
    >>> codes.round(decimals=2)
    tensor([[-1., -1.],
            [ 1.,  1.]])
    """
    return nn.BatchNorm1d(n, affine=False)


def _choice(name: str, value, choices: dict):
    """Look `value` up, or say which values there are."""
    if value not in choices:
        raise ValueError(f"`{name}` must be one of {list(choices)}, got {value!r}. Choose one of these.")
    return choices[value]
