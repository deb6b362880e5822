"""Starts for mixings that bend: an autoencoder without sparsity, whose tangent spaces tell the latents."""

from dataclasses import replace
from functools import partial
from typing import cast

import torch
from torch import Tensor, nn

from unmix.nn import jacobian, residual_mlp
from unmix.objectives import Objective, in_chunks
from unmix.solvers.coordinates import along, principal, sparse_steps, start_linear
from unmix.training import Noise, Pace, train_restarts

from ._latent_estimator import build

_HIDDEN = (128, 128)
_SEEN = 2000  # points at which Jacobians are taken
_TAUGHT = 600  # updates in which networks learn codes


class _Taught(nn.Module):
    """Reconstruction of x from codes that are given, and of these codes from x."""

    def __init__(self, objective: Objective) -> None:
        super().__init__()
        self.encoder, self.decoder, self.n = objective.encoder, objective.decoder, objective.n_components

    def forward(self, x: Tensor, codes: Tensor, noise: Tensor) -> dict[str, Tensor]:
        """Return the mean squared error of either way."""
        del noise  # stands beside every batch
        there = (self.encoder(x)[:, : self.n] - codes).square().mean()
        return {"codes": there, "reconstruction": (self.decoder(codes) - x).square().mean()}


def start_bent(member: Objective, x: Tensor, pace: Pace, *, n_steps: int) -> bool:
    """Start a member at latents of a bent mixing; say whether directions tell any, else it stays where it is.

    Parameters
    ----------
    member : Objective
        With networks that have linear skips.
    x : (n, x) tensor
        Standardised columns.
    pace : Pace
    n_steps : int
        Updates of the autoencoder, which is asked for no sparsity.

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Definition 2 and Theorem 2, arXiv:2604.17568.
    """
    codes = _bent_codes(x, member.n_components, pace, n_steps=n_steps)
    if codes is None:
        return False
    _start_at_codes(member, x, codes)
    _teach(member, x, codes, pace)
    return True


def _bent_codes(x: Tensor, n: int, pace: Pace, *, n_steps: int) -> Tensor | None:
    """Return codes that change along one sparse field each, linear in x and in codes of an autoencoder."""
    found = _autoencoder(x, n, pace, n_steps=n_steps)
    codes = in_chunks(found.encode, x)
    with torch.no_grad():
        steps = sparse_steps(jacobian(found.decoder, codes[:: -(-len(codes) // _SEEN)]), pace.generator(-5))
    if steps is None:
        return None
    values = torch.cat([x, codes], 1)
    turned = values @ along(values, torch.cat([steps.observed, steps.codes], 1)).T
    return (turned - turned.mean(0)) / turned.std(0)


def surface(x: Tensor, n: int, pace: Pace, *, n_steps: int) -> Tensor:
    """Return orthonormal bases of the tangent spaces of the surface on which rows lie, shape (n, x, z)."""
    found = _autoencoder(x, n, pace, n_steps=n_steps)
    return in_chunks(lambda rows: torch.linalg.qr(jacobian(found.decoder, found.encode(rows)))[0], x)


def _autoencoder(x: Tensor, n: int, pace: Pace, *, n_steps: int) -> Objective:
    """Return an autoencoder without sparsity.

    It has smooth units, since Jacobians of piecewise linear ones are too coarse.
    """
    net = partial(residual_mlp, hidden=_HIDDEN, activation="silu")
    (start,) = build(lambda d: Objective(net(d, n), net(n, d), n), 1, x, pace.seed)
    start_linear(start, principal(x, n), torch.eye(n).to(x))
    plain = replace(pace, checkpoint=pace.folder("autoencoder"), max_steps=n_steps)
    return train_restarts([start], {}, x, plain, beside=Noise(n)).objective


@torch.no_grad()
def _start_at_codes(member: Objective, x: Tensor, codes: Tensor) -> None:
    """Let networks start as the linear maps that are nearest to codes, and from codes to x."""
    n = member.n_components
    start_linear(member, torch.linalg.lstsq(codes, x).solution.T, torch.eye(n).to(x))
    inwards = cast(nn.Linear, member.encoder.linear)
    inwards.weight[:n] = torch.linalg.lstsq(x, codes).solution.T


def _teach(member: Objective, x: Tensor, codes: Tensor, pace: Pace) -> None:
    """Let networks start at codes, and at what x is as a function of them."""
    short = replace(pace, checkpoint=pace.folder("taught"), max_steps=_TAUGHT)
    taught = train_restarts([_Taught(member)], {}, (x, codes), short, beside=Noise(1)).objective
    member.load_state_dict(taught.state_dict())
