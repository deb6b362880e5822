"""The objective of one slot autoencoder, and its additive decoder."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .._group import gathered
from ._vae import Objective


class SlotObjective(Objective):
    """Reconstruction, penalty, and a term that holds the variance of every code near 1.

    Without the last a plain autoencoder could lower most penalties by inflating its codes.
    """

    def _code(
        self, x: Float[Tensor, "n x"], noise: Float[Tensor, "n z"]
    ) -> tuple[Float[Tensor, "n z"], dict[str, Tensor]]:
        z, terms = super()._code(x, noise)
        every = gathered(z)
        scale = (every.var(0, correction=0) + 1e-6).log().square().sum() + every.mean(0).square().sum()
        return z, terms | {"scale": scale}


class AdditiveDecoder(nn.Module):
    """The sum of one network for each slot, so that no second derivative touches two slots (Type H_2).

    References
    ----------
    Lachapelle et al. (2023), Additive decoders for latent variables identification, arXiv:2307.02598.
    """

    def __init__(
        self, factory: Callable[[int, int], nn.Module], partition: Sequence[Sequence[int]], n_out: int
    ) -> None:
        super().__init__()
        self.partition = [list(slot) for slot in partition]
        self.parts = nn.ModuleList(factory(len(slot), n_out) for slot in partition)

    def forward(self, z: Float[Tensor, "*n z"]) -> Float[Tensor, "*n x"]:
        """Add what the slots contribute."""
        both = zip(self.parts, self.partition, strict=True)
        return torch.stack([part(z[..., slot]) for part, slot in both]).sum(0)
