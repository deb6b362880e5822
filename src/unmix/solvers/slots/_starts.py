"""Where slot autoencoders begin: at the linear coordinates in which the slots of a decoder are sparsest."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix.nn import ResidualMLP, jacobian
from unmix.objectives import AdditiveDecoder, Objective
from unmix.training import Ensemble

from ..coordinates import change_coordinates
from ._graph import slots_of
from ._search import influences, sparsest_slots

_NOTHING = 0.15  # standard deviations of an observed variable that hardly count as influence
_POINTS = 300  # at which Jacobians are taken


def find_slots(
    objective: Objective, x: Float[Tensor, "n x"], generator: torch.Generator, *, search: bool
) -> list[list[int]]:
    """Return slots of the decoder: of its latents, or of its sparsest directions."""
    with torch.no_grad():
        G, covariance = _moments(_jacobians(objective, x), objective.encode(x))
    if search:
        basis = sparsest_slots(G, covariance, [1] * objective.n_components, generator)
    else:
        basis = torch.diag(covariance.diagonal().rsqrt())
    back = torch.linalg.inv(basis)
    spread = (back.mT @ G @ back).diagonal(dim1=1, dim2=2).mT  # variance that a latent gives a variable
    return slots_of(np.asarray((spread / (spread + _NOTHING**2)).clamp_min(0).cpu()))


def _jacobians(objective: Objective, x: Tensor) -> Float[Tensor, "n x z"]:
    with torch.no_grad():
        return jacobian(objective.decoder, objective.encode(x[:_POINTS]))


def _moments(
    J: Float[Tensor, "m x z"], codes: Float[Tensor, "n z"]
) -> tuple[Float[Tensor, "x z z"], Float[Tensor, "z z"]]:
    """Return influences and the covariance of the code, in double precision."""
    return influences(J.double()), torch.atleast_2d(torch.cov(codes.double().mT, correction=0))


def rebase_slots(
    ensemble: Ensemble,
    data: tuple[Tensor, ...],
    generator: torch.Generator,
    partition: Sequence[Sequence[int]],
) -> None:
    """Give every member the linear coordinates in which its own slots are sparsest; nothing else changes."""
    (x,) = data
    codes = ensemble.each(Objective.encode, x)
    J = ensemble.each(lambda member, batch: jacobian(member.decoder, member.encode(batch)), x[:_POINTS])
    sizes, order = [len(slot) for slot in partition], [j for slot in partition for j in slot]
    bases = codes.new_empty(len(J), len(order), len(order))
    for number in range(len(J)):
        found = sparsest_slots(*_moments(J[number], codes[number]), sizes, generator)
        bases[number, order] = found.to(bases)
    change_coordinates(ensemble, bases)


@torch.no_grad()
def start_additive(decoder: AdditiveDecoder, objective: Objective, x: Tensor) -> None:
    """Start each slot's network at the mean slope of a trained decoder, where it has a linear part."""
    if not all(isinstance(part, ResidualMLP) and type(part.linear) is nn.Linear for part in decoder.parts):
        return
    z, slope = objective.encode(x[:_POINTS]), _jacobians(objective, x).mean(0)
    offset = (objective.decoder(z) - z @ slope.mT).mean(0)
    for part, slot in zip(decoder.parts, decoder.partition, strict=True):
        linear = cast(nn.Linear, cast(ResidualMLP, part).linear)
        linear.weight.copy_(slope[:, slot])
        linear.bias.copy_(offset / len(decoder.parts))
