"""A generator of images in the manner of StyleGAN2: mapping network, modulated convolutions, noise."""

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from ._shapes import Shape, image_of

SMALL = 4  # pixels on each side where an image begins, and where a discriminator ends
WIDTHS = (256, 256, 128, 64, 32)  # channels at 4, 8, 16, 32 and 64 pixels
_SLOPE, _GAIN = 0.2, math.sqrt(2.0)
_EPS = 1e-8
_SLOW = 0.01  # learning rate of the mapping network beside that of the rest


def style_generator(
    n_in: int,
    shape_out: Shape,
    *,
    widths: Sequence[int] = WIDTHS,
    style: int = 256,
    n_mapping: int = 3,
) -> "StyleGenerator":
    """Build a generator of square images whose sides are 4 times a power of 2.

    Parameters
    ----------
    n_in : int
        Entries of the code z.
    shape_out : (side, side, channels)
    widths : sequence of int
        Channels at 4 x 4 pixels, at 8 x 8, and so on; those beyond the image's size are not used.
    style : int
        Entries of w, which styles every convolution.
    n_mapping : int
        Layers of the mapping network from z to w.

    Returns
    -------
    Module
        From (n, n_in) to (n, side, side, channels), pixels about [0, 1]; see `StyleGenerator`.

    Examples
    --------
    >>> generator = style_generator(8, (16, 16, 3), widths=(16, 8, 8), style=16)
    >>> w = generator.mapping(torch.randn(2, 8))
    >>> w.shape, generator.synthesis(w).shape, generator.n_noise
    (torch.Size([2, 16]), torch.Size([2, 16, 16, 3]), 656)

    References
    ----------
    Karras et al. (2020), Analyzing and improving the image quality of StyleGAN, Figures 2d and 7b,
    arXiv:1912.04958. Sizes are ours; there is no style mixing, and codes are taken as they are: at unit
    length a code of two entries would be one number. A label is part of the code.
    """
    widths = widths_of(shape_out, widths, "shape_out")
    mapping = Mapping(n_in, style, n_mapping)
    return StyleGenerator(mapping, Synthesis(style, widths, image_of(shape_out, 0, "shape_out")[2]))


class StyleGenerator(nn.Module):
    """A mapping network from codes to styles w, and a synthesis network from styles to images.

    ``mapping(z)`` returns w and ``synthesis(w, noise)`` images; `forward` is one after the other. Noise is
    an argument, (n, n_noise) standard normals for all layers together; without it every image gets the same
    noise, which is kept with the weights, so that images are a function of w.
    """

    def __init__(self, mapping: "Mapping", synthesis: "Synthesis") -> None:
        super().__init__()
        self.mapping, self.synthesis = mapping, synthesis

    @property
    def n_noise(self) -> int:
        """The number of noise values of an image."""
        return len(self.synthesis.noise)

    def forward(
        self, z: Float[Tensor, "n z"], noise: Float[Tensor, "n e"] | None = None
    ) -> Float[Tensor, "n h w c"]:
        """Return the images of codes."""
        return self.synthesis(self.mapping(z), noise)


class Mapping(nn.Module):
    """From codes to styles."""

    def __init__(self, n_in: int, style: int, n_layers: int) -> None:
        super().__init__()
        sizes = [n_in] + [style] * n_layers
        self.layers = nn.ModuleList([EqualLinear(a, b, pace=_SLOW) for a, b in pairwise(sizes)])

    def forward(self, z: Float[Tensor, "n z"]) -> Float[Tensor, "n w"]:
        """Return the styles."""
        for layer in self.layers:
            z = bent(layer(z))
        return z


