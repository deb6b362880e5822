"""A bent bottleneck: a variational autoencoder whose unused latents fall silent."""

import math
from typing import NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix.nn import residual_mlp
from unmix.training import Minibatches, minimise, one_cycle

from ._factors import FLOOR

HIDDEN = (128, 128)
N_STEPS = 1280
_PASSES = 100  # over the rows, at most: few rows are learnt by heart otherwise
_BATCH = 250
_DRAWS = 16
_RATE = 4e-3
_QUICKER = 5.0  # variances learn this much faster than weights
_SILENT = 0.15  # nats about x in a latent that counts as unused


class Bottleneck(NamedTuple):
    """Held-out code lengths of rows, in nats, and how many latents carry something."""

    lengths: np.ndarray
    n_active: int


class Bent(nn.Module):
    """Encoder, decoder, the noise of each variable and the width of each latent's posterior.

    All are learnt together by the evidence lower bound. At its optimum the latents beyond the dimension of
    the data are as wide as their prior, and say nothing (Dai and Wipf, 2019, Theorem 5).
    """

    def __init__(self, x: Float[Tensor, "n x"], n_latents: int) -> None:
        super().__init__()
        to, back, rest, width = _principal(x, n_latents)
        self.encoder = _started(to)
        self.decoder = _started(back)
        self.log_noise = nn.Parameter(torch.full((x.shape[1],), math.log(max(rest, 0.02)) / _QUICKER))
        self.log_width = nn.Parameter(width.log() / _QUICKER)

    def terms(
        self, x: Float[Tensor, "n x"], noise: Float[Tensor, "n z"]
    ) -> tuple[Float[Tensor, " n"], Float[Tensor, "n z"]]:
        """Return the length of each row given its code, and of each latent of the code."""
        log_width, log_noise = (
            _QUICKER * self.log_width,
            (_QUICKER * self.log_noise).clamp_min(math.log(FLOOR)),
        )
        mean = self.encoder(x)
        left = x - self.decoder(mean + torch.exp(log_width / 2) * noise)
        given = 0.5 * (left.square() * torch.exp(-log_noise) + log_noise).sum(1)
        return given, 0.5 * (mean.square() + log_width.exp() - log_width - 1)

    def forward(self, batch: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
        """Return the terms of the bound, as a mean over the batch."""
        given, code = self.terms(*batch)
        return {"given": given.mean(), "code": code.sum(1).mean()}


def bottleneck(
    x: Float[Tensor, "n x"], held_out: Float[Tensor, "m x"], n_latents: int, *, seed: int = 0
) -> Bottleneck:
    """Train on standardised rows, and measure on others."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Bent(x, n_latents)
    generator = torch.Generator().manual_seed(seed)
    batches = Minibatches(x, batch_size=_BATCH, generator=generator, noise=n_latents)
    n_steps = min(N_STEPS, _PASSES * -(-len(x) // _BATCH))
    schedule = one_cycle(n_steps, rise=0.1)
    minimise(model, model, batches, n_steps=n_steps, lr=_RATE, schedule=schedule, progress=False)
    return _measured(model, held_out, generator)


@torch.no_grad()
def _measured(model: Bent, rows: Tensor, generator: torch.Generator) -> Bottleneck:
    """Measure rows with several draws of their codes, which differ by more than widths do."""
    shape = (len(rows), len(model.log_width))
    draws = [model.terms(rows, torch.randn(shape, generator=generator)) for _ in range(_DRAWS)]
    lengths = torch.stack([given + code.sum(1) for given, code in draws]).double().mean(0)
    return Bottleneck(lengths.numpy(), int((draws[0][1].mean(0) > _SILENT).sum()))


def _principal(x: Tensor, n: int) -> tuple[Tensor, Tensor, float, Tensor]:
    """Return the maps to n principal components and back, what is left, and widths of posteriors."""
    values, vectors = torch.linalg.eigh((x.T @ x / len(x)).double())
    values, vectors = values.flip(0), vectors.flip(1)
    kept, rest = values[:n].clamp_min(1e-4), float(values[n:].mean()) if n < len(values) else 0.0
    to, back = (vectors[:, :n] / kept.sqrt()).T, vectors[:, :n] * kept.sqrt()
    return to.float(), back.float(), rest, (max(rest, 1e-3) / kept).clamp(1e-3, 0.9).float()


def _started(weight: Tensor) -> nn.Module:
    """Return a network that begins near a linear map."""
    net = residual_mlp(weight.shape[1], weight.shape[0], hidden=HIDDEN)
    linear = cast(nn.Linear, net.linear)
    with torch.no_grad():
        linear.weight.copy_(weight)
        linear.bias.zero_()
    return net
