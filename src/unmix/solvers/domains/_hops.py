"""How a trained model of several domains leaves coordinates that training would keep."""

import math
from itertools import combinations

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.nn import jacobian
from unmix.objectives import DomainObjective
from unmix.training import Ensemble

from ._joint_diagonal import domain_covariances
from ._starts import change_codes, misfit, rebase_domains, unit_codes

_DEARER = (30.0, 100.0)  # prices of sparsity at which a trained code looks for other coordinates
_MOST = 5  # still directions that are tried
_SAMPLES = 100
_ANGLES = 60
_APART = math.sin(math.radians(5))  # directions that are closer count as one
_REACTS = 0.1  # an observed variable that reacts less (both at unit variance) says nothing
_KNEE = 0.01  # nearly counting entries


def hops(
    trained: DomainObjective, data: tuple[Tensor, ...], price: float, generator: torch.Generator
) -> list[DomainObjective]:
    """Return a trained member beside copies of it in other linear coordinates, for training to go on with.

    A code that is not fitted well yet hides how independent the true coordinates are, so that the objective
    may ask for wrong ones. Two copies have the coordinates that higher prices of sparsity ask for. In the
    others, two latents are replaced such that an observed variable no longer reacts to one of them.
    """
    dearer = Ensemble([trained] * len(_DEARER), {})
    rebase_domains(dearer, data, generator, data=data, prices=[price * times for times in _DEARER])
    copies = [dearer.extract(number) for number in range(len(dearer))]
    seen, _, u = data
    bases = _still_bases(trained, seen, u)
    if len(bases):
        turned = Ensemble([trained] * len(bases), {})
        change_codes(turned, bases, seen, u)
        copies += [turned.extract(number) for number in range(len(turned))]
    return [trained, *copies]


@torch.no_grad()
def _still_bases(trained: DomainObjective, seen: Tensor, u: Tensor) -> Float[Tensor, "b z z"]:
    """Return `still_bases` of a trained member."""
    z = trained.encode(seen, u).double()
    pooled = torch.cov(z.T, correction=0).reshape(z.shape[1], z.shape[1])
    J = jacobian(trained.decoder, trained.encode(seen[:_SAMPLES], u[:_SAMPLES])).double()
    return still_bases(J, domain_covariances(z, u), torch.bincount(u).double() / len(u), pooled)


def still_bases(
    J: Float[Tensor, "n x z"],
    covariances: Float[Tensor, "u z z"],
    shares: Float[Tensor, " u"],
    pooled: Float[Tensor, "z z"],
    n_most: int = _MOST,
) -> Float[Tensor, "b z z"]:
    """Find changes of two latents that leave an observed variable still when one of the new ones moves.

    In the true coordinates every missing edge is a direction of the code in which an observed variable does
    not move. So each observed variable names a candidate in the plane of each pair of latents: the direction
    in which it moves least. That becomes one new column of the decoder's Jacobian; the other one is what
    makes the two codes likeliest.

    Parameters
    ----------
    J : (n, x, z) tensor
        Jacobians of the decoder.
    covariances, pooled : (u, z, z) and (z, z) tensors
        Of the codes, in each domain and over all.
        Latents should have variance 1 over all.
    shares : (u,) tensor
    n_most : int

    Returns
    -------
    (b, z, z) tensor
        At most `n_most` matrices B of new codes B z; the one with the sparsest J B^{-1} first. None where
        every direction is that of a latent already.

    Examples
    --------
    >>> J = torch.tensor([[[1.0, 1.0], [1.0, 0.0]]])
    >>> same = torch.eye(2)
    >>> bases = still_bases(J, same[None], torch.ones(1), same)
    >>> (J @ torch.linalg.inv(bases)).abs().round(decimals=2)  # the first one ignores the second latent
    tensor([[[1.4100, 0.0000],
             [0.7100, 0.7100]]])

    References
    ----------
    Li et al. (2025), Synergy Between Sufficient Changes and Sparse Mixing Procedure, Theorem 1 (the fewest
    edges), arXiv:2503.00639. The candidates are ours.
    """
    found = [
        _changed(pair, direction, J, covariances, shares, pooled)
        for pair in combinations(range(len(pooled)), 2)
        for direction in _still_directions(J[..., pair])
    ]
    found.sort(key=lambda each: each[0])
    return (
        torch.stack([basis for _, basis in found[:n_most]]) if found else pooled.new_zeros(0, *pooled.shape)
    )


def _still_directions(J: Float[Tensor, "n x 2"]) -> list[Float[Tensor, "2"]]:
    """Return unit vectors along which an observed variable hardly moves, but for the axes, each once."""
    squares, directions = torch.linalg.eigh(torch.einsum("nxi,nxj->xij", J, J) / len(J))
    known = list(torch.eye(2).to(J))
    for direction in directions[squares[:, 1] > _REACTS**2, :, 0]:
        if all(_area(direction, other) > _APART for other in known):
            known.append(direction)
    return known[2:]


def _changed(
    pair: tuple[int, int],
    direction: Float[Tensor, "2"],
    J: Float[Tensor, "n x z"],
    covariances: Float[Tensor, "u z z"],
    shares: Float[Tensor, " u"],
    pooled: Float[Tensor, "z z"],
) -> tuple[float, Float[Tensor, "z z"]]:
    """Return what a pair of new latents adds to the penalty, and their B; the rest of B is the identity."""
    chosen = torch.eye(len(pooled)).to(pooled)[list(pair)]  # from all latents to the pair
    small = _likeliest(direction, chosen @ covariances @ chosen.T, shares, chosen @ pooled @ chosen.T)
    basis = torch.eye(len(pooled)).to(pooled) + chosen.T @ (small - torch.eye(2).to(pooled)) @ chosen
    columns = J[..., pair]
    before, after = (torch.log1p(c.abs() / _KNEE).sum() for c in (columns, columns @ torch.linalg.inv(small)))
    return (after - before).item(), basis


def _likeliest(
    direction: Float[Tensor, "2"],
    covariances: Float[Tensor, "u 2 2"],
    shares: Float[Tensor, " u"],
    pooled: Float[Tensor, "2 2"],
) -> Float[Tensor, "2 2"]:
    """Return the likeliest B such that the second column of B^{-1} is along the direction."""
    angles = torch.arange(_ANGLES).to(pooled) * (math.pi / _ANGLES)
    others = torch.stack([angles.cos(), angles.sin()], dim=1)
    others = others[_area(others.T, direction[:, None]) > _APART]
    bases = unit_codes(torch.linalg.inv(torch.stack([others, direction.expand_as(others)], dim=2)), pooled)
    return bases[misfit(bases, covariances, shares).argmin()]


def _area(v: Tensor, w: Tensor) -> Tensor:
    """Return the sine of the angle between unit vectors of the plane, without sign."""
    return (v[0] * w[1] - v[1] * w[0]).abs()
