"""Twin of dSprites: a white sprite on black, rendered from five factors."""

import math
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor
from torch.nn import functional as F

from .._factors import FactorDataset
from ._twin import twin

FACTORS = {"shape": 3, "scale": 6, "orientation": 40, "pos_x": 32, "pos_y": 32}
_SIDE, _AXES, _HEART = 18.0, (13.0, 6.5), 9.05  # at full scale, in pixels of 64
_MARGIN, _REACH = 16.0, 14.0  # of the outermost centres from the rim; of a sprite from its centre
_SAMPLES = {16: 4, 32: 2, 64: 2, 128: 1}  # along a side of a pixel
_FLAT = 1e-6


def dsprites(
    n_samples: int | None = None,
    *,
    size: int = 64,
    binary: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> FactorDataset:
    """Render the twin of dSprites: 737,280 images of a white sprite on black, each different.

    Factors are as in the public set, without its constant colour: shape (square, ellipse, heart), scale (.5
    to 1 in six steps), orientation, and the place of the centre (32 by 32).

    Two things differ, so that every combination has an image of its own. Orientation k is 2 pi k / 41, since
    with the public file's 40 angles from 0 to 2 pi the first and the last are one image, and with 40 equal
    steps squares would look the same after every tenth. And the rims are grey: in black and white some of
    the smallest sprites look like others. (At 16 pixels five of all do.)

    Parameters
    ----------
    n_samples : int, optional
        Images at random; by default all combinations of factors, the last varying fastest. They are
        rendered when they are asked for.
    size : int
        Height and width in pixels: 16, 32, 64 or 128.
    binary : bool
        Whether pixels are black or white, 0 or 255, as in the public file.
    random_state : int, Generator or None

    Returns
    -------
    FactorDataset

    References
    ----------
    Matthey, Higgins, Hassabis & Lerchner, dSprites, 2017.

    Examples
    --------
    >>> data = dsprites()
    >>> data.images.shape, data.sizes
    ((737280, 64, 64, 1), (3, 6, 40, 32, 32))
    >>> squares = data.sample(20, {"shape": 0, "scale": 5}, random_state=0).images / 255
    >>> float((squares.sum((1, 2, 3)) / 18**2).round(2).max())  # as large as their sides say
    1.0
    """
    painted = partial(paint, binary=bool(binary))
    given = {"n_samples": n_samples, "random_state": random_state}
    return twin(painted, FACTORS, size=size, work=12, channels=1, **given)  # type: ignore[arg-type]


def paint(levels: Int[Tensor, "n 5"], *, size: int, binary: bool) -> UInt8[Tensor, "n size size 1"]:
    """Draw each sprite in a window about its centre, and put that into the picture."""
    unit, samples = size / 64, 1 if binary else _SAMPLES[size]
    shape, scale, turn, *place = levels.T
    centre = unit * (_MARGIN + torch.stack(place, 1) * (64 - 2 * _MARGIN) / 31)
    reach = math.ceil(_REACH * unit)
    corner = centre.floor() - reach
    at = (torch.arange((2 * reach + 1) * samples, device=levels.device) + 0.5) / samples
    x, y = (((corner - centre)[:, axis, None] + at) / unit for axis in range(2))
    grown = (0.5 + scale * 0.1)[:, None, None]
    rim = grown * _rims(*_turned(x, y, turn, grown), shape) * unit  # in pixels
    cover = (rim < 0).float() if binary else F.avg_pool2d((0.5 - samples * rim).clamp(0, 1), samples)
    return _placed((255 * cover).round().to(torch.uint8), corner.long(), size)


def _turned(x: Tensor, y: Tensor, turn: Tensor, grown: Tensor) -> tuple[Tensor, Tensor]:
    """Return places as the sprite sees them."""
    angle = (turn * 2 * math.pi / 41)[:, None, None]
    x, y = x[:, None, :] / grown, y[:, :, None] / grown
    return angle.cos() * x + angle.sin() * y, angle.cos() * y - angle.sin() * x


def _rims(x: Tensor, y: Tensor, shape: Tensor) -> Float[Tensor, "n h w"]:
    """Return about how far places are outside the sprite, negative within it."""
    square = torch.maximum(x.abs(), y.abs()) - _SIDE / 2
    a, b = _AXES
    oval = (x / a) ** 2 + (y / b) ** 2 - 1
    slope = 2 * ((x / a**2) ** 2 + (y / b**2) ** 2).sqrt()
    kind = shape[:, None, None]
    return torch.where(kind == 0, square, torch.where(kind == 1, oval / (slope + _FLAT), _heart(x, y)))


def _heart(x: Tensor, y: Tensor) -> Tensor:
    """Return it for the heart x² + y² - |x|^(2/3) y = 1, a value divided by its slope."""
    x, y = (x / _HEART).abs(), 0.1 - y / _HEART
    value = x**2 + y**2 - x ** (2 / 3) * y - 1
    across = 2 * x - 2 / 3 * y / x.clamp(min=0.1) ** (1 / 3)
    upwards = 2 * y - x ** (2 / 3)
    return _HEART * value / ((across**2 + upwards**2).sqrt() + _FLAT)


def _placed(
    window: UInt8[Tensor, "n h w"], corner: Int[Tensor, "n 2"], size: int
) -> UInt8[Tensor, "n size size 1"]:
    """Put windows into black pictures; at most their last row and column lie outside."""
    n, width, _ = window.shape
    within = torch.arange(width, device=window.device)
    x, y = (corner[:, axis, None] + within for axis in range(2))
    images = torch.zeros(n, size + 1, size + 1, dtype=torch.uint8, device=window.device)
    rows = torch.arange(n, device=window.device)[:, None, None]
    images[rows, y[:, :, None], x[:, None, :]] = window
    return images[:, :size, :size, None]
