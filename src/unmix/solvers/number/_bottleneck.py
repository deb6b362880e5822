"""A bent bottleneck: a variational autoencoder whose unused latents fall silent."""

import math
from collections.abc import Iterator
from copy import deepcopy
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
_AGAIN = 0.25  # of the steps, after a latent was taken out
_TAKEN, _MISSED = 3, 0.1  # latents that one looks at where the first is missed by so many nats
_ASKED = 2000  # rows that tell what a latent carries
_PASSES = 200  # over the rows, at most: few rows are learnt by heart otherwise
_BATCH = 250
_DRAWS = 16
_RATE = 4e-3
_QUICKER = 5.0  # variances learn this much faster than weights
_SILENT = 0.15  # nats about x in a latent that counts as unused
_MUTE = 0.05  # nats of one that is taken out together with others


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

    def keeping(self, latents: Tensor) -> "Bent":
        """Return the same networks with some of the latents only."""
        small = deepcopy(self)
        small.log_width = nn.Parameter(self.log_width.detach()[latents].clone())
        for layer in _ends(small.encoder, -1):
            layer.weight = nn.Parameter(layer.weight.detach()[latents].clone())
            layer.bias = nn.Parameter(layer.bias.detach()[latents].clone())
        for layer in _ends(small.decoder, 0):
            layer.weight = nn.Parameter(layer.weight.detach()[:, latents].clone())
        return small

    def forward(self, batch: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
        """Return the terms of the bound, as a mean over the batch."""
        given, code = self.terms(*batch)
        return {"given": given.mean(), "code": code.sum(1).mean()}


def bottleneck(
    x: Float[Tensor, "n x"], held_out: Float[Tensor, "m x"], n_latents: int, *, seed: int = 0
) -> Bottleneck:
    """Train on standardised rows, and measure on others."""
    generator = torch.Generator().manual_seed(seed)
    return _measured(_trained(_drawn(x, n_latents, seed), x, generator), held_out, generator)


def narrowing(
    x: Float[Tensor, "n x"], held_out: Float[Tensor, "m x"], n_latents: int, *, seed: int = 0
) -> Iterator[tuple[int, Bottleneck]]:
    """Train the widest, then take out latent after latent and train on: yield what each width reaches.

    The latents that carry nothing go at once, then each time the one that carries least. All widths share one
    history, so that their lengths differ by what a latent is worth rather than by the luck of their starts.
    """
    generator = torch.Generator().manual_seed(seed)
    model = _trained(_drawn(x, n_latents, seed), x, generator)
    yield n_latents, _measured(model, held_out, generator)
    telling = torch.nonzero(_carried(model, x) >= _MUTE)[:, 0]
    if not len(telling):
        return
    if len(telling) < n_latents:
        model = _trained(model.keeping(telling), x, generator, _AGAIN)
        yield len(model.log_width), _measured(model, held_out, generator)
    while len(model.log_width) > 1:
        model = _narrowed(model, x, generator)
        yield len(model.log_width), _measured(model, held_out, generator)


def _narrowed(model: Bent, x: Tensor, generator: torch.Generator) -> Bent:
    """Take out the latent that carries least; where it is missed, see whether the next ones are as well."""
    before, found = _length(model, x, generator), []
    for latent in torch.argsort(_carried(model, x))[:_TAKEN].tolist():
        kept = torch.tensor([j for j in range(len(model.log_width)) if j != latent])
        smaller = _trained(model.keeping(kept), x, generator, _AGAIN)
        found.append((_length(smaller, x, generator), smaller))
        if found[-1][0] <= before + _MISSED:
            break
    return min(found, key=lambda pair: pair[0])[1]


def _drawn(x: Tensor, n_latents: int, seed: int) -> Bent:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Bent(x, n_latents)


def _trained(model: Bent, x: Tensor, generator: torch.Generator, share: float = 1.0) -> Bent:
    batches = Minibatches(x, batch_size=_BATCH, generator=generator, noise=len(model.log_width))
    n_steps = round(share * min(N_STEPS, _PASSES * -(-len(x) // _BATCH)))
    schedule = one_cycle(n_steps, rise=0.1)
    minimise(model, model, batches, n_steps=n_steps, lr=_RATE, schedule=schedule, progress=False)
    return model


@torch.no_grad()
def _carried(model: Bent, x: Tensor) -> Tensor:
    """Return the nats about some rows that each latent carries."""
    rows = x[:_ASKED]
    return model.terms(rows, torch.zeros(len(rows), len(model.log_width)))[1].mean(0)


def _length(model: Bent, x: Tensor, generator: torch.Generator) -> float:
    """Return the mean code length of some rows of the fit."""
    return float(_measured(model, x[:_ASKED], generator).lengths.mean())


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


def _ends(net: nn.Module, end: int) -> tuple[nn.Linear, nn.Linear]:
    """Return the layers of a network that touch its inputs (0) or outputs (-1)."""
    residual = cast(nn.Sequential, net.residual)
    return cast(nn.Linear, net.linear), cast(nn.Linear, residual[end])


def _started(weight: Tensor) -> nn.Module:
    """Return a network that begins near a linear map."""
    net = residual_mlp(weight.shape[1], weight.shape[0], hidden=HIDDEN)
    linear = cast(nn.Linear, net.linear)
    with torch.no_grad():
        linear.weight.copy_(weight)
        linear.bias.zero_()
    return net
