"""Jacobians of convolutional networks by the tangent rule, without automatic differentiation.

Columns of the Jacobian travel through the network beside the values: stacked along the batch, they pass a
linear layer as values do, but without its bias, and are multiplied by the slopes of an activation, which all
columns share. Each layer is one call for all columns; the reverse pass is an ordinary one.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from ._closed import DERIVATIVES, is_known_activation, is_plain
from ._convolutions import SLOPE, ChannelsFirst, InstanceNorm, StyleDecoder, bent, normalised, styled
from ._strided import ChannelsLast

__all__ = ["Remembered", "has_tangent_rule", "tangent_jacobian"]

# a module, values of n samples, and k tangents for each of them, (k n, ...) -> the same behind the module
Rule = Callable[[Any, Tensor, Tensor], tuple[Tensor, Tensor]]


class Remembered(nn.Module):
    """A network whose value at some codes is remembered, when it is found on the way to a Jacobian.

    Parameters
    ----------
    network : Module
    z : (n, z) tensor
        The codes, this very tensor.

    Examples
    --------
    >>> z = torch.zeros(3, 2)
    >>> network = Remembered(nn.Sequential(nn.Linear(2, 4), nn.Unflatten(1, (2, 2))), z)
    >>> J = tangent_jacobian(network, z)[1]
    >>> network.value() is network.value()
    True
    """

    def __init__(self, network: nn.Module, z: Float[Tensor, "n z"]) -> None:
        super().__init__()
        self.network, self._z = network, z
        self._value: Tensor | None = None

    def forward(self, z: Float[Tensor, "m z"]) -> Float[Tensor, "m *x"]:
        """Return the value at any codes."""
        return self.network(z)

    def note(self, z: Float[Tensor, "m z"], value: Float[Tensor, "m *x"]) -> None:
        """Remember a value, if it belongs to the codes."""
        if z is self._z:
            self._value = value

    def value(self) -> Float[Tensor, "n *x"]:
        """Return the value at the codes, computed only where it is not remembered."""
        return self.network(self._z) if self._value is None else self._value


def has_tangent_rule(f: Any) -> bool:
    """Whether `f` is made of nothing but layers with a rule."""
    if not isinstance(f, nn.Module) or f._forward_hooks or f._forward_pre_hooks:
        return False
    if isinstance(f, Remembered):
        return has_tangent_rule(f.network)
    if is_plain(f, nn.Sequential) or is_plain(f, StyleDecoder) or isinstance(f, nn.ModuleList):
        return all(has_tangent_rule(child) for child in f.children())
    return is_known_activation(f) or any(is_plain(f, kind) for kind in _RULES)


def tangent_jacobian(
    f: Any, z: Float[Tensor, "n z"], columns: Int[Tensor, " k"] | None = None
) -> tuple[Float[Tensor, "n ..."], Float[Tensor, "n x k"]]:
    """Value of `f` and its Jacobian (or some of its columns), by the tangent rule."""
    basis = torch.eye(z.shape[1], dtype=z.dtype, device=z.device)
    basis = basis if columns is None else basis.index_select(0, columns)
    tangents = basis[:, None].expand(-1, len(z), -1).flatten(0, 1)
    value, tangents = _pushed(f, z, tangents)
    return value, tangents.unflatten(0, (len(basis), len(z))).flatten(2).permute(1, 2, 0)


def _pushed(module: Any, a: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    """Push values and tangents through a module."""
    if isinstance(module, nn.Sequential):
        for layer in module:
            a, t = _pushed(layer, a, t)
        return a, t
    if type(module) in DERIVATIVES:
        return module(a), _times(t, DERIVATIVES[type(module)](module, a))
    return next(rule for kind, rule in _RULES.items() if isinstance(module, kind))(module, a, t)


def _times(t: Tensor, slopes: Tensor) -> Tensor:
    """Multiply the tangents of each sample by what belongs to the sample."""
    return (t.unflatten(0, (-1, len(slopes))) * slopes).flatten(0, 1)


def _remembered(module: Remembered, a: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    value, t = _pushed(module.network, a, t)
    module.note(a, value)
    return value, t


def _linear(layer: nn.Linear, a: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    return layer(a), F.linear(t, layer.weight)


def _convolution(layer: nn.Conv2d, a: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    return layer(a), layer._conv_forward(t, layer.weight, None)


def _transposed(layer: nn.ConvTranspose2d, a: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    how: tuple[Any, ...] = (layer.stride, layer.padding, layer.output_padding, layer.groups, layer.dilation)
    return layer(a), F.conv_transpose2d(t, layer.weight, None, *how)


def _the_same(layer: nn.Module, a: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    """Reshape or turn both alike."""
    return layer(a), layer(t)


def _instance_norm(layer: InstanceNorm, a: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    a, t = _normalised(a, t)
    return a * layer.scale + layer.shift, t * layer.scale


def _normalised(a: Float[Tensor, "n c h w"], t: Float[Tensor, "kn c h w"]) -> tuple[Tensor, Tensor]:
    """Normalise each channel of each image: y = (a - mean) / s has dy = (da - mean da - y mean(y da)) / s."""
    y, inverse = normalised(a)
    t = t - t.mean((2, 3), keepdim=True)
    along = _times(t, y).mean((2, 3), keepdim=True)
    return y, _times(t, inverse) - _times(along, y * inverse)


def _style_decoder(decoder: StyleDecoder, a: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    style, d_style = _pushed(decoder.dense, a, t)
    x = decoder.start(len(a))
    d_x: Tensor | None = None  # the constant that all begins with does not move
    for convolution, linear in zip(decoder.convolutions, decoder.styles, strict=True):
        both, d_both = _pushed(_RELU, *_pushed(linear, style, d_style))
        (scale, shift), (d_scale, d_shift) = styled(both), styled(d_both)
        if d_x is None:
            y, _ = normalised(bent(convolution(x)))
            d_y = None
        else:
            y, d_y = _normalised(*_pushed(_LEAKY, *_pushed(convolution, x, d_x)))
        d_x = (
            _times(d_scale, y) + d_shift if d_y is None else _times(d_y, scale) + _times(d_scale, y) + d_shift
        )
        x = y * scale + shift
    x, d_x = _pushed(decoder.last, x, d_x)  # type: ignore[arg-type]
    return x.permute(0, 2, 3, 1), d_x.permute(0, 2, 3, 1)


_RELU, _LEAKY = nn.ReLU(), nn.LeakyReLU(SLOPE)
_RULES: dict[type[nn.Module], Rule] = {
    Remembered: _remembered,
    nn.Linear: _linear,
    nn.Conv2d: _convolution,
    nn.ConvTranspose2d: _transposed,
    nn.Flatten: _the_same,
    nn.Unflatten: _the_same,
    ChannelsFirst: _the_same,
    ChannelsLast: _the_same,
    InstanceNorm: _instance_norm,
    StyleDecoder: _style_decoder,
}
