"""Networks that see an image as points at places: spatial expectations in, bumps at points out."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ._convolutions import ChannelsFirst, _image, _instance_norm
from ._shapes import Shape

_SLOPE = 0.02
_SHARP = 3.0  # by which maps of variance 1 are multiplied at the start
_WIDEST, _NARROWEST = 1.0, 0.1  # of bumps at the start; an image reaches from -1 to 1


def points_encoder(
    shape_in: Shape,
    n_out: int,
    *,
    widths: Sequence[int] = (32, 64),
    depth: int = 3,
    n_points: int | None = None,
) -> nn.Module:
    """Convolutions whose maps are read off as points, the places that they look at; then a linear map.

    Each of the last maps becomes a distribution over the image by a softmax, of which the mean is a point
    (x, y). What moves through the image without changing moves such a point along a straight line at the same
    speed, so that a code is an affine function of positions wherever convolutions find the same thing again.

    Parameters
    ----------
    shape_in : (height, width, channels)
        Height and width divisible by 2 for each width.
    n_out : int
    widths : sequence of int
        Channels; each halves the image.
    depth : int
        Convolutions of 3 x 3 at the smallest resolution, as wide as the last of `widths`.
    n_points : int, optional
        Twice as many as there are codes by default.

    Returns
    -------
    Module
        From (n, height, width, channels) to (n, n_out).

    Examples
    --------
    >>> points_encoder((16, 16, 3), 4, widths=(8,))(torch.zeros(2, 16, 16, 3)).shape
    torch.Size([2, 4])

    References
    ----------
    Finn et al. (2016), Deep spatial autoencoders for visuomotor learning, arXiv:1509.06113.
    """
    height, width, channels = _image(shape_in, len(widths), "shape_in")
    points = 2 * n_out if n_points is None else n_points
    layers: list[nn.Module] = []
    for wide in widths:
        layers += [nn.Conv2d(channels, wide, 4, 2, 1), nn.LeakyReLU(_SLOPE)]
        channels = wide
    for _ in range(depth):
        layers += [nn.Conv2d(channels, channels, 3, 1, 1), nn.LeakyReLU(_SLOPE)]
    small = height >> len(widths), width >> len(widths)
    maps = nn.Conv2d(channels, points, 1)
    return nn.Sequential(ChannelsFirst(), *layers, maps, Places(points, small), nn.Linear(2 * points, n_out))


def points_decoder(
    n_in: int, shape_out: Shape, *, n_points: int | None = None, hidden: Sequence[int] = (64, 64)
) -> nn.Module:
    """Bumps at points that are a linear map of the code, then for each pixel a perceptron, the same for all.

    Parameters
    ----------
    n_in : int
    shape_out : (height, width, channels)
    n_points : int, optional
        Twice as many as there are codes by default; each has a width of its own.
    hidden : sequence of int
        Hidden layers from the bumps at a pixel to its channels.

    Returns
    -------
    Module
        From (n, n_in) to (n, height, width, channels), values in (0, 1).

    Examples
    --------
    >>> points_decoder(4, (16, 16, 3))(torch.zeros(2, 4)).shape
    torch.Size([2, 16, 16, 3])

    References
    ----------
    As for `points_encoder`; bumps at points as in Jakab et al. (2018), Unsupervised learning of object
    landmarks through conditional image generation, arXiv:1806.07823.
    """
    height, width, channels = _image(shape_out, 0, "shape_out")
    points = 2 * n_in if n_points is None else n_points
    sizes = (points, *hidden)
    layers: list[nn.Module] = []
    for before, after in zip(sizes, sizes[1:], strict=False):
        layers += [nn.Linear(before, after), nn.LeakyReLU(_SLOPE)]
    layers += [nn.Linear(sizes[-1], channels), nn.Sigmoid()]
    return nn.Sequential(nn.Linear(n_in, 2 * points), Bumps(points, (height, width)), *layers)


class Places(nn.Module):
    """From maps to points: the mean place of each map, after a softmax over the image; x first, then y."""

    def __init__(self, n_points: int, small: tuple[int, int]) -> None:
        super().__init__()
        self.sharpness = nn.Parameter(torch.full((n_points, 1), _SHARP))
        self.register_buffer("grid", _grid(small).flatten(0, 1), persistent=False)
        self.grid: Tensor

    def forward(self, maps: Float[Tensor, "n k h w"]) -> Float[Tensor, "n p"]:
        """Read points off."""
        seen = (_instance_norm(maps).flatten(2) * self.sharpness).softmax(2)
        return (seen @ self.grid).flatten(1)


class Bumps(nn.Module):
    """From points to images of bumps: exp(-d² / 2s²) for the distance d of each pixel to each point."""

    def __init__(self, n_points: int, size: tuple[int, int]) -> None:
        super().__init__()
        spread = torch.linspace(math.log(_WIDEST), math.log(_NARROWEST), n_points)
        self.log_width = nn.Parameter(spread)
        self.register_buffer("grid", _grid(size), persistent=False)
        self.grid: Tensor

    def forward(self, points: Float[Tensor, "n p"]) -> Float[Tensor, "n h w k"]:
        """Draw the bumps, channels last; the squares of x and y are taken apart, which is far less work."""
        at, scale = points.unflatten(1, (-1, 2)), torch.exp(-2 * self.log_width) / 2
        across = (self.grid[0, :, 0, None] - at[:, None, :, 0]).square() * scale
        down = (self.grid[:, 0, 1, None] - at[:, None, :, 1]).square() * scale
        return torch.exp(-down)[:, :, None] * torch.exp(-across)[:, None]


def _grid(size: tuple[int, int]) -> Float[Tensor, "h w 2"]:
    """Return the places of pixels: x to the right and y downwards, from -1 to 1 between the rims."""
    down, across = (2 * (torch.arange(n) + 0.5) / n - 1 for n in size)
    return torch.stack(torch.meshgrid(across, down, indexing="xy"), dim=-1)
