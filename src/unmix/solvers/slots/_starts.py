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
from ._unions import joined_slots, sized_slots

_NOTHING = 0.15  # standard deviations of an observed variable that hardly count as influence
_POINTS = 300  # at which Jacobians are taken
_FEW_CHAINS = 18  # of a search that is one of several


def find_slots(
    objective: Objective,
    x: Float[Tensor, "n x"],
    generator: torch.Generator,
    *,
    search: bool,
    unions: bool,
    n_slots: int | None = None,
) -> tuple[list[list[int]], Objective]:
    """Return slots of the decoder, of its latents or of its sparsest directions, and a model to go on from.

    With `unions` latents are grouped by what they move together, and the model has the directions that were
    searched for; else by likeness of what each moves, and the model is the same. With `n_slots` unions are
    joined until so many are left, of directions from fewer chains.
    """
    n_chains = None if n_slots is None else _FEW_CHAINS
    basis, spread = _directions(objective, x, generator if search else None, n_chains)
    if not unions:
        return slots_of(np.asarray((spread / (spread + _NOTHING**2)).clamp_min(0).cpu())), objective
    found = joined_slots(np.asarray(spread.clamp_min(0).cpu()), n_slots)
    return found, _moved_to(objective, basis) if search else objective


def start_in_unions(
    objective: Objective,
    x: Float[Tensor, "n x"],
    partition: Sequence[Sequence[int]],
    generator: torch.Generator,
) -> tuple[Objective, bool]:
    """Return the model in its sparsest directions, in slots of these sizes that move the least together.

    Also say whether these would be the sizes if their number alone had been told.
    """
    basis, directions = _directions(objective, x, generator, _FEW_CHAINS)
    spread, sizes = np.asarray(directions.clamp_min(0).cpu()), [len(slot) for slot in partition]
    placed = torch.empty_like(basis)
    for slot, group in zip(partition, sized_slots(spread, sizes, generator), strict=True):
        placed[list(slot)] = basis[group]
    return _moved_to(objective, placed), sorted(map(len, joined_slots(spread, len(sizes)))) == sorted(sizes)


def _directions(
    objective: Objective, x: Tensor, generator: torch.Generator | None, n_chains: int | None
) -> tuple[Float[Tensor, "z z"], Float[Tensor, "z x"]]:
    """Return directions of the code, with a generator the sparsest, and the variance that each gives."""
    with torch.no_grad():
        G, covariance = _moments(_jacobians(objective, x), objective.encode(x))
    if generator is not None:
        sizes = [1] * objective.n_components
        basis = sparsest_slots(G, covariance, sizes, generator, n_chains=n_chains)
    else:
        basis = torch.diag(covariance.diagonal().rsqrt())
    back = torch.linalg.inv(basis)  # one latent of unit variance moves variables by a column of it
    return basis, (back.mT @ G @ back).diagonal(dim1=1, dim2=2).mT


def _moved_to(objective: Objective, basis: Float[Tensor, "z z"]) -> Objective:
    """Return the model in other coordinates."""
    ensemble = Ensemble([objective], {})
    weight = next(objective.parameters())
    change_coordinates(ensemble, basis[None].to(weight))
    return ensemble.extract(0)


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
        G, covariance = _moments(J[number], codes[number])
        found = sparsest_slots(G, covariance, sizes, generator)
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
