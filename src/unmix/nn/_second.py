"""Second derivatives along a direction, exactly or by central differences."""

from collections.abc import Callable
from typing import Any

from jaxtyping import Float
from torch import Tensor

from ._forward_mode import jvp

__all__ = ["second_directional"]


def second_directional(
    f: Callable[[Any], Any], z: Float[Tensor, "n z"], v: Float[Tensor, "n z"], *, step: float | None = None
) -> Float[Tensor, "n x"]:
    """Second derivative of each output along `v`, the quadratic form v' H_i v.

    Parameters
    ----------
    f : callable
        Maps (n, z) to (n, x), each sample by itself; more output axes are flattened into x.
    z, v : (n, z) tensors
        Points and directions.
    step : float, optional
        If given, (f(z + step v) - 2 f(z) + f(z - step v)) / step^2 instead of the exact form. Piecewise
        linear networks need it: their exact second derivative is zero almost everywhere, while a step reaches
        across the kinks.

    Returns
    -------
    (n, x) tensor

    Examples
    --------
    >>> import torch
    >>> z, v = torch.tensor([[2., 3.]]), torch.tensor([[1., 1.]])
    >>> second_directional(lambda z: (z[:, 0] * z[:, 1])[:, None], z, v)
    tensor([[2.]])

    References
    ----------
    Peebles et al. (2020), The Hessian Penalty, Equation (5), arXiv:2008.10599.
    """
    if step is None:
        second = jvp(lambda a: jvp(f, (a,), (v,))[1], (z,), (v,))[1]
    elif step > 0:
        second = (f(z + step * v) - 2 * f(z) + f(z - step * v)) / step**2
    else:
        raise ValueError(f"`step` must be positive or None, got {step}. Try 0.1.")
    return second.flatten(1)
