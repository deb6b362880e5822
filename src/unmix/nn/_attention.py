"""Attention of the places of an image to each other and to tokens beside it."""

from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from ._layer_norm import LayerNorm


class ScalarTokens(nn.Module):
    """A token for each latent, by a perceptron of its own: z_k -> token k, and nothing is shared.

    Parameters
    ----------
    n_latents : int
    size : int
        Length of a token.
    hidden : tuple of int
        Layers between, with ELU.

    Examples
    --------
    >>> tokens = ScalarTokens(3, 8)
    >>> tokens(torch.zeros(2, 3)).shape
    torch.Size([2, 3, 8])

    References
    ----------
    Yang et al. (2024), Diffusion model with cross attention as an inductive bias for disentanglement, Section
    3.2, arXiv:2402.09712.
    """

    def __init__(self, n_latents: int, size: int, hidden: tuple[int, ...] = (64, 128)) -> None:
        super().__init__()
        widths = (1, *hidden, size)
        pairs = list(pairwise(widths))
        self.weights = nn.ParameterList(
            nn.Parameter(torch.empty(n_latents, a, b).uniform_(-1, 1) / a**0.5) for a, b in pairs
        )
        self.biases = nn.ParameterList(
            nn.Parameter(torch.empty(n_latents, b).uniform_(-1, 1) / a**0.5) for a, b in pairs
        )

    def forward(self, z: Float[Tensor, "n k"]) -> Float[Tensor, "n k d"]:
        """Return the tokens of codes."""
        x = z[:, :, None]
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = F.elu(x) if number else x
            x = torch.einsum("nka,kab->nkb", x, weight) + bias
        return x


class Attention(nn.Module):
    """Places of an image ask tokens: softmax(q k' / sqrt(d)) v with several heads.

    Written out, so that forward and reverse mode, `vmap` and a compiler all go through it; in half precision,
    which derivatives are never taken in forward mode in, by the one kernel that holds no scores. Without
    tokens the places ask each other.

    Examples
    --------
    >>> Attention(8, 4, heads=2)(torch.zeros(1, 16, 8), torch.zeros(1, 3, 4)).shape
    torch.Size([1, 16, 8])

    References
    ----------
    Vaswani et al. (2017), Attention is all you need, Eq. (1), arXiv:1706.03762.
    """

    def __init__(self, width: int, token: int, *, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(token, width, bias=False)
        self.value = nn.Linear(token, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x: Float[Tensor, "n p c"], tokens: Float[Tensor, "n k d"]) -> Float[Tensor, "n p c"]:
        """Return what each place was told."""
        q, k, v = self._split(self.query(x)), self._split(self.key(tokens)), self._split(self.value(tokens))
        told = asked(q, k, v) if q.dtype.itemsize >= 4 else F.scaled_dot_product_attention(q, k, v)
        return self.out(told.transpose(1, 2).flatten(2))

    def _split(self, x: Float[Tensor, "n p c"]) -> Float[Tensor, "n h p e"]:
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)


def asked(
    q: Float[Tensor, "n h p e"], k: Float[Tensor, "n h k e"], v: Float[Tensor, "n h k e"]
) -> Float[Tensor, "n h p e"]:
    """Return softmax(q k' / sqrt(e)) v."""
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v


class Attending(nn.Module):
    """A block of attention for images: the places ask each other, then the tokens, then think.

    References
    ----------
    Rombach et al. (2022), High-resolution image synthesis with latent diffusion models, Section 3.3,
    arXiv:2112.10752.
    """

    def __init__(self, width: int, token: int, *, heads: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(LayerNorm(width) for _ in range(3))
        self.among = Attention(width, width, heads=heads)
        self.asking = Attention(width, token, heads=heads)
        self.thought = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(
        self, x: Float[Tensor, "n c h w"], tokens: Float[Tensor, "n k d"]
    ) -> Float[Tensor, "n c h w"]:
        """Add what the places learn."""
        places = x.flatten(2).mT
        own = self.norms[0](places)
        places = places + self.among(own, own)
        places = places + self.asking(self.norms[1](places), tokens)
        places = places + self.thought(self.norms[2](places))
        return places.mT.unflatten(2, tuple(x.shape[2:]))
