"""An autoencoder whose codes are asked to be non-negative and small, as firing rates are."""

from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ._likelihood import beside, mean_reconstruction, wide
from ._vae import Penalty, as_floats


class EnergyObjective(nn.Module):
    """Reconstruction, how far codes are below zero, and how large they are; means over entries.

    Parameters
    ----------
    encoder, decoder : Module
    loss, penalty
        As for `Objective`.

    References
    ----------
    Whittington et al. (2023), Disentanglement with biological constraints, arXiv:2210.01768.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        loss: str = "squared",
        penalty: Penalty | None = None,
    ) -> None:
        super().__init__()
        self.encoder, self.decoder, self.loss, self.penalty = encoder, decoder, loss, penalty

    def forward(self, x: Shaped[Tensor, "n *x"], noise: Float[Tensor, "n z"]) -> dict[str, Tensor]:
        """Return the terms, unweighted."""
        x = as_floats(x)
        z = wide(self.encoder(x))
        terms = {
            "reconstruction": mean_reconstruction(self.decoder, z, x, self.loss),
            "negativity": (-z).relu().mean(),
            "activity": z.square().mean(),
        }
        if self.penalty is not None:
            terms["penalty"] = beside(self.penalty(self.decoder, z), x, "bernoulli")
        return terms
