"""How well a decoder explains a sample: squared errors, or the likelihood of pixels between 0 and 1."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from unmix.nn import Remembered

LOSSES = ("squared", "bernoulli")
Penalty = Callable[[Any, Any], Any]


def likely(network: nn.Module, loss: str) -> nn.Module:
    """Return the decoder of a loss: for "bernoulli" the network gives logits, and the decoder pixels."""
    return network if loss == "squared" else nn.Sequential(network, nn.Sigmoid())


def reconstruction(
    decoder: nn.Module, z: Float[Tensor, "n z"], x: Float[Tensor, "n *x"], loss: str
) -> Float[Tensor, ""]:
    """Return squared errors, a sum within each sample, or the mean cross-entropy of all pixels.

    Examples
    --------
    >>> decoder = likely(nn.Identity(), "bernoulli")
    >>> reconstruction(decoder, torch.zeros(1, 2), torch.tensor([[0., 1.]]), "bernoulli").item() # log 2
    0.6931471824645996
    """
    return _error(decoder(z) if loss == "squared" else decoder[0](z), x, loss)  # type: ignore[index]


def explained(
    decoder: nn.Module, z: Float[Tensor, "n z"], x: Float[Tensor, "n *x"], loss: str, penalty: Penalty | None
) -> dict[str, Tensor]:
    """Return reconstruction and penalty, where there is one.

    For images a network's values, which the penalty finds on the way to its Jacobian, are computed once; a
    compiler sees that by itself.
    """
    if penalty is None:
        return {"reconstruction": reconstruction(decoder, z, x, loss)}
    if x.ndim == 2 or torch.compiler.is_compiling():
        found = reconstruction(decoder, z, x, loss)
        return {"reconstruction": found, "penalty": beside(penalty(decoder, z), x, loss)}
    network = Remembered(decoder if loss == "squared" else decoder[0], z)  # type: ignore[index]
    value = beside(penalty(likely(network, loss), z), x, loss)
    return {"reconstruction": _error(network.value(), x, loss), "penalty": value}


def mean_explained(
    decoder: nn.Module, z: Float[Tensor, "n z"], x: Float[Tensor, "n *x"], loss: str, penalty: Penalty | None
) -> dict[str, Tensor]:
    """Return the same for each entry of a sample."""
    share = x[0].numel() if loss == "squared" else 1
    return {name: term / share for name, term in explained(decoder, z, x, loss, penalty).items()}


def _error(out: Float[Tensor, "n *x"], x: Float[Tensor, "n *x"], loss: str) -> Float[Tensor, ""]:
    if loss == "squared":
        return (x - out).square().flatten(1).sum(1).mean()
    return F.binary_cross_entropy_with_logits(wide(out), x)


def beside(value: Float[Tensor, ""], x: Float[Tensor, "n *x"], loss: str) -> Float[Tensor, ""]:
    """Return what stands beside a reconstruction, for each entry of a sample where that is a mean of them."""
    return value if loss == "squared" else value / x[0].numel()


def wide(x: Float[Tensor, "*x"]) -> Float[Tensor, "*x"]:
    """Return half precision as single precision; all else as it is."""
    return x.float() if x.dtype.itemsize < 4 else x
