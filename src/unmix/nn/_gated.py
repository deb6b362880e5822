"""A decoder whose edges can be closed, one by one."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

__all__ = ["GatedMLP", "gated_mlp"]

_STRETCH = (-0.1, 1.1)  # beyond [0, 1], so that a gate can be exactly open or closed
_TEMPERATURE = 2 / 3
_OPEN = 2.0
_SLOPE = 0.2


class GatedMLP(nn.Module):
    """The map x_k = sum_i G_ki A_ki z_i + b_k + h_k(G_k z), with a gate G_ki in [0, 1] for each edge.

    Each output has a small network h_k of its own, so that a closed gate is an exact zero of the Jacobian.
    Gates are stretched sigmoids cut to [0, 1].

    References
    ----------
    Louizos, Welling and Kingma (2018), Learning sparse neural networks through L0 regularization, Equations
    11 and 12 (hard concrete gates, here without their noise), arXiv:1712.01312.
    """

    def __init__(self, n_in: int, n_out: int, hidden: int = 16) -> None:
        super().__init__()
        self.linear = nn.Linear(n_in, n_out)
        self.openness = nn.Parameter(torch.full((n_out, n_in), _OPEN))
        self.inwards = nn.Parameter(torch.randn(n_out, hidden, n_in) / n_in**0.5)
        self.offset = nn.Parameter(torch.zeros(n_out, hidden))
        self.outwards = nn.Parameter(torch.zeros(n_out, hidden))

    @property
    def gates(self) -> Float[Tensor, "x z"]:
        """Return the gate of each edge, between 0 and 1."""
        low, high = _STRETCH
        return (self.openness.sigmoid() * (high - low) + low).clamp(0, 1)

    def edge_count(self) -> Float[Tensor, ""]:
        """Return the expected number of open gates, were they noisy (Equation 12)."""
        low, high = _STRETCH
        return (self.openness - _TEMPERATURE * torch.tensor(-low / high).log()).sigmoid().sum()

    def forward(self, z: Float[Tensor, "*n z"]) -> Float[Tensor, "*n x"]:
        """Mix the latents along the open edges."""
        gates = self.gates
        straight = nn.functional.linear(z, gates * self.linear.weight, self.linear.bias)
        inside = torch.einsum("...z,xhz->...xh", z, self.inwards * gates[:, None, :]) + self.offset
        return straight + (nn.functional.leaky_relu(inside, _SLOPE) * self.outwards).sum(-1)


def gated_mlp(n_in: int, n_out: int, *, hidden: int = 16) -> GatedMLP:
    """Return a decoder with a gate on every edge; `unmix.penalties.edge_count` counts the open ones.

    Parameters
    ----------
    n_in, n_out : int
        Latents and observed variables.
    hidden : int
        Units in the network of each observed variable.

    Examples
    --------
    >>> decoder = gated_mlp(3, 5)
    >>> decoder(torch.zeros(2, 3)).shape, decoder.gates.shape
    (torch.Size([2, 5]), torch.Size([5, 3]))
    """
    return GatedMLP(n_in, n_out, hidden)
