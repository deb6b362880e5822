"""The exact likelihood of data whose code is a mixture of degenerate Gaussians."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from unmix.nn import value_and_jacobian

from ._vae import Objective

_LOG_SPREAD = (-3.0, 3.0)  # keeps slabs from collapsing onto a spike, or leaving
_OWN = 1e-3  # least share of the variance of a slab that is its own


class SpikesAndSlabs(nn.Module):
    """Coordinates in a narrow normal spike or in a normal slab; those in slabs are correlated.

    A Gaussian mixture with 2^z components that share one covariance matrix, of which each has the part that
    belongs to its slabs; in the limit of thin spikes they are degenerate, and their supports are the
    coordinate subspaces through one point. Correlations see the likeliest component of a sample only.

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Definition 2.2 and Assumption 3.8, arXiv:2604.13218.
    """

    def __init__(self, n: int) -> None:
        super().__init__()
        self.odds = nn.Parameter(torch.zeros(n))  # log odds of the slab
        self.centre = nn.Parameter(torch.zeros(n))  # of the spike
        self.mean = nn.Parameter(torch.zeros(n))  # of the slab
        self.log_spread = nn.Parameter(torch.zeros(n))  # of the slab
        self.coupling = nn.Parameter(torch.zeros(n, n))  # below the diagonal: of the slabs with each other

    def forward(self, z: Float[Tensor, "n z"], width: Float[Tensor, ""]) -> Float[Tensor, " n"]:
        """Return the log density at each sample, with spikes of this width."""
        log_spread = self.log_spread.clamp(*_LOG_SPREAD)
        slab = F.logsigmoid(self.odds) + _log_normal(z - self.mean, log_spread)
        spike = F.logsigmoid(-self.odds) + _log_normal(z - self.centre, width.log())
        alone = torch.logaddexp(slab, spike).sum(1)
        return alone + self._together((z - self.mean) * torch.exp(-log_spread), (slab > spike).to(z))

    def _together(self, u: Float[Tensor, "n z"], on: Float[Tensor, "n z"]) -> Float[Tensor, " n"]:
        """Return log N(u; 0, C) - log N(u; 0, I) over the coordinates that are in their slabs."""
        root = torch.eye(u.shape[1]).to(u) + self.coupling.tril(-1)
        root = root / root.norm(dim=1, keepdim=True)
        shared = (1 - _OWN) * on[:, :, None] * (root @ root.T) * on[:, None, :]
        factor = torch.linalg.cholesky_ex(shared + torch.diag_embed(1 - (1 - _OWN) * on)).L
        white = torch.linalg.solve_triangular(factor, (on * u)[:, :, None], upper=False)[:, :, 0]
        volume = torch.diagonal(factor, dim1=1, dim2=2).log().sum(1)
        return 0.5 * ((on * u).square().sum(1) - white.square().sum(1)) - volume

    @torch.no_grad()
    def start(
        self, mass: Float[Tensor, " z"], mean: Float[Tensor, " z"], spread: Float[Tensor, " z"]
    ) -> None:
        """Start at what a code with spikes at zero shows: their mass, mean and spread of the slabs."""
        mass = mass.clamp(0.02, 0.98)
        for parameter, value in (
            (self.odds, (1 - mass).log() - mass.log()),
            (self.centre, torch.zeros_like(mass)),
            (self.mean, mean),
            (self.log_spread, spread.log().clamp(-1.0, 1.0)),
            (self.coupling, torch.zeros_like(self.coupling)),
        ):
            parameter.copy_(value)


class MixtureObjective(Objective):
    """Minus the log-likelihood of x under x = g^{-1}(z), z of spikes and slabs; and reconstruction.

    The encoder g is square, so that log p(x) = log p(g(x)) + log |det dg/dx| exactly where g is invertible;
    the reconstruction by the decoder keeps it invertible. Widths of the spikes come with each batch.

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Theorem 3.5, conditions (2) and (3), arXiv:2604.13218.
    """

    def __init__(self, encoder: nn.Module, decoder: nn.Module, n_components: int) -> None:
        super().__init__(encoder, decoder, n_components)
        self.prior = SpikesAndSlabs(n_components)

    def forward(self, x: Float[Tensor, "n z"], width: Float[Tensor, ""]) -> dict[str, Tensor]:
        """Return the terms, unweighted."""
        z, J = value_and_jacobian(self.encoder, x)
        log_density = self.prior(z, width) + torch.linalg.slogdet(J)[1]
        return {
            "likelihood": -log_density.mean(),
            "reconstruction": (x - self.decoder(z)).square().sum(1).mean(),
        }


def _log_normal(deviation: Tensor, log_spread: Tensor) -> Tensor:
    return -0.5 * (deviation * torch.exp(-log_spread)).square() - log_spread - 0.5 * math.log(2 * math.pi)
