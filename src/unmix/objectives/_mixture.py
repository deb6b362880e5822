"""A mixture of Gaussians as the prior of a variational autoencoder."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ._vae import Objective

_LOG_VARIANCE = (-14.0, 6.0)  # keeps exp() finite while the encoder is still wild


class MixtureOfGaussians(nn.Module):
    """Trained weights, means and variances, started as published: uniform, zero, and log-normal."""

    def __init__(self, n_classes: int, n_components: int) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(n_classes))
        self.means = nn.Parameter(torch.zeros(n_classes, n_components))
        self.log_variances = nn.Parameter(torch.randn(n_classes, n_components))

    def log_responsibilities(self, z: Float[Tensor, "n z"]) -> Float[Tensor, "n c"]:
        """Return log p(c|z) of each class."""
        away = (z[:, None] - self.means).square() / self.log_variances.exp()
        joint = self.logits.log_softmax(0) - 0.5 * (self.log_variances + away).sum(2)
        return joint.log_softmax(1)

    def divergence(
        self, z: Float[Tensor, "n z"], mean: Float[Tensor, "n z"], log_variance: Float[Tensor, "n z"]
    ) -> Float[Tensor, " n"]:
        """Return KL(q(z, c|x) || p(z, c)) with q(c|x) = p(c|z) at the drawn z, up to a constant per latent.

        References
        ----------
        Jiang et al. (2017), Eq. (12) and (16), arXiv:1611.05148.
        """
        log_share = self.log_responsibilities(z)
        spread = log_variance.exp()[:, None] + (mean[:, None] - self.means).square()
        cross = 0.5 * (self.log_variances + spread / self.log_variances.exp()).sum(2)
        classes = (log_share.exp() * (cross + log_share - self.logits.log_softmax(0))).sum(1)
        return classes - 0.5 * (1 + log_variance).sum(1)


class VaDEObjective(Objective):
    """Reconstruction and the divergence from a mixture of Gaussians, of one encoder and decoder."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module, prior: MixtureOfGaussians) -> None:
        super().__init__(encoder, decoder, prior.means.shape[1], variational=True)
        self.prior = prior

    def forward(self, x: Float[Tensor, "n x"], noise: Float[Tensor, "n z"]) -> dict[str, Tensor]:
        """Return the terms, unweighted."""
        mean, log_variance = self.encoder(x).split(self.n_components, dim=1)
        log_variance = log_variance.clamp(*_LOG_VARIANCE)
        z = mean + (log_variance / 2).exp() * noise
        return {
            "kl": self.prior.divergence(z, mean, log_variance).mean(),
            "reconstruction": (x - self.decoder(z)).square().sum(1).mean(),
        }
