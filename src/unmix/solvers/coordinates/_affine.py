"""Affine maps around a network: to white coordinates before it, to chosen coordinates after it."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix.nn import ResidualMLP

_LEAST_EIGENVALUE = 1e-9  # of the largest; what is less is no direction of the data


class Affine(NamedTuple):
    """The map y = W x + b, and a map back that is its inverse on the data it was made for."""

    weight: Float[Tensor, "out in"]
    bias: Float[Tensor, " out"]
    back_weight: Float[Tensor, "in out"]
    back_bias: Float[Tensor, " in"]

    def __call__(self, x: Float[Tensor, "n in"]) -> Float[Tensor, "n out"]:
        """Apply the map."""
        return x @ self.weight.T + self.bias

    def layers(self) -> tuple[nn.Linear, nn.Linear]:
        """Return the map and the map back as layers."""
        return _layer(self.weight, self.bias), _layer(self.back_weight, self.back_bias)

    def then(self, other: "Affine") -> "Affine":
        """Return the map that applies this one first."""
        return Affine(
            other.weight @ self.weight,
            other.weight @ self.bias + other.bias,
            self.back_weight @ other.back_weight,
            self.back_weight @ other.back_bias + self.back_bias,
        )

    def padded(self, n_out: int) -> "Affine":
        """Return the same map with outputs that are always zero."""
        more = n_out - len(self.bias)
        pad = nn.functional.pad
        return Affine(
            pad(self.weight, (0, 0, 0, more)),
            pad(self.bias, (0, more)),
            pad(self.back_weight, (0, more)),
            self.back_bias,
        )


def affine(weight: Float[Tensor, "out in"], bias: Float[Tensor, " out"]) -> Affine:
    """Return an invertible affine map with its inverse."""
    inverse = torch.linalg.pinv(weight)
    return Affine(weight, bias, inverse, -inverse @ bias)


def whitening(x: Float[Tensor, "n d"], most: int) -> tuple[Affine, float]:
    """Return the map to the leading principal components, of variance 1, and the mean variance left out.

    Examples
    --------
    >>> x = torch.randn(1000, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    >>> white, left = whitening(torch.cat([x, x[:, :1]], 1), most=4)
    >>> torch.allclose(torch.cov(white(torch.cat([x, x[:, :1]], 1)).T), torch.eye(3, dtype=x.dtype)), left
    (True, 0.0)
    """
    centre = x.mean(0)
    values, directions = torch.linalg.eigh(torch.cov(x.T).reshape(x.shape[1], -1))
    n = min(most, int((values > _LEAST_EIGENVALUE * values[-1]).sum()))
    root, kept = values[-n:].sqrt(), directions[:, -n:]
    weight = (kept / root).T
    rest = values[:-n]
    left = float(rest[rest > _LEAST_EIGENVALUE * values[-1]].sum() / max(1, len(rest)))
    return Affine(weight, -weight @ centre, kept * root, centre), left


@torch.no_grad()
def start_at(encoder: nn.Module, decoder: nn.Module, basis: Affine) -> None:
    """Let networks with linear skips start as an affine map and its inverse; leave others as they are."""
    for net, weight, bias in (
        (encoder, basis.weight, basis.bias),
        (decoder, basis.back_weight, basis.back_bias),
    ):
        if isinstance(net, ResidualMLP) and type(net.linear) is nn.Linear:
            net.linear.weight.copy_(weight)
            net.linear.bias.copy_(bias)


@torch.no_grad()
def _layer(weight: Tensor, bias: Tensor) -> nn.Linear:
    layer = nn.utils.skip_init(
        nn.Linear, weight.shape[1], weight.shape[0], device=weight.device, dtype=weight.dtype
    )
    layer.weight.copy_(weight)
    layer.bias.copy_(bias)
    return layer.requires_grad_(False)
