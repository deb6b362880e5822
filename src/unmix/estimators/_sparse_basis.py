"""The sparsest basis of a linear map: where restarts begin, and how they leave bad coordinates."""

from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix.nn import jacobian
from unmix.nn._networks import ResidualMLP

from ._ensemble import Ensemble
from ._objective import Objective

_STEPS = 300
_STARTS = 8
_ROWS = 2500
_BLUR = (0.3, 0.003)  # |t| is sqrt(t^2 + blur^2): from round to sharp, which avoids local minima


def principal(x: Float[Tensor, "n x"], n_components: int) -> Float[Tensor, "x z"]:
    """Return loadings A with x close to A w and w white, from the leading principal components."""
    _, values, right = torch.linalg.svd(x - x.mean(0), full_matrices=False)
    return right[:n_components].T * values[:n_components] / len(x) ** 0.5


def sparsest_basis(
    rows: Float[Tensor, "*e m z"],
    covariance: Float[Tensor, "*e z z"],
    generator: torch.Generator,
    *,
    orthogonal: bool = False,
) -> Float[Tensor, "*e z z"]:
    r"""Find the change of code w = B z, with var(w_j) = 1, that minimises the L1 norm of rows B^{-1}.

    `rows` holds a linear decoder, or Jacobians of a decoder stacked over samples. Eight starts (the given
    coordinates and random rotations of the whitened code) descend together from a blurred to a sharp norm;
    the best is returned.

    Parameters
    ----------
    rows : (e, m, z) tensor
        A batch of problems.
    covariance : (e, z, z) tensor
        Of the codes.
    orthogonal : bool
        Keep the new codes uncorrelated, as independent latents are.

    Returns
    -------
    (e, z, z) tensor
        B, one for each problem.

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Theorem 2 (the sparsest decoder has the true structure),
    arXiv:2604.17568; Thurstone (1947) for sparse rotations of linear factors.
    """
    n = rows.shape[-1]
    eye = torch.eye(n, device=rows.device, dtype=rows.dtype)
    root = torch.linalg.cholesky(covariance + 1e-6 * eye)  # z = root w with w white
    turns = torch.linalg.qr(torch.randn(_STARTS - 1, n, n, generator=generator))[0].to(rows)
    given = torch.diag_embed(covariance.diagonal(dim1=-2, dim2=-1).rsqrt()) @ root
    first = torch.linalg.qr(given)[0] if orthogonal else given  # acts on the whitened code
    start = torch.cat([first.unsqueeze(-3), turns.expand(*root.shape[:-2], -1, n, n)], dim=-3)
    white_rows = (rows @ root).unsqueeze(-3)
    basis, costs = _descend(start, white_rows, orthogonal)
    best = costs.argmin(-1)[..., None, None, None].expand(*costs.shape[:-1], 1, n, n)
    return basis.gather(-3, best).squeeze(-3) @ torch.linalg.inv(root)


def _descend(start: Tensor, rows: Tensor, orthogonal: bool) -> tuple[Tensor, Tensor]:
    """Return the bases that Adam ends in from each start, and their L1 norms."""
    free = torch.zeros_like(start) if orthogonal else start.clone()
    free.requires_grad_()
    adam = torch.optim.Adam([free], lr=0.05)
    for step in range(_STEPS):
        left = 1 - step / _STEPS
        adam.param_groups[0]["lr"] = 0.05 * left + 1e-4
        basis = _basis(free, start, orthogonal)
        loss = _size(rows @ _inverse(basis, orthogonal), _BLUR[0] * left**2 + _BLUR[1])
        adam.zero_grad()
        loss.sum().backward()
        adam.step()
    basis = _basis(free, start, orthogonal).detach()
    return basis, _size(rows @ _inverse(basis, orthogonal), 0.0)


def _basis(free: Tensor, start: Tensor, orthogonal: bool) -> Tensor:
    """Return a rotation of the start, or rows of unit norm (variance 1 on the whitened code)."""
    if orthogonal:
        return torch.linalg.matrix_exp(free - free.mT) @ start
    return free / free.norm(dim=-1, keepdim=True)


def _inverse(basis: Tensor, orthogonal: bool) -> Tensor:
    return basis.mT if orthogonal else torch.linalg.inv(basis)


def _size(entries: Tensor, blur: float) -> Tensor:
    return (entries.square() + blur**2).sqrt().sum(-1).mean(-1)


def has_linear_coordinates(objective: Objective) -> bool:
    """Whether code coordinates can be changed inside the networks: linear skips and plain end layers."""
    return all(
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


def rebase(ensemble: Ensemble, x: Tensor, generator: torch.Generator) -> None:
    """Give every member the linear coordinates in which its own Jacobians are sparsest.

    The composition decoder(encoder(x)) is unchanged: the last layer of the encoder is multiplied by B and the
    first of the decoder by its inverse.
    """
    n, n_observed = ensemble.member.n_components, x.shape[1]
    codes = ensemble.each(Objective.encode, x)
    centred = codes - codes.mean(1, keepdim=True)
    covariance = centred.mT @ centred / codes.shape[1]
    few = x[: max(1, _ROWS // n_observed)]
    rows = ensemble.each(lambda member, batch: jacobian(member.decoder, member.encode(batch)), few)
    basis = sparsest_basis(rows.flatten(1, 2), covariance, generator)
    _change_coordinates(ensemble, basis, n)


@torch.no_grad()
def _change_coordinates(ensemble: Ensemble, basis: Float[Tensor, "e z z"], n: int) -> None:
    last = len(ensemble.member.encoder.residual) - 1  # type: ignore[arg-type]
    p, inverse = ensemble.parameters, torch.linalg.inv(basis)
    for layer in ("encoder.linear", f"encoder.residual.{last}"):
        p[f"{layer}.weight"][:, :n] = basis @ p[f"{layer}.weight"][:, :n]
        p[f"{layer}.bias"][:, :n] = (basis @ p[f"{layer}.bias"][:, :n, None]).squeeze(-1)
    for layer in ("decoder.linear", "decoder.residual.0"):
        p[f"{layer}.weight"].copy_(p[f"{layer}.weight"] @ inverse)


def rounds(n_steps: int, n_members: int) -> list[tuple[int, int, int]]:
    """Split a run into (first step, last step, members): all, then a third, then the best one.

    Examples
    --------
    >>> rounds(1000, 6)
    [(0, 200, 6), (200, 500, 2), (500, 1000, 1)]
    >>> rounds(1000, 1)
    [(0, 200, 1), (200, 500, 1), (500, 1000, 1)]
    """
    bounds = [round(share * n_steps) for share in (0.0, 0.2, 0.5, 1.0)]
    members = [n_members, -(-n_members // 3), 1]
    return [(a, b, m) for (a, b), m in zip(pairwise(bounds), members, strict=True) if b > a]
