"""Colours, and pixels as they are stored."""

import torch
from jaxtyping import Float, UInt8
from torch import Tensor


def hues(hue: Float[Tensor, "*n"]) -> Float[Tensor, "*n 3"]:
    """Return red, green and blue of full saturation and value.

    Examples
    --------
    >>> hues(torch.tensor([0.0, 1 / 3, 0.5])).round(decimals=3)
    tensor([[1., 0., 0.],
            [0., 1., 0.],
            [0., 1., 1.]])
    """
    turned = (torch.tensor([5.0, 3.0, 1.0], device=hue.device) + 6 * hue[..., None]) % 6
    return 1 - torch.minimum(turned, 4 - turned).clamp(0, 1)


def as_bytes(pixels: Float[Tensor, "*n"]) -> UInt8[Tensor, "*n"]:
    """Return numbers from 0 to 1 as bytes; those outside are clipped. The argument is used up."""
    return pixels.clamp_(0, 1).mul_(255).round_().to(torch.uint8)
