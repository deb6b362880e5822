"""An autoencoder whose codes are asked to be non-negative and small, as firing rates are."""

from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ._likelihood import Penalty, mean_explained, wide
from ._vae import as_floats


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
        return mean_explained(self.decoder, z, x, self.loss, self.penalty) | {
            "negativity": (-z).relu().mean(),
            "activity": z.square().mean(),
        }
