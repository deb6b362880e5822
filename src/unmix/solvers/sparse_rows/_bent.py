"""A sparse affine basis of observations that are not yet affine images of sparse variables."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..coordinates import whitening
from ._descent import descend
from ._spikes import contrast
from ._starts import random_units

SEARCHED = 6144  # samples on which rows descend
_INDEPENDENT = 0.2  # least part of a row outside the span of the better ones
_LEAST = 3000  # samples among which a search makes sense
_AT_REST = 0.25  # standard deviations from its resting value
_ROBUST = (1.0, 1.0, 0.7, 0.7, 0.5, 0.5, 0.3, 0.3, 0.3)  # widths of the robust regression, step by step


def rough_basis(
    y: Float[Tensor, "n z"], generator: torch.Generator, *, n_starts: int, widths: tuple[float, ...]
) -> tuple[Float[Tensor, "z z"], Float[Tensor, " z"]]:
    """Return unit rows and offsets of a basis in which a white code is sparse, roughly.

    Where a nonlinear mixing bends the hyperplanes, few samples lie on any one of them exactly and a search
    for the sparsest rows (`sparsest_rows`) ends in accidents. Here rows descend on a wide cost only and are
    ranked by it: the best place to start from, not the last word.

    Examples
    --------
    >>> generator = torch.Generator().manual_seed(0)
    >>> z = torch.randn(2000, 3, generator=generator) * (torch.rand(2000, 3, generator=generator) < 0.5)
    >>> y = (z - z.mean(0)) @ torch.linalg.inv(torch.linalg.cholesky(torch.cov(z.T))).T
    >>> rows, offsets = rough_basis(y, generator, n_starts=30, widths=(1.0, 0.5))
    >>> correlations = torch.corrcoef(torch.cat([z, y @ rows.T], 1).T)[:3, 3:].abs()
    >>> bool((correlations.amax(1) > 0.95).all())
    True
    """
    rows = random_units(n_starts, y[:0], generator)
    offsets, costs = torch.zeros_like(rows[:, 0]), torch.zeros_like(rows[:, 0])
    for width in widths:
        rows, offsets, costs = descend(y, rows, offsets, width=width)
    chosen = _independent(rows, costs.argsort().tolist())
    rows, offsets = rows[chosen], offsets[chosen]
    missing = y.shape[1] - len(rows)
    if missing:
        rows = torch.cat([rows, torch.linalg.qr(rows.T, mode="complete")[0].T[len(rows) :]])
        offsets = torch.cat([offsets, offsets.new_zeros(missing)])
    return rows, offsets


def among_resting(
    y: Float[Tensor, "n z"],
    basis: tuple[Float[Tensor, "z z"], Float[Tensor, " z"]],
    generator: torch.Generator,
    *,
    most: int,
    n_starts: int,
    widths: tuple[float, ...],
) -> tuple[Float[Tensor, "z z"], Float[Tensor, " z"]]:
    """Search a basis again among the samples in which its clearest variables rest.

    What bends the hyperplanes of one variable is the others that vary at the same time. Where up to `most` of
    them rest, the mixing of the rest is simpler, and rows show up that all samples together hide. Such a row
    is known there only up to multiples of the rows of what rests: a robust regression on all samples, which
    heeds those near the hyperplane, chooses them. Where too few samples remain, the basis stays as it was.

    Examples
    --------
    >>> generator = torch.Generator().manual_seed(0)
    >>> z = torch.randn(20000, 3, generator=generator) * (torch.rand(20000, 3, generator=generator) < 0.5)
    >>> y = (z - z.mean(0)) @ torch.linalg.inv(torch.linalg.cholesky(torch.cov(z.T))).T
    >>> turned = torch.tensor([[1.0, 0, 0], [0, 0.6, 0.8], [0, 0.8, -0.6]])  # the first variable is clear
    >>> start = (turned, -(y * (z == 0)).sum(0) / (z == 0).sum(0) @ turned.T)
    >>> rows, _ = among_resting(y, start, generator, most=1, n_starts=30, widths=(1.0, 0.5))
    >>> correlations = torch.corrcoef(torch.cat([z, y @ rows.T], 1).T)[:3, 3:].abs()
    >>> bool((correlations.amax(1) > 0.99).all())
    True
    """
    codes = y @ basis[0].T + basis[1]
    chosen, resting = _clearest(codes, most)
    if not chosen:
        return basis
    white, _ = whitening(y[resting], y.shape[1] - len(chosen))
    rows, offsets = rough_basis(white(y[resting][:SEARCHED]), generator, n_starts=n_starts, widths=widths)
    rows, offsets = rows @ white.weight, rows @ white.bias + offsets
    more = _robust_regression(y @ rows.T + offsets, codes[:, chosen])
    rows = torch.cat([basis[0][chosen], rows + more.T @ basis[0][chosen]])
    offsets = torch.cat([basis[1][chosen], offsets + more.T @ basis[1][chosen]])
    scale = rows.norm(dim=1)
    return rows / scale[:, None], offsets / scale


def _clearest(codes: Float[Tensor, "n z"], most: int) -> tuple[list[int], Bool[Tensor, " n"]]:
    """Choose up to `most` variables, not all, the clearest first, that rest together in enough samples."""
    most = min(most, codes.shape[1] - 1)
    chosen: list[int] = []
    resting = torch.ones_like(codes[:, 0], dtype=torch.bool)
    for index in contrast(codes[:SEARCHED]).argsort(descending=True).tolist():
        fewer = resting & (codes[:, index].abs() < _AT_REST)
        if len(chosen) < most and int(fewer.sum()) >= _LEAST:
            chosen, resting = [*chosen, index], fewer
    return chosen, resting


def _robust_regression(t: Float[Tensor, "n c"], u: Float[Tensor, "n k"]) -> Float[Tensor, "k c"]:
    """Return a that makes log(1 + (t + u a)^2 / width^2) small in the mean, by reweighted least squares."""
    scale = t.std(0)
    t, a = t / scale, t.new_zeros(u.shape[1], t.shape[1])
    ridge = 1e-6 * torch.eye(u.shape[1]).to(u)
    for width in _ROBUST:
        weights = 1 / ((t + u @ a).square() + width**2)
        gram = torch.einsum("ni,nc,nj->cij", u, weights, u) / len(u) + ridge
        a = -torch.linalg.solve(gram, ((weights * t).T @ u / len(u))[:, :, None])[:, :, 0].T
    return a * scale


def _independent(rows: Tensor, order: list[int]) -> list[int]:
    """Take rows in this order, leaving out what the ones before nearly span."""
    chosen: list[int] = []
    rest = rows.clone()
    for index in order:
        left = rest[index].norm()
        if left > _INDEPENDENT and len(chosen) < rows.shape[1]:
            chosen.append(index)
            rest = rest - (rest @ rest[index])[:, None] * rest[index] / left**2
    return chosen
