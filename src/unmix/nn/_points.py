"""Networks that see an image as points at places: spatial means of maps in, bumps at points out."""

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ._convolutions import ChannelsFirst, normalised
from ._shapes import Shape, image_of

_SLOPE = 0.02
_SMALL = 16  # pixels that maps have at most, along a side
_SHARP = 3.0  # by which maps of variance 1 are multiplied at the start
_WIDEST, _NARROWEST = 1.0, 0.1  # of bumps at the start; an image reaches from -1 to 1


def points_encoder(
    shape_in: Shape, n_out: int, *, widths: Sequence[int] | None = None, depth: int = 3
) -> nn.Module:
    """Convolutions whose maps are read off as points: codes are places in the image, x and y of each.

    Each map becomes a distribution over the image by a softmax, and its mean is a point. Whatever moves
    through the image without changing moves such a point along with it, so that codes are affine functions of
    positions wherever convolutions find the same thing again. That is an assumption about the images, made by
    the choice of the network.

    Parameters
    ----------
    shape_in : (height, width, channels)
        Height and width divisible by 2 for each width.
    n_out : int
        Twice the number of points.
    widths : sequence of int, optional
        Channels; each halves the image. By default 32, then 64, until maps have 16 pixels along a side, and
        once at least.
    depth : int
        Convolutions of 3 x 3 at the smallest resolution.

    Returns
    -------
    Module
        From (n, height, width, channels) to (n, n_out): x, y of the first point, then of the next; x to the
        right, y downwards, both from -1 to 1.

    Examples
    --------
    >>> points_encoder((16, 16, 3), 4, widths=(8,))(torch.zeros(2, 16, 16, 3)).shape
    torch.Size([2, 4])

    References
    ----------
    Finn et al. (2016), Deep spatial autoencoders for visuomotor learning, arXiv:1509.06113.
    """
    points = _points(n_out, "n_out")
    wanted = _widths(shape_in) if widths is None else tuple(widths)
    height, width, channels = image_of(shape_in, len(wanted), "shape_in")
    layers: list[nn.Module] = []
    for wide in wanted:
        layers += [nn.Conv2d(channels, wide, 4, 2, 1), nn.LeakyReLU(_SLOPE)]
        channels = wide
    for _ in range(depth):
        layers += [nn.Conv2d(channels, channels, 3, 1, 1), nn.LeakyReLU(_SLOPE)]
    small = height >> len(wanted), width >> len(wanted)
    return nn.Sequential(ChannelsFirst(), *layers, nn.Conv2d(channels, points, 1), Places(points, small))


def points_decoder(n_in: int, shape_out: Shape, *, hidden: Sequence[int] = (64, 64)) -> nn.Module:
    """Bumps at points, each as wide as it learns to be, then for each pixel one perceptron, the same for all.

    Parameters
    ----------
    n_in : int
        Twice the number of points.
    shape_out : (height, width, channels)
    hidden : sequence of int
        Hidden layers from the bumps at a pixel to its channels.

    Returns
    -------
    Module
        From (n, n_in) to (n, height, width, channels).

    Examples
    --------
    >>> points_decoder(4, (16, 16, 3))(torch.zeros(2, 4)).shape
    torch.Size([2, 16, 16, 3])

    References
    ----------
    As for `points_encoder`; bumps at points as in Jakab et al. (2018), Unsupervised learning of object
    landmarks through conditional image generation, arXiv:1806.07823.
    """
    points = _points(n_in, "n_in")
    height, width, channels = image_of(shape_out, 0, "shape_out")
    sizes = (points, *hidden)
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), nn.LeakyReLU(_SLOPE)]
    return nn.Sequential(Bumps(points, (height, width)), *layers, nn.Linear(sizes[-1], channels))


class Places(nn.Module):
    """From maps to points: the mean place of each map, after a softmax over the image."""

    def __init__(self, n_points: int, size: tuple[int, int]) -> None:
        super().__init__()
        self.sharpness = nn.Parameter(torch.full((n_points, 1), _SHARP))
        self.register_buffer("grid", _grid(size).flatten(0, 1), persistent=False)
        self.grid: Tensor

    def forward(self, maps: Float[Tensor, "n k h w"]) -> Float[Tensor, "n p"]:
        """Read points off; half precision is too coarse for places."""
        flat = normalised(maps)[0].flatten(2)
        return ((flat * self.sharpness).softmax(2) @ self.grid.to(flat)).flatten(1)


class Bumps(nn.Module):
    """From points to bumps: exp(-d² / 2s²) for the distance d of each pixel to each point."""

    def __init__(self, n_points: int, size: tuple[int, int]) -> None:
        super().__init__()
        self.log_width = nn.Parameter(torch.linspace(math.log(_WIDEST), math.log(_NARROWEST), n_points))
        self.register_buffer("grid", _grid(size), persistent=False)
        self.grid: Tensor

    def forward(self, points: Float[Tensor, "n p"]) -> Float[Tensor, "n h w k"]:
        """Draw the bumps, channels last: a product of one factor for each row and one for each column."""
        at, scale = points.unflatten(1, (-1, 2)), torch.exp(-2 * self.log_width) / 2
        across = (self.grid[0, :, 0, None] - at[:, None, :, 0]).square() * scale
        down = (self.grid[:, 0, 1, None] - at[:, None, :, 1]).square() * scale
        return torch.exp(-down)[:, :, None] * torch.exp(-across)[:, None]


def _grid(size: tuple[int, int]) -> Float[Tensor, "h w 2"]:
    """Return the middles of pixels: x to the right and y downwards, from -1 to 1 between the rims."""
    down, across = (2 * (torch.arange(n) + 0.5) / n - 1 for n in size)
    return torch.stack(torch.meshgrid(across, down, indexing="xy"), dim=-1)


def _widths(shape: Shape) -> tuple[int, ...]:
    """Return channels for each halving until maps are small, one at least."""
    side = max(image_of(shape, 1, "shape_in")[:2])
    halvings = max(1, math.ceil(math.log2(side / _SMALL)))
    return tuple(min(32 * 2**k, 64) for k in range(halvings))


def _points(n: int, name: str) -> int:
    if n % 2:
        raise ValueError(f"`{name}` must be even, x and y of each point, got {n}. Ask for one more.")
    return n // 2
