"""The sparsest basis of a linear map: where restarts begin, and how they leave bad coordinates."""

from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix.nn import jacobian
from unmix.nn._networks import ResidualMLP
from unmix.objectives import Objective
from unmix.training import Ensemble

from .._descent import descend_together

_STEPS, _RATE = 400, 0.05
_ROWS = 2500
_KNEE = (0.6, 0.1)  # of log(1 + |t| / knee): from nearly linear to nearly counting, which avoids local minima
_SHARP_KNEE = (0.52, 0.02)
_SAME = 1e-3  # relative difference of cost below which two bases count as one


def principal(x: Float[Tensor, "n x"], n_components: int) -> Float[Tensor, "x z"]:
    """Return loadings A with x close to A w and w white, from the leading principal components."""
    _, values, right = torch.linalg.svd(x - x.mean(0), full_matrices=False)
    return right[:n_components].T * values[:n_components] / len(x) ** 0.5


def sparse_bases(
    rows: Float[Tensor, "e m z"],
    covariance: Float[Tensor, "e z z"],
    generator: torch.Generator,
    *,
    orthogonal: bool = False,
    n_starts: int = 8,
    knee: tuple[float, float] = _KNEE,
) -> tuple[Float[Tensor, "e s z z"], Float[Tensor, "e s"]]:
    """Find changes of code w = B z, with var(w_j) = 1, that make rows B^{-1} sparse.

    `rows` holds a linear decoder, or Jacobians of a decoder stacked over samples. The starts (the given
    coordinates and random rotations of the whitened code) descend together on the mean of
    log(1 + |entry| / knee), while the knee shrinks.

    Parameters
    ----------
    rows : (e, m, z) tensor
        A batch of problems.
    covariance : (e, z, z) tensor
        Of the codes.
    orthogonal : bool
        Keep the new codes uncorrelated, as independent latents are.
    n_starts : int
    knee : (float, float)
        Of the cost, at the first and the last step.

    Returns
    -------
    bases : (e, s, z, z) tensor
        The B that each start ends in, the sparsest first.
    costs : (e, s) tensor

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Theorem 2 (the sparsest decoder has the true structure),
    arXiv:2604.17568; Thurstone (1947) for sparse rotations of linear factors.
    """
    n = rows.shape[-1]
    eye = torch.eye(n, device=rows.device, dtype=rows.dtype)
    root = torch.linalg.cholesky(covariance + 1e-6 * eye)  # z = root w with w white
    turns = torch.linalg.qr(torch.randn(n_starts - 1, n, n, generator=generator))[0].to(rows)
    given = torch.diag_embed(covariance.diagonal(dim1=-2, dim2=-1).rsqrt()) @ root
    first = torch.linalg.qr(given)[0] if orthogonal else given  # acts on the whitened code
    start = torch.cat([first.unsqueeze(1), turns.expand(len(rows), -1, n, n)], dim=1)
    bases, costs = _descend(start, (rows @ root).unsqueeze(1), orthogonal, knee)
    order = costs.argsort(1)
    sorted_bases = bases.gather(1, order[..., None, None].expand_as(bases))
    return sorted_bases @ torch.linalg.inv(root).unsqueeze(1), costs.gather(1, order)


def _descend(
    start: Tensor, rows: Tensor, orthogonal: bool, knee: tuple[float, float]
) -> tuple[Tensor, Tensor]:
    """Return the bases that Adam ends in from each start, and their costs."""
    free = torch.zeros_like(start) if orthogonal else start.clone()

    def cost(free: Tensor, knee: float) -> Tensor:
        return _cost(rows @ _inverse(_basis(free, start, orthogonal), orthogonal), knee)

    free = descend_together(free, cost, n_steps=_STEPS, lr=_RATE, knee=knee)
    return _basis(free, start, orthogonal), cost(free, knee[1])


def _basis(free: Tensor, start: Tensor, orthogonal: bool) -> Tensor:
    """Return a rotation of the start, or rows of unit norm (variance 1 on the whitened code)."""
    if orthogonal:
        return torch.linalg.matrix_exp(free - free.mT) @ start
    return free / free.norm(dim=-1, keepdim=True)


