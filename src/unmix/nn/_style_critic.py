"""The discriminator beside a generator in the manner of StyleGAN2."""

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from unmix._group import gathered, mine

from ._shapes import Shape, entries
from ._style import SMALL, WIDTHS, EqualLinear, bent, widths_of

_GROUP = 4  # images whose spread is compared
_EPS = 1e-8


def style_discriminator(
    shape_in: Shape, n_out: int = 1, *, widths: Sequence[int] = WIDTHS, n_labels: int = 0
) -> "StyleDiscriminator":
    """Build a discriminator of square images whose sides are 4 times a power of 2.

    Parameters
    ----------
    shape_in : (side, side, channels)
    n_out : int
        Entries of the projection; 1 without labels.
    widths : sequence of int
        Channels at 4 x 4 pixels, at 8 x 8, and so on, as for `style_generator`.
    n_labels : int
        Number of labels; with labels the output is the product of a vector of the image and one of the label.

    Returns
    -------
    Module
        From (n, side, side, channels), and labels (n,), to (n,) logits that an image is real.

    Examples
    --------
    >>> critic = style_discriminator((16, 16, 3), 8, widths=(16, 8, 8), n_labels=2)
    >>> critic(torch.rand(4, 16, 16, 3), torch.tensor([0, 1, 1, 0])).shape
    torch.Size([4])

    References
    ----------
    Karras et al. (2020), Analyzing and improving the image quality of StyleGAN, Figure 7c (residual),
    arXiv:1912.04958; Miyato and Koyama (2018), cGANs with projection discriminator, Eq. (3),
    arXiv:1802.05637.
    """
    used = widths_of(shape_in, widths, "shape_in")
    channels = entries(shape_in) // (SMALL << (len(used) - 1)) ** 2
    return StyleDiscriminator(used, channels, n_out if n_labels else 1, n_labels)


class StyleDiscriminator(nn.Module):
    """Residual blocks that halve the image, the spread within groups of the batch, two linear layers."""

    def __init__(self, widths: tuple[int, ...], channels: int, n_out: int, n_labels: int) -> None:
        super().__init__()
        down = widths[::-1]  # the largest image first
        self.first = EqualConv(channels, down[0], 1)
        pairs = pairwise(down)
        self.blocks = nn.ModuleList([Halving(a, b) for a, b in pairs])
        self.last = EqualConv(down[-1] + 1, down[-1], 3)
        self.dense = EqualLinear(down[-1] * SMALL**2, down[-1])
        self.out = EqualLinear(down[-1], n_out)
        self.label = Labels(n_labels, n_out) if n_labels else None

    def forward(self, x: Float[Tensor, "n h w c"], u: Int[Tensor, " n"] | None = None) -> Float[Tensor, " n"]:
        """Return logits."""
        y = bent(self.first(2 * x.permute(0, 3, 1, 2) - 1))
        for block in self.blocks:
            y = block(y)
        y = bent(self.last(torch.cat([y, spread(y)], 1)))
        y = self.out(bent(self.dense(y.flatten(1))))
        if self.label is None:
            return y[:, 0]
        if u is None:
            raise ValueError("`u` must be a label for each image, got None. This discriminator has labels.")
        return (y * self.label(u)).sum(1) / math.sqrt(y.shape[1])


class Halving(nn.Module):
    """Two convolutions beside a skip, the image halved by averages."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super().__init__()
        self.same, self.wide = EqualConv(n_in, n_in, 3), EqualConv(n_in, n_out, 3)
        self.skip = EqualConv(n_in, n_out, 1)

    def forward(self, x: Float[Tensor, "n a h w"]) -> Float[Tensor, "n b h2 w2"]:
        """Return the smaller image."""
        y = bent(self.wide(F.avg_pool2d(bent(self.same(x)), 2)))
        return (y + self.skip(F.avg_pool2d(x, 2))) / math.sqrt(2)


class EqualConv(nn.Module):
    """A convolution whose weights start at unit variance and are scaled when used."""

    def __init__(self, n_in: int, n_out: int, kernel: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in, kernel, kernel))
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.gain = 1 / math.sqrt(n_in * kernel**2)

    def forward(self, x: Float[Tensor, "n a h w"]) -> Float[Tensor, "n b h w"]:
        """Convolve."""
        return F.conv2d(x, self.weight * self.gain, self.bias, padding=self.weight.shape[2] // 2)


class Labels(nn.Module):
    """A learned vector for each label."""

    def __init__(self, n_labels: int, n_out: int) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.randn(n_labels, n_out))

    def forward(self, u: Int[Tensor, " n"]) -> Float[Tensor, "n b"]:
        """Return the vectors of labels."""
        return self.vectors[u]


def spread(x: Float[Tensor, "n c h w"]) -> Float[Tensor, "n 1 h w"]:
    """Return the standard deviation within groups of 4 images, averaged over entries; one value an image.

    A batch that 4 does not divide is one group. Processes that train together compare the whole batch.

    >>> x = torch.tensor([0.0, 0.0, 2.0, 2.0]).reshape(4, 1, 1, 1)
    >>> spread(x).flatten()
    tensor([1., 1., 1., 1.])
    """
    every = gathered(x)
    n = len(every)
    group = _GROUP if n % _GROUP == 0 else n
    parts = every.reshape(group, n // group, *x.shape[1:])
    size = (parts.var(0, correction=0) + _EPS).sqrt().mean((1, 2, 3))
    return mine(size.repeat(group)).reshape(-1, 1, 1, 1).expand(-1, 1, *x.shape[2:])
