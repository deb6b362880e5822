"""Where slot autoencoders begin: at the linear coordinates in which the slots of a decoder are sparsest."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix.nn import ResidualMLP, jacobian

from ._ensemble import Ensemble
from ._linear_starts import _change_coordinates
from ._objective import Objective
from ._slot_graph import slots_of
from ._slot_objective import AdditiveDecoder
from ._slot_search import influences, sparsest_slots

_POINTS = 300  # at which Jacobians are taken


def find_slots(objective: Objective, x: Float[Tensor, "n x"], *, search: bool) -> list[list[int]]:
    """Return slots of the decoder: of its latents, or where coordinates are free of its sparsest directions."""
    G = influences(_jacobians(objective, x).double())
    if search:
        generator = torch.Generator().manual_seed(0)
        directions, _ = sparsest_slots(G, [1] * objective.n_components, generator)
        G = directions.mT @ G @ directions
    profiles = G.diagonal(dim1=1, dim2=2).mT.clamp_min(0).sqrt().cpu().numpy()
    return slots_of(np.asarray(profiles))


def _jacobians(objective: Objective, x: Tensor) -> Float[Tensor, "n x z"]:
    with torch.no_grad():
        return jacobian(objective.decoder, objective.encode(x[:_POINTS]))


def rebase_slots(
    ensemble: Ensemble, x: Tensor, generator: torch.Generator, partition: Sequence[Sequence[int]]
) -> None:
    """Give every member the linear coordinates in which its own slots are sparsest; nothing else changes."""
    codes = ensemble.each(Objective.encode, x).double()
    J = ensemble.each(
        lambda member, batch: jacobian(member.decoder, member.encode(batch)), x[:_POINTS]
    ).double()
    bases = [slot_basis(j, z, partition, generator) for j, z in zip(J, codes, strict=True)]
    _change_coordinates(ensemble, torch.stack(bases).to(x), codes.shape[2])


def slot_basis(
    J: Float[Tensor, "m x z"],
    codes: Float[Tensor, "n z"],
    partition: Sequence[Sequence[int]],
    generator: torch.Generator,
) -> Float[Tensor, "z z"]:
    """Return B such that w = B z has the sparsest slots, each of them white."""
    directions, order = sparsest_slots(influences(J), [len(slot) for slot in partition], generator)
    by_size = sorted(range(len(partition)), key=lambda k: len(partition[k]))
    inverse = torch.linalg.inv(directions)
    basis = torch.empty_like(inverse)
    blocks = sorted(zip(order, inverse.split(order), strict=True), key=lambda pair: pair[0])
    for k, (_, rows) in zip(by_size, blocks, strict=True):
        basis[list(partition[k])] = _whitened(rows, codes)
    return basis


def _whitened(rows: Tensor, codes: Tensor) -> Tensor:
    slot = codes @ rows.mT
    covariance = torch.atleast_2d(torch.cov(slot.mT, correction=0))
    eye = torch.eye(len(rows)).to(rows)
    root = torch.linalg.cholesky(covariance + 1e-9 * covariance.diagonal().mean() * eye)
    return torch.linalg.solve_triangular(root, rows, upper=False)


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
