"""Linear models of several domains: where nonlinear ones begin, and how they leave bad coordinates."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from unmix.nn import jacobian
from unmix.objectives import DomainGaussian, Objective
from unmix.training import Ensemble

from .._descent import descend_together
from ..coordinates import change_coordinates
from ._joint_diagonal import domain_covariances, joint_diagonaliser

_STEPS, _RATE = 200, 0.05
_KNEES = (0.6, 0.1)
_STARTS = 24  # for each level of sparsity
_LEVELS = (0.03, 0.1, 1.0, 0.3, 0.01, 3.0)  # weight of sparsity against the likelihood, in order of promise
_ROWS = 1200


def linear_starts(
    white: Float[Tensor, "n z"],
    u: Int[Tensor, " n"],
    loadings: Float[Tensor, "x z"],
    n_starts: int,
    generator: torch.Generator,
    *,
    correlated: bool = False,
) -> list[Float[Tensor, "z z"]]:
    """Return codes z = B w to start from: the joint diagonaliser, and sparser ones at several prices.

    Which price is right depends on how many more observed variables than latents there are; training tells.
    Latents that are `correlated` may have correlations, as long as they are those of all domains.
    """
    covariances = domain_covariances(white.double(), u)
    shares = torch.bincount(u).to(covariances) / len(u)
    pooled = torch.cov(white.double().T, correction=0).reshape(covariances.shape[1:])
    exact = unit_codes(joint_diagonaliser(covariances, shares)[None], pooled)[0]
    prices = torch.tensor(_LEVELS[: max(0, n_starts - 1)], dtype=torch.float64).to(white.device)
    found = [exact]
    if len(prices):
        bases, _ = sparse_diagonalisers(
            *(loadings.double(), 1, covariances, shares, pooled, prices, generator), correlated=correlated
        )
        found += [basis for rank in range(_STARTS) for basis in bases[:, rank]]
    return [found[number % len(found)].to(white) for number in range(n_starts)]


def sparse_diagonalisers(
    rows: Float[Tensor, "m z"],
    n_samples: int,
    covariances: Float[Tensor, "u z z"],
    shares: Float[Tensor, " u"],
    pooled: Float[Tensor, "z z"],
    prices: Float[Tensor, " p"],
    generator: torch.Generator,
    *,
    correlated: bool = False,
) -> tuple[Float[Tensor, "p s z z"], Float[Tensor, "p s"]]:
    """Find codes B w that are nearly uncorrelated in each domain while rows B^{-1} is sparse.

    The whole objective, for linear changes of a code: minus the Gaussian log-likelihood of the domains plus
    the price times sum log(1 + |entry| / knee), codes of pooled variance 1; the knee shrinks.

    Parameters
    ----------
    rows : (m, z) tensor
        A linear decoder, or Jacobians of a decoder stacked over samples.
    n_samples : int
        How many Jacobians; sums over entries are divided by it.
    covariances, pooled : (u, z, z) and (z, z) tensors
        Of the codes, in each domain and over all.
    shares : (u,) tensor
    prices : (p,) tensor
    correlated : bool
        Whether codes may have correlations that are the same in all domains.

    Returns
    -------
    bases : (p, s, z, z) tensor
        What the starts end in (the joint diagonaliser, the given code, rotations), the cheapest first.
    costs : (p, s) tensor

    References
    ----------
    Li et al. (2025), Synergy Between Sufficient Changes and Sparse Mixing Procedure, Theorem 1 (the fewest
    edges) and Equation 8, arXiv:2503.00639.
    """
    n = len(pooled)
    start = torch.linalg.qr(torch.randn(_STARTS, n, n, generator=generator))[0].to(pooled)
    start[0], start[1] = joint_diagonaliser(covariances, shares), torch.eye(n).to(pooled)
    price = prices.repeat_interleave(_STARTS) / n_samples

    def cost(free: Tensor, knee: float) -> Tensor:
        bases = unit_codes(free, pooled)
        sparse = price * torch.log1p((rows @ torch.linalg.inv(bases)).abs() / knee).sum((1, 2))
        return misfit(bases, covariances, shares, correlated=correlated) + sparse

    free = start.repeat(len(prices), 1, 1)
    free = descend_together(free, cost, n_steps=_STEPS, lr=_RATE, knee=_KNEES)
    bases = unit_codes(free, pooled)
    costs = cost(free, _KNEES[1]).reshape(len(prices), _STARTS)
    order = costs.argsort(1)
    return torch.stack([b[o] for b, o in zip(bases.split(_STARTS), order, strict=True)]), costs.gather(
        1, order
    )


def unit_codes(free: Tensor, pooled: Tensor) -> Tensor:
    """Scale rows so that codes have pooled variance 1."""
    return free * torch.einsum("sij,jk,sik->si", free, pooled, free).rsqrt()[..., None]


def misfit(
    basis: Float[Tensor, "s z z"],
    covariances: Float[Tensor, "u z z"],
    shares: Float[Tensor, " u"],
    *,
    correlated: bool = False,
) -> Float[Tensor, " s"]:
    """Return minus the Gaussian log-likelihood of codes B w, less a constant: zero correlations are best.

    If codes may be `correlated`, those correlations are best that are the same in all domains.
    """
    variances = torch.einsum("sij,ujk,sik->sui", basis, covariances, basis)
    alone = 0.5 * torch.einsum("u,sui->s", shares, variances.log()) - torch.linalg.slogdet(basis)[1]
    if not correlated:
        return alone
    white = variances.rsqrt()
    shared = torch.einsum("u,sui,sij,ujk,slk,sul->sil", shares, white, basis, covariances, basis, white)
    return alone + 0.5 * torch.linalg.slogdet(shared)[1]


def can_start(objective: Objective) -> bool:
    """Whether both networks have a linear skip to start from."""
    nets = (objective.encoder, objective.decoder)
    return all(isinstance(getattr(net, "linear", None), nn.Linear) for net in nets)


@torch.no_grad()
def start_at_basis(objective: Any, basis: Tensor, to_white: Tensor, loadings: Tensor) -> None:
    """Let the networks start as z = B W w, x = A B^{-1} z, with W what takes the encoder's input to white."""
    inwards, outwards = objective.encoder.linear, objective.decoder.linear
    for parameter in (inwards.weight, inwards.bias, outwards.bias):
        parameter.zero_()
    inwards.weight[: len(basis)] = basis @ to_white
    outwards.weight.copy_(loadings @ torch.linalg.inv(basis))


