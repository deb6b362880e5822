"""Encoders and decoders between images and small grids of vectors, as latent diffusion has them."""

import math
from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor, nn

from ._convolutions import ChannelsFirst
from ._shapes import Shape, entries, image_of
from ._strided import ChannelsLast

_SLOPE = 0.2


def grid_encoder(shape_in: Shape, n_out: int, *, widths: Sequence[int] = (64, 128)) -> nn.Sequential:
    """Convolutions that halve an image once for each width and keep it a grid.

    Parameters
    ----------
    shape_in : (height, width, channels)
        Height and width divisible by 2 for each width.
    n_out : int
        Numbers that come out: a multiple of the places of the grid.
    widths : sequence of int
        Channels at each resolution.

    Returns
    -------
    Module
        From (n, height, width, channels) to (n, n_out): place after place, each with its channels.

    Examples
    --------
    >>> import torch
    >>> grid_encoder((16, 16, 3), 4 * 4 * 3, widths=(8, 8))(torch.zeros(2, 16, 16, 3)).shape
    torch.Size([2, 48])
    """
    height, width, channels = image_of(shape_in, len(widths), "shape_in")
    layers: list[nn.Module] = [ChannelsFirst()]
    for wide in widths:
        layers += [nn.Conv2d(channels, wide, 4, 2, 1), Refined(wide)]
        channels = wide
    depth = _depth(n_out, (height >> len(widths), width >> len(widths)), "n_out")
    return nn.Sequential(*layers, nn.Conv2d(channels, depth, 1), ChannelsLast(), nn.Flatten(1))


def grid_decoder(n_in: int, shape_out: Shape, *, widths: Sequence[int] = (128, 64)) -> nn.Sequential:
    """Convolutions that double a grid once for each width, the way back of `grid_encoder`.

    Parameters
    ----------
    n_in : int
    shape_out : (height, width, channels)
    widths : sequence of int
        Channels at each resolution, the smallest image first.

    Returns
    -------
    Module
        From (n, n_in) to (n, height, width, channels).

    Examples
    --------
    >>> import torch
    >>> grid_decoder(4 * 4 * 3, (16, 16, 3), widths=(8, 8))(torch.zeros(2, 48)).shape
    torch.Size([2, 16, 16, 3])
    """
    height, width, channels = image_of(shape_out, len(widths), "shape_out")
    small = height >> len(widths), width >> len(widths)
    depth = _depth(n_in, small, "n_in")
    layers: list[nn.Module] = [
        nn.Unflatten(1, (*small, depth)),
        ChannelsFirst(),
        nn.Conv2d(depth, widths[0], 1),
    ]
    for before, wide in zip(widths, (*widths[1:], widths[-1]), strict=True):
        layers += [Refined(before), nn.ConvTranspose2d(before, wide, 4, 2, 1)]
    return nn.Sequential(
        *layers, nn.LeakyReLU(_SLOPE), nn.Conv2d(widths[-1], channels, 3, 1, 1), ChannelsLast()
    )


class Refined(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, wide: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.LeakyReLU(_SLOPE),
            nn.Conv2d(wide, wide, 3, 1, 1),
            nn.LeakyReLU(_SLOPE),
            nn.Conv2d(wide, wide, 1),
        )

    def forward(self, x: Float[Tensor, "n c h w"]) -> Float[Tensor, "n c h w"]:
        """Add what the convolutions find."""
        return x + self.layers(x)


def _depth(n: int, small: tuple[int, int], name: str) -> int:
    places = math.prod(small)
    if n % places:
        raise ValueError(f"`{name}` must be a multiple of the {entries(small)} places of the grid, got {n}.")
    return n // places
