"""All second derivatives at once."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import vmap

from ._forward_mode import jvp

__all__ = ["hessian"]


def hessian(f: Callable[[Any], Any], z: Float[Tensor, "n z"]) -> Float[Tensor, "n x z z"]:
    """Differentiate every output twice, d^2 f_x / dz_a dz_b, sample by sample.

    Forward mode twice: z^2 passes for all outputs together. Piecewise linear networks have zeros here, almost
    everywhere; use a smooth activation.

    Parameters
    ----------
    f : callable
        Maps (n, z) to (n, x), each sample by itself; more output axes are flattened into x.
    z : (n, z) tensor

    Returns
    -------
    (n, x, z, z) tensor

    Examples
    --------
    >>> import torch
    >>> hessian(lambda z: (z[:, 0] * z[:, 1] ** 2)[:, None], torch.tensor([[2., 3.]]))
    tensor([[[[0., 6.],
              [6., 4.]]]])

    References
    ----------
    Matthes, Han and Shen (2026), Mechanistic independence (Type H_2), arXiv:2509.22196.
    """
    axes = torch.eye(z.shape[1], dtype=z.dtype, device=z.device)[:, None].expand(-1, *z.shape)

    def along(u: Tensor, v: Tensor) -> Tensor:
        return jvp(lambda a: jvp(f, (a,), (u,))[1].flatten(1), (z,), (v,))[1]

    return vmap(vmap(along, (None, 0)), (0, None))(axes, axes).permute(2, 3, 0, 1)
