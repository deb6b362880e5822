"""First and second derivatives along a direction, exactly or by differences."""

from collections.abc import Callable
from typing import Any

from jaxtyping import Float
from torch import Tensor

from ._forward_mode import jvp

__all__ = ["first_directional", "second_directional"]


def first_directional(
    f: Callable[[Any], Any], z: Float[Tensor, "n z"], v: Float[Tensor, "m z"], *, step: float | None = None
) -> Float[Tensor, "m x"]:
    """Differentiate each output along `v`, J v; with a `step`, (f(z + step v) - f(z)) / step.

    Several directions for each point are stacked along the batch; with a `step`, f(z) is computed once.

    Examples
    --------
    >>> import torch
    >>> first_directional(lambda z: z ** 2, torch.tensor([[1., 3.]]), torch.tensor([[1., -1.]]))
    tensor([[ 2., -6.]])

    References
    ----------
    Wei et al. (2021), Orthogonal Jacobian regularization, arXiv:2108.07668.
    """
    if step is None:
        return jvp(f, (_for_each(z, v),), (v,))[1].flatten(1)
    ahead = f(_for_each(z, v) + _positive(step) * v)
    return ((ahead - _for_each(f(z), v)) / step).flatten(1)


def second_directional(
    f: Callable[[Any], Any], z: Float[Tensor, "n z"], v: Float[Tensor, "m z"], *, step: float | None = None
) -> Float[Tensor, "m x"]:
    """Second derivative of each output along `v`, the quadratic form v' H_i v.

    Parameters
    ----------
    f : callable
        Maps (n, z) to (n, x), each sample by itself; more output axes are flattened into x.
    z : (n, z) tensor
        Points.
    v : (m, z) tensor
        Directions; several for each point are stacked along the batch.
    step : float, optional
        If given, (f(z + step v) - 2 f(z) + f(z - step v)) / step^2 instead of the exact form. Piecewise
        linear networks need it: their exact second derivative is zero almost everywhere, while a step
        reaches across the kinks.

    Returns
    -------
    (m, x) tensor

    Examples
    --------
    >>> import torch
    >>> z, v = torch.tensor([[2., 3.]]), torch.tensor([[1., 1.]])
    >>> second_directional(lambda z: (z[:, 0] * z[:, 1])[:, None], z, v)
    tensor([[2.]])

    References
    ----------
    Peebles et al. (2020), The Hessian penalty, Section 3, arXiv:2008.10599.
    """
    at = _for_each(z, v)
    if step is None:
        return jvp(lambda a: jvp(f, (a,), (v,))[1], (at,), (v,))[1].flatten(1)
    ahead, behind = f(at + _positive(step) * v), f(at - step * v)
    return ((ahead - 2 * _for_each(f(z), v) + behind) / step**2).flatten(1)


def _for_each(points: Tensor, v: Tensor) -> Tensor:
    """Repeat what belongs to points for each of their directions."""
    times = len(v) // len(points)
    return points if times == 1 else points.repeat(times, *[1] * (points.ndim - 1))


def _positive(step: float) -> float:
    if step <= 0:
        raise ValueError(f"`step` must be positive or None, got {step}. Try 0.1.")
    return step