class Synthesis(nn.Module):
    """From styles to images: two modulated convolutions at each size, whose colours are added up."""

    noise: Tensor

    def __init__(self, style: int, widths: tuple[int, ...], channels: int) -> None:
        super().__init__()
        self.constant = nn.Parameter(torch.randn(1, widths[0], SMALL, SMALL))
        self.convolutions, self.colours = nn.ModuleList(), nn.ModuleList()
        self.sides: list[int] = []  # of the image at each convolution
        before = widths[0]
        for number, wide in enumerate(widths):
            for _ in range(2 if number else 1):
                self.convolutions.append(Modulated(style, before, wide, 3))
                self.sides.append(SMALL << number)
                before = wide
            self.colours.append(Modulated(style, wide, channels, 1, plain=True))
        self.strength = nn.Parameter(torch.zeros(len(self.sides)))
        self.register_buffer("noise", torch.randn(sum(side**2 for side in self.sides)))

    def forward(
        self, w: Float[Tensor, "n style"], noise: Float[Tensor, "n e"] | None = None
    ) -> Float[Tensor, "n h w c"]:
        """Return images, pixels about [0, 1]."""
        kept = self.noise.expand(len(w), -1) if noise is None else noise
        parts = kept.to(w.dtype).split([side**2 for side in self.sides], 1)
        x = self.constant.expand(len(w), -1, -1, -1)
        image: Tensor | None = None
        for number, (convolution, side) in enumerate(zip(self.convolutions, self.sides, strict=True)):
            x = doubled(x) if side > x.shape[2] else x
            grain = parts[number].reshape(-1, 1, side, side) * self.strength[number]
            x = bent(convolution(x, w) + grain)
            if number % 2 == 0:  # the last convolution of a size
                colour = self.colours[number // 2](x, w)
                image = colour if image is None else doubled(image) + colour
        return 0.5 + 0.5 * image.permute(0, 2, 3, 1)  # type: ignore[union-attr]


class Modulated(nn.Module):
    """A convolution whose input channels a style scales, and whose output is brought back to unit scale.

    Scaling activations before and after one convolution is the same as scaling each sample's weights.

    References
    ----------
    Karras et al. (2020), Eq. (1) and (3), arXiv:1912.04958.
    """

    def __init__(self, style: int, n_in: int, n_out: int, kernel: int, plain: bool = False) -> None:
        super().__init__()
        self.style = EqualLinear(style, n_in, bias=1.0)
        self.weight = nn.Parameter(torch.randn(n_out, n_in, kernel, kernel))
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.plain = plain  # colours are not brought back to unit scale
        self.gain = 1 / math.sqrt(n_in * kernel**2)

    def forward(self, x: Float[Tensor, "n a h w"], w: Float[Tensor, "n s"]) -> Float[Tensor, "n b h w"]:
        """Convolve."""
        scale, weight = self.style(w), self.weight * self.gain
        y = F.conv2d(x * scale[:, :, None, None], weight, padding=weight.shape[2] // 2)
        if not self.plain:
            size = scale.square() @ weight.square().sum((2, 3)).T
            y = y * torch.rsqrt(size + _EPS)[:, :, None, None]
        return y + self.bias[:, None, None]


class EqualLinear(nn.Module):
    """A linear layer whose weights start at unit variance and are scaled when used: all learn at one pace."""

    def __init__(self, n_in: int, n_out: int, *, bias: float = 0.0, pace: float = 1.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in) / pace)
        self.bias = nn.Parameter(torch.full((n_out,), bias / pace))
        self.gain, self.pace = pace / math.sqrt(n_in), pace

    def forward(self, x: Float[Tensor, "n a"]) -> Float[Tensor, "n b"]:
        """Return the linear image."""
        return F.linear(x, self.weight * self.gain, self.bias * self.pace)


def bent(x: Float[Tensor, "n *x"]) -> Float[Tensor, "n *x"]:
    """Bend by a leaky rectifier that keeps the scale."""
    return F.leaky_relu(x, _SLOPE) * _GAIN


def doubled(x: Float[Tensor, "n c h w"]) -> Float[Tensor, "n c h2 w2"]:
    """Double an image by interpolation, the filter [1, 3, 3, 1] of the paper."""
    return F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)


def widths_of(shape: Shape, widths: Sequence[int], name: str) -> tuple[int, ...]:
    """Return the widths that an image of this shape needs, from 4 x 4 pixels up to its own size."""
    height, width, _ = image_of(shape, 0, name)
    n = max(0, height.bit_length() - SMALL.bit_length()) + 1
    if height != width or height != SMALL << (n - 1) or n > len(widths):
        sides = [SMALL << number for number in range(len(widths))]
        raise ValueError(
            f"`{name}` must be a square image with a side among {sides}, got {tuple(shape)}. Scale or crop "  # type: ignore[arg-type]
            "the images, move channels to the last axis, or give more `widths`."
        )
    return tuple(widths[:n])
