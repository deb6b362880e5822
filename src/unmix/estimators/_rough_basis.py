"""A sparse affine basis of observations that are not yet affine images of sparse variables."""

import torch
from jaxtyping import Float
from torch import Tensor

from ._row_starts import random_units
from ._sparse_rows import descend

_INDEPENDENT = 0.2  # least part of a row outside the span of the better ones


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
