"""The affine basis in which a code is most likely a mixture of degenerate Gaussians."""

from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix.objectives import Objective, SpikesAndSlabs
from unmix.training import Pace, Width, shrinking, train_restarts

_WIDTHS = (1.0, 0.25)  # of the spikes: bends of the mixing blur them
_STEPS, _BATCH, _RATE = 600, 256, 0.1


class AffineMixture(Objective):
    """Minus the log-likelihood of y under z = W y + b, z of spikes and slabs."""

    def __init__(self, rows: Float[Tensor, "z z"]) -> None:
        n = len(rows)
        super().__init__(nn.utils.skip_init(nn.Linear, n, n), nn.Identity(), n)
        self.prior = SpikesAndSlabs(n)
        with torch.no_grad():
            self.linear.weight.copy_(rows)
            self.linear.bias.zero_()

    @property
    def linear(self) -> nn.Linear:
        """The affine map."""
        return cast(nn.Linear, self.encoder)

    def forward(self, x: Float[Tensor, "n z"], width: Float[Tensor, ""]) -> dict[str, Tensor]:
        """Return the only term."""
        log_density = self.prior(self.linear(x), width).mean() + torch.linalg.slogdet(self.linear.weight)[1]
        return {"likelihood": -log_density}


def likely_basis(
    y: Float[Tensor, "n z"], generator: torch.Generator, *, n_starts: int = 16
) -> tuple[Float[Tensor, "z z"], Float[Tensor, " z"]]:
    """Return unit rows and offsets of the likeliest of several affine bases of a white code.

    A search row by row for spikes fails where a mixing bends hyperplanes that are far from the mean: rows
    that mean nothing have sharper spikes than the true ones. The likelihood judges all rows at once; its
    volume keeps them apart, and slabs tell as much as spikes. Starts are random rotations.

    Examples
    --------
    >>> generator = torch.Generator().manual_seed(0)
    >>> z = 3 + torch.randn(3000, 3, generator=generator)
    >>> z = torch.where(torch.rand(3000, 3, generator=generator) < 0.5, z, 0.0)  # inactive far from the mean
    >>> y = (z - z.mean(0)) @ torch.linalg.inv(torch.linalg.cholesky(torch.cov(z.T))).T
    >>> rows, offsets = likely_basis(y, generator)
    >>> correlations = torch.corrcoef(torch.cat([z, y @ rows.T], 1).T)[:3, 3:].abs()
    >>> bool((correlations.amax(1) > 0.99).all())
    True
    """
    n = y.shape[1]
    rotations = torch.linalg.qr(torch.randn(n_starts, n, n, generator=generator))[0]
    members = [AffineMixture(rotation).to(y.device) for rotation in rotations]
    seed = int(torch.randint(2**31, (), generator=generator))
    epochs = -(-_STEPS * _BATCH // len(y))
    pace = Pace(epochs, min(_BATCH, len(y)), _RATE, seed, progress=False)
    width = Width(shrinking(*_WIDTHS, pace.steps(len(y))))
    best: AffineMixture = train_restarts(members, {}, y.float(), pace, beside=width).objective
    rows, offsets = best.linear.weight.to(y), (best.linear.bias - best.prior.centre).to(y)
    scale = rows.norm(dim=1)
    return rows / scale[:, None], offsets / scale
