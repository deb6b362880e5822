"""How well a decoder explains a sample: squared errors, or the likelihood of pixels between 0 and 1."""

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

LOSSES = ("squared", "bernoulli")


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
    if loss == "squared":
        return (x - decoder(z)).square().flatten(1).sum(1).mean()
    return F.binary_cross_entropy_with_logits(wide(decoder[0](z)), x)  # type: ignore[index]


def mean_reconstruction(
    decoder: nn.Module, z: Float[Tensor, "n z"], x: Float[Tensor, "n *x"], loss: str
) -> Float[Tensor, ""]:
    """Return squared errors or cross-entropies, as means over all entries."""
    return reconstruction(decoder, z, x, loss) / (x[0].numel() if loss == "squared" else 1)


def beside(value: Float[Tensor, ""], x: Float[Tensor, "n *x"], loss: str) -> Float[Tensor, ""]:
    """Return what stands beside a reconstruction, for each entry of a sample where that is a mean of them."""
    return value if loss == "squared" else value / x[0].numel()


def wide(x: Float[Tensor, "*x"]) -> Float[Tensor, "*x"]:
    """Return half precision as single precision; all else as it is."""
    return x.float() if x.dtype.itemsize < 4 else x