def _inverse(basis: Tensor, orthogonal: bool) -> Tensor:
    return basis.mT if orthogonal else torch.linalg.inv(basis)


def _cost(entries: Tensor, knee: float) -> Tensor:
    return torch.log1p(entries.abs() / knee).sum(-1).mean(-1)


def distinct_bases(
    rows: Float[Tensor, "m z"], generator: torch.Generator, *, orthogonal: bool
) -> list[Float[Tensor, "z z"]]:
    """Return different sparse bases of a linear decoder with white codes, the sparsest first.

    Bases count as one when their costs differ by less than a thousandth; near copies may remain, since a
    descent ends a little beside its kink. With as many latents as observed variables little tells the true
    basis from others: more starts, and a cost closer to counting.
    """
    square = rows.shape[0] == rows.shape[1]
    effort: dict[str, Any] = {"n_starts": 256, "knee": _SHARP_KNEE} if square else {"n_starts": 32}
    white = torch.eye(rows.shape[1], device=rows.device)[None]
    bases, costs = sparse_bases(rows[None], white, generator, orthogonal=orthogonal, **effort)
    fresh = torch.diff(costs[0], prepend=costs[0, :1] - 1) > _SAME * costs[0].abs()
    return list(bases[0][fresh])


def has_linear_coordinates(objective: Objective) -> bool:
    """Whether code coordinates can be changed inside the networks: linear skips and plain end layers."""
    return not any(True for _ in objective.buffers()) and all(
        isinstance(net, ResidualMLP)
        and type(net.linear) is nn.Linear
        and isinstance(net.residual, nn.Sequential)
        and type(net.residual[0]) is type(net.residual[-1]) is nn.Linear
        for net in (objective.encoder, objective.decoder)
    )


@torch.no_grad()
def start_linear(objective: Objective, loadings: Tensor, basis: Tensor) -> None:
    """Make the networks start as the linear model x = A B^{-1} z, z = B A^+ x."""
    n, encoder, decoder = objective.n_components, objective.encoder, objective.decoder
    assert isinstance(encoder, ResidualMLP) and isinstance(decoder, ResidualMLP)
    inwards, outwards = encoder.linear, decoder.linear
    assert isinstance(inwards, nn.Linear) and isinstance(outwards, nn.Linear)
    for parameter in (inwards.weight, inwards.bias, outwards.bias):
        parameter.zero_()
    inwards.weight[:n] = basis @ torch.linalg.pinv(loadings)
    outwards.weight.copy_(loadings @ torch.linalg.inv(basis))


def rebase(ensemble: Ensemble, data: tuple[Tensor, ...], generator: torch.Generator) -> None:
    """Give every member the linear coordinates in which its own Jacobians are sparsest.

    The composition decoder(encoder(x)) is unchanged: the last layer of the encoder is multiplied by B and the
    first of the decoder by its inverse.
    """
    (x,) = data
    codes = ensemble.each(Objective.encode, x)
    centred = codes - codes.mean(1, keepdim=True)
    covariance = centred.mT @ centred / codes.shape[1]
    few = x[: max(1, _ROWS // x.shape[1])]
    rows = ensemble.each(lambda member, batch: jacobian(member.decoder, member.encode(batch)), few)
    bases, _ = sparse_bases(rows.flatten(1, 2), covariance, generator)
    change_coordinates(ensemble, bases[:, 0])


@torch.no_grad()
def change_coordinates(ensemble: Ensemble, basis: Float[Tensor, "e z z"]) -> None:
    """Multiply the codes of each member by a matrix, and undo it in the decoder."""
    last = len(cast(ResidualMLP, ensemble.member.encoder).residual) - 1  # type: ignore[arg-type]
    p, inverse, n = ensemble.parameters, torch.linalg.inv(basis), basis.shape[-1]
    for layer in ("encoder.linear", f"encoder.residual.{last}"):
        p[f"{layer}.weight"][:, :n] = basis @ p[f"{layer}.weight"][:, :n]
        p[f"{layer}.bias"][:, :n] = (basis @ p[f"{layer}.bias"][:, :n, None]).squeeze(-1)
    for layer in ("decoder.linear", "decoder.residual.0"):
        p[f"{layer}.weight"].copy_(p[f"{layer}.weight"] @ inverse)
