"""The sparsest slots: linear coordinates in which groups of latents move few observed variables."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from .._descent import descend_together
from ._pool import Pool, complement

_CHAINS, _MOST_CHAINS = 7, 36  # for each slot, and in all
_STEPS = 150
_KNEE = (0.3, 0.1)  # of log(1 + spread / knee), in standard deviations of an observed variable
_LR = 0.03
_APART = 0.4  # least sine between a slot and those chosen before it
_TEMPERATURE = 0.5


def influences(J: Float[Tensor, "n x z"]) -> Float[Tensor, "x z z"]:
    """Return G_i = E[J_i^T J_i] for each observed variable i: direction u moves it by sqrt(u^T G_i u).

    A mean over samples sees the union of supports, and more: where a slot bends, its gradient turns, so that
    one row tells all directions of the slot from those of the others. Samples with large Jacobians, where the
    code nearly folds, are held to the median size.
    """
    sizes = J.square().sum((1, 2))
    weights = 1 / (sizes / sizes.median()).clamp_min(1)
    return torch.einsum("n,nxy,nxz->xyz", weights / weights.sum(), J, J)


def sparsest_slots(
    G: Float[Tensor, "x z z"],
    covariance: Float[Tensor, "z z"],
    sizes: Sequence[int],
    generator: torch.Generator,
    *,
    n_chains: int | None = None,
) -> Float[Tensor, "z z"]:
    """Find a change of code w = B z whose slots, each of them white, move as few variables as possible.

    Three steps. Single sparse directions are searched from random ones, each grown to the slot that it lies
    in (`Pool`). Chains choose slots that are independent of each other, the sparsest first but for a random
    perturbation, and complete what is missing. The bases that they end in descend together on the sum of
    log(1 + a / knee) over observed variables and slots, where a is the standard deviation that the slot gives
    the variable, while the knee shrinks; the lowest is returned.

    Parameters
    ----------
    G : (x, z, z) tensor
        See `influences`; observed variables of unit variance.
    covariance : (z, z) tensor
        Of the code.
    sizes : sequence of int
        Latents of each slot; rows of B come in this order.
    generator : torch.Generator
    n_chains : int, optional
        Seven for each slot by default, and 36 at most.

    References
    ----------
    Matthes, Han and Shen (2026), Mechanistic independence, Type S (a basis of minimal weight, here counted
    for slots), arXiv:2509.22196; Spielman, Wang and Wright (2012), Exact recovery of sparsely-used
    dictionaries (one sparse vector after the other).
    """
    eye = torch.eye(len(covariance)).to(G)
    root = torch.linalg.cholesky(covariance + 1e-9 * covariance.diagonal().mean() * eye)
    G = root.mT @ G @ root  # of the whitened code
    pool = Pool(G, sizes, generator)
    n_chains = n_chains or min(_CHAINS * len(sizes), _MOST_CHAINS)
    starts = torch.stack([_chain(pool, sizes, generator, number > 0) for number in range(n_chains)])
    return _descend(torch.linalg.inv(starts), G, sizes) @ torch.linalg.inv(root)


def _chain(
    pool: Pool, sizes: Sequence[int], generator: torch.Generator, perturb: bool
) -> Float[Tensor, "z z"]:
    """Choose independent slots one after the other; large ones first, or in random order."""
    order = sorted(range(len(sizes)), key=lambda k: -sizes[k])
    if perturb:
        order = [order[i] for i in torch.randperm(len(order), generator=generator).tolist()]
    chosen: dict[int, Tensor] = {}
    for k in order:
        found = torch.cat([pool.back.new_zeros(len(pool.back), 0), *chosen.values()], dim=1)
        chosen[k] = _next(pool, sizes[k], found, generator, perturb)
    return pool.back @ torch.cat([chosen[k] for k in range(len(sizes))], dim=1)


def _next(
    pool: Pool, size: int, found: Tensor, generator: torch.Generator, perturb: bool
) -> Float[Tensor, "z d"]:
    """Return the cheapest slot of a size that is well apart from what is found, or search for one."""
    slots, costs = pool.slots[size]
    free = complement(found)
    uniform = torch.rand(len(costs), generator=generator).clamp(1e-9, 1 - 1e-9).to(costs)
    noise = -(-uniform.log()).log() * _TEMPERATURE * costs.std(correction=0) * perturb
    apart = torch.linalg.svdvals(free.mT @ slots)
    apart = apart[:, size - 1] if apart.shape[1] >= size else torch.zeros_like(costs)
    if (apart < _APART).all():
        return pool.sparsest(size, free, generator)
    return slots[(costs - noise).masked_fill(apart < _APART, float("inf")).argmin()]


def _descend(
    start: Float[Tensor, "s z z"], G: Float[Tensor, "x z z"], sizes: Sequence[int]
) -> Float[Tensor, "z z"]:
    """Let all bases descend together, and return the one that ends lowest."""

    def cost(free: Tensor, knee: float) -> Tensor:
        return _cost(_white(free, sizes), G, sizes, knee)

    free = descend_together(_white(start, sizes), cost, n_steps=_STEPS, lr=_LR, knee=_KNEE)
    ends = torch.nan_to_num(cost(free, _KNEE[1]), nan=float("inf"))
    return _white(free, sizes)[ends.argmin()]


def _white(rows: Float[Tensor, "s z z"], sizes: Sequence[int]) -> Float[Tensor, "s z z"]:
    """Make the rows of each slot orthonormal: white slots, on a whitened code."""
    return torch.cat([torch.linalg.qr(block.mT)[0].mT for block in rows.split(list(sizes), dim=1)], dim=1)


def _cost(bases: Tensor, G: Tensor, sizes: Sequence[int], knee: float) -> Float[Tensor, " s"]:
    directions = torch.linalg.inv(bases).split(list(sizes), dim=2)
    spread = [torch.einsum("szd,xzy,syd->sx", slot, G, slot).clamp_min(1e-12).sqrt() for slot in directions]
    return (torch.stack(spread) / knee).log1p().sum((0, 2))