def rebase_domains(
    ensemble: Ensemble,
    judged: tuple[Tensor, ...],
    generator: torch.Generator,
    *,
    data: tuple[Tensor, ...],
    prices: Sequence[float] | float,
) -> None:
    """Give every member the linear coordinates in which its own code and Jacobians cost least.

    Each member may have its own price of sparsity. Covariances are those of all `data` (what the encoder
    sees, x, domains): fitted to the few samples that restarts are judged on, they would look better there
    than they are.
    """
    seen, x, u = data
    codes = ensemble.each(lambda member, w, u: member.encode(w, u), seen, u)
    n_few, n = max(1, _ROWS // (seen.shape[1] + x.shape[1])), codes.shape[2]
    rows = ensemble.each(
        lambda member, w, u: jacobian(member.decoder, member.encode(w, u)), seen[:n_few], u[:n_few]
    )
    each = [prices] * len(codes) if isinstance(prices, float) else prices
    shares = torch.bincount(u).double() / len(u)
    bases = [
        sparse_diagonalisers(
            J.double().flatten(0, 1),
            n_few,
            domain_covariances(z.double(), u),
            shares,
            torch.cov(z.double().T, correction=0).reshape(n, n),
            torch.tensor([price], dtype=torch.float64).to(x.device),
            generator,
            correlated="coupling" in getattr(ensemble.member.prior, "started", ()),
        )[0][0, 0]
        for z, J, price in zip(codes, rows, each, strict=True)
    ]
    change_codes(ensemble, torch.stack(bases), seen, u)


@torch.no_grad()
def change_codes(
    ensemble: Ensemble, bases: Float[Tensor, "e z z"], seen: Float[Tensor, "n w"], u: Int[Tensor, " n"]
) -> None:
    """Multiply the codes of each member by a matrix, undo it in the decoder, and fit the law to the codes."""
    change_coordinates(ensemble, bases.to(seen))
    codes = ensemble.each(lambda member, w, u: member.encode(w, u), seen, u)
    prior = ensemble.member.prior
    assert isinstance(prior, DomainGaussian)
    for number, z in enumerate(codes):
        prior.start(z, u)
        for name in prior.started:
            ensemble.parameters[f"own_prior.{name}"][number] = getattr(prior, name)
