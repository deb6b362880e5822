"""The row problem of a sparse basis: many unit vectors descend together on a cost that counts non-zeros."""

from math import log

import torch
from jaxtyping import Float
from torch import Tensor

_MEMORY = 8
_LONGEST = 0.5  # step on the sphere
_TRIES = 4


def descend(
    y: Float[Tensor, "n z"],
    rows: Float[Tensor, "s z"],
    offsets: Float[Tensor, " s"],
    *,
    width: float,
    n_steps: int = 30,
    free_offsets: bool = True,
    tol: float = 1e-6,
) -> tuple[Float[Tensor, "s z"], Float[Tensor, " s"], Float[Tensor, " s"]]:
    """Lower the mean of log(1 + (u.y + c)^2 / width^2) over unit vectors u and offsets c, for all starts.

    As the width shrinks the cost tends, up to scale, to the share of samples off the hyperplane u.y + c = 0:
    the rows of the sparsest invertible image of y are its minima. All starts take L-BFGS steps of their own
    in one batch.

    Parameters
    ----------
    y : (n, z) tensor
        White codes, so that a unit vector gives variance 1.
    rows, offsets : (s, z) and (s,) tensors
        Starts.
    width : float
        Residuals well below it count as zeros.
    n_steps : int
    free_offsets : bool
        Whether the offsets move too.
    tol : float
        Stop when no start gains more in a step.

    Returns
    -------
    rows : (s, z) tensor of unit vectors
    offsets, costs : (s,) tensors

    References
    ----------
    Liu and Nocedal (1989), On the limited memory BFGS method. The problem is that of Xu, Lachapelle and
    Magliacane (2026), Eq. (6), arXiv:2604.13218, taken row by row.
    """
    points = torch.cat([rows, offsets[:, None]], dim=1)
    costs, slopes = _cost_and_gradient(y, points, width, free_offsets)
    memory: list[tuple[Tensor, Tensor, Tensor]] = []
    for _ in range(n_steps):
        step = _direction(slopes, memory, width)
        new, new_costs, new_slopes = _line_search(y, points, costs, slopes, step, width, free_offsets)
        memory = [*memory, _curvature(new - points, new_slopes - slopes)][-_MEMORY:]
        gained = (costs - new_costs).max()
        points, costs, slopes = new, new_costs, new_slopes
        if gained < tol:
            break
    units = points[:, :-1] / points[:, :-1].norm(dim=1, keepdim=True)
    return units, points[:, -1].clone(), costs


def _cost_and_gradient(y: Tensor, points: Tensor, width: float, free_offsets: bool) -> tuple[Tensor, Tensor]:
    free, offsets = points[:, :-1], points[:, -1:]
    norms = free.norm(dim=1, keepdim=True)
    units = free / norms
    residuals = torch.addmm(offsets, units, y.T)
    squares = residuals.square().add_(width**2)
    weights = residuals.div_(squares).mul_(2 / len(y))  # derivative of the cost by each residual
    costs = squares.log_().mean(1) - 2 * log(width)
    ambient = weights @ y
    tangent = (ambient - (ambient * units).sum(1, keepdim=True) * units) / norms
    return costs, torch.cat([tangent, weights.sum(1, keepdim=True) * free_offsets], dim=1)


def _direction(slopes: Tensor, memory: list[tuple[Tensor, Tensor, Tensor]], width: float) -> Tensor:
    """Return L-BFGS directions by the two-loop recursion, downhill and not longer than half a radius."""
    direction, shares = slopes.clone(), []
    for moved, changed, inverse in reversed(memory):
        shares.append(inverse * (moved * direction).sum(1))
        direction -= shares[-1][:, None] * changed
    if memory:
        moved, changed, inverse = memory[-1]
        scale = (moved * changed).sum(1) / changed.square().sum(1).clamp_min(1e-30)
        direction *= torch.where(inverse > 0, scale, width)[:, None]
    else:
        direction *= (0.3 / slopes.norm(dim=1, keepdim=True).clamp_min(1e-12)).clamp_max(1.0)
    for (moved, changed, inverse), share in zip(memory, reversed(shares), strict=True):
        direction += (share - inverse * (changed * direction).sum(1))[:, None] * moved
    downhill = (direction * slopes).sum(1, keepdim=True) > 0
    direction = torch.where(downhill, direction, width * slopes)
    return -direction * (_LONGEST / direction.norm(dim=1, keepdim=True).clamp_min(_LONGEST))


def _line_search(
    y: Tensor,
    points: Tensor,
    costs: Tensor,
    slopes: Tensor,
    step: Tensor,
    width: float,
    free_offsets: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Shorten steps that lower the cost too little, by quadratic interpolation; keep the starts that fail."""
    slope = (step * slopes).sum(1)
    length = torch.ones_like(slope)
    new = points + step
    new_costs, new_slopes = _cost_and_gradient(y, new, width, free_offsets)
    for _ in range(_TRIES):
        long = (new_costs > costs + 1e-4 * length * slope).nonzero()[:, 0]
        if len(long) <= 0.02 * len(points):
            break
        t, down, rise = length[long], slope[long], new_costs[long] - costs[long]
        best = -down * t.square() / (2 * (rise - down * t))
        length[long] = best.clamp(min=0.1 * t, max=0.5 * t)
        new[long] = points[long] + length[long, None] * step[long]
        new_costs[long], new_slopes[long] = _cost_and_gradient(y, new[long], width, free_offsets)
    lower = new_costs < costs
    keep = lower[:, None]
    return (
        torch.where(keep, new, points),
        torch.where(lower, new_costs, costs),
        torch.where(keep, new_slopes, slopes),
    )


def _curvature(moved: Tensor, changed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return a pair for the memory, with a zero weight where the curvature is not positive."""
    product = (moved * changed).sum(1)
    positive = product > 1e-10 * changed.square().sum(1)
    inverse = torch.where(positive, 1 / product.clamp_min(1e-30), 0.0)
    return moved, changed, inverse
