"""Layer normalisation whose derivatives of every kind are right."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


class LayerNorm(nn.Module):
    """Each row at mean 0 and variance 1, then scaled and shifted, as `torch.nn.LayerNorm`.

    Written out: PyTorch differentiates its own forward-mode rule as though mean and variance were constants,
    so that penalties on Jacobians through it would have wrong gradients. In half precision, in which no
    Jacobian is taken, it is PyTorch's own.

    Parameters
    ----------
    width : int
        Entries of a row, the last axis.

    Examples
    --------
    >>> x = torch.tensor([[1.0, 2.0, 6.0]])
    >>> bool(torch.allclose(LayerNorm(3)(x), nn.LayerNorm(3)(x)))
    True
    """

    eps = 1e-5

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Float[Tensor, "*n width"]) -> Float[Tensor, "*n width"]:
        """Normalise, scale and shift."""
        if x.dtype.itemsize < 4:
            scale, shift = self.weight.to(x.dtype), self.bias.to(x.dtype)
            with torch.autocast(x.device.type, enabled=False):
                return F.layer_norm(x, scale.shape, scale, shift, self.eps)
        centred = x - x.mean(-1, keepdim=True)
        inverse = torch.rsqrt(centred.square().mean(-1, keepdim=True) + self.eps)
        return centred * inverse * self.weight + self.bias
