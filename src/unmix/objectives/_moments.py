"""How far codes are from Gaussian within groups, and the objective that asks for it."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from .._group import gathered
from ._vae import Objective

_LEAST = 8  # samples of a group in a batch, below which moments say nothing
_FLOOR = 1e-6


def group_moments(
    z: Float[Tensor, "n z"], groups: Int[Tensor, " n"], n_groups: int
) -> tuple[Float[Tensor, "g z"], Float[Tensor, "g z"], Int[Tensor, " g"]]:
    """Return skew and excess kurtosis of each column within each group, and the sizes of the groups.

    Examples
    --------
    >>> z = torch.tensor([[1.0], [-1.0], [1.0], [-1.0], [3.0]])
    >>> skew, kurtosis, sizes = group_moments(z, torch.tensor([0, 0, 0, 0, 1]), 2)
    >>> round(skew[0].item(), 3) + 0, round(kurtosis[0].item(), 3), sizes.tolist()
    (0.0, -2.0, [4, 1])
    """
    sizes = torch.bincount(groups, minlength=n_groups)
    member = nn.functional.one_hot(groups, n_groups).to(z) / sizes.clamp(min=1)

    def mean(values: Tensor) -> Tensor:
        return member.mT @ values

    away = z - mean(z)[groups]
    spread = (mean(away.square()) + _FLOOR**2).sqrt()
    score = away / spread[groups]
    return mean(score**3), mean(score**4) - 3, sizes


class LabelledObjective(Objective):
    """Reconstruction, distance from Gaussian within groups, and mean absolute code."""

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        n_components: int,
        n_groups: int,
        masks: Bool[Tensor, "g z"] | None = None,
    ) -> None:
        super().__init__(encoder, decoder, n_components)
        self.n_groups, self.masks = n_groups, masks

    def forward(self, x: Float[Tensor, "n x"], groups: Int[Tensor, " n"]) -> dict[str, Tensor]:
        """Return the terms, unweighted."""
        z = self.encoder(x)
        return {
            "reconstruction": (x - self.decoder(z)).square().sum(1).mean(),
            "moments": self._moments(z, groups),
            "l1": z.abs().mean(),
        }

    def _moments(self, z: Float[Tensor, "n z"], groups: Int[Tensor, " n"]) -> Float[Tensor, ""]:
        skew, kurtosis, sizes = group_moments(gathered(z), gathered(groups), self.n_groups)
        counted = (sizes >= _LEAST)[:, None].expand_as(skew)
        if self.masks is not None:
            counted = counted & self.masks.to(z.device)
        total = (counted * (skew.abs() + kurtosis.abs())).sum()
        return total / counted.sum().clamp(min=1)
