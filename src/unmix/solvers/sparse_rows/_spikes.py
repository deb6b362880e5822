"""Spike and slab: which values of a sparse code count as zero."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

_STEPS = 60
_THINNEST = 1e-4
_SCALES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5)


@dataclass(frozen=True, eq=False)
class Spikes:
    """For each row: the share of samples at zero, the spread there, and the normal law elsewhere.

    Attributes
    ----------
    mass, width, mean, spread : (z,) tensors
        Weight and standard deviation of the spike N(0, width^2); mean and standard deviation of the slab.
    contrast : (z,) tensor
        Samples near zero over samples in two neighbouring strips of the same total size, at the best of
        several scales. About 1 where the density is flat; smooth densities reach 1.3 (normal) to 2 (Laplace).
    """

    mass: Float[Tensor, " z"]
    width: Float[Tensor, " z"]
    mean: Float[Tensor, " z"]
    spread: Float[Tensor, " z"]
    contrast: Float[Tensor, " z"]

    def active(self, values: Float[Tensor, "n z"]) -> Bool[Tensor, "n z"]:
        """Return which values belong to the slab rather than to the spike."""
        return _log_odds(values, self.mass, self.width, self.mean, self.spread) < 0


def fit_spikes(values: Float[Tensor, "n z"]) -> Spikes:
    """Fit a spike at zero and a normal slab to each column of unit variance, by expectation maximisation.

    Examples
    --------
    >>> z = torch.randn(5000, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    >>> z[:2000, 0] = 0
    >>> spikes = fit_spikes(z)
    >>> round(float(spikes.mass[0]), 2), bool(spikes.contrast[0] > 10), bool(spikes.contrast[1] < 1.6)
    (0.4, True, True)
    """
    near = values.abs() < 0.1
    mass = near.to(values.dtype).mean(0).clamp(0.01, 0.99)
    width, mean, spread = torch.full_like(mass, 0.05), values.mean(0), values.std(0)
    for _ in range(_STEPS):
        spike = torch.sigmoid(_log_odds(values, mass, width, mean, spread))
        slab, total = 1 - spike, spike.sum(0)
        mass = spike.mean(0).clamp(1e-3, 1 - 1e-3)
        width = ((spike * values.square()).sum(0) / total.clamp_min(1e-9)).sqrt().clamp_min(_THINNEST)
        weight = slab.sum(0).clamp_min(1e-9)
        mean = (slab * values).sum(0) / weight
        spread = ((slab * (values - mean).square()).sum(0) / weight).sqrt().clamp_min(_THINNEST)
    return Spikes(mass, width, mean, spread, contrast(values))


def _log_odds(values: Tensor, mass: Tensor, width: Tensor, mean: Tensor, spread: Tensor) -> Tensor:
    """Return the log odds of spike against slab."""
    spike = mass.log() - width.log() - 0.5 * (values / width).square()
    slab = (1 - mass).log() - spread.log() - 0.5 * ((values - mean) / spread).square()
    return spike - slab


def contrast(values: Float[Tensor, "n z"]) -> Float[Tensor, " z"]:
    """Return how much denser each column is at zero than beside it, at the best of several scales."""
    size = values.abs()
    ratios = []
    for scale in _SCALES:
        inside = (size < scale).to(values.dtype).sum(0)
        beside = ((size >= scale) & (size < 2 * scale)).to(values.dtype).sum(0)
        few = 0.01 * len(values) + 10  # more in each strip, so that chance says nothing
        ratios.append((inside + few) / (beside + few))
    return torch.stack(ratios).amax(0)
