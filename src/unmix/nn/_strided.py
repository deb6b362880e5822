"""Small encoders and decoders of images, of strided convolutions and nothing else."""

from collections.abc import Sequence
from itertools import pairwise

from jaxtyping import Float
from torch import Tensor, nn

from ._convolutions import ChannelsFirst
from ._shapes import Shape, image_of

_LEAST = 4  # the side at which halving ends
_SLOPE = 0.2


def strided_encoder(
    shape_in: Shape, n_out: int, *, widths: Sequence[int] | None = None, dense: Sequence[int] = (256,)
) -> nn.Sequential:
    """Convolutions of stride 2 with ReLU between them, then dense layers.

    Parameters
    ----------
    shape_in : (height, width, channels)
    n_out : int
    widths : sequence of int, optional
        Channels at each resolution. By default the image is halved down to a side of 4 or a little more, with
        32 channels and kernels of 4 at first and 64 channels and kernels of 2 at the last two: the published
        sizes for images of 64 x 64, and one layer more for those of 128 x 128.
    dense : sequence of int
        Hidden layers after the convolutions.

    Returns
    -------
    Module
        From (n, height, width, channels) to (n, n_out).

    Examples
    --------
    >>> import torch
    >>> strided_encoder((64, 64, 3), 20)(torch.zeros(2, 64, 64, 3)).shape
    torch.Size([2, 20])

    References
    ----------
    Locatello et al. (2019), Challenging common assumptions, Table 1 of the appendix, arXiv:1811.12359.
    """
    widths = _widths(shape_in) if widths is None else tuple(widths)
    height, width, channels = image_of(shape_in, len(widths), "shape_in")
    layers: list[nn.Module] = [ChannelsFirst()]
    for number, wide in enumerate(widths):
        kernel = 2 if number >= len(widths) - 2 else 4
        layers += [nn.Conv2d(channels, wide, kernel, 2, (kernel - 2) // 2), nn.ReLU()]
        channels = wide
    n_flat = (height >> len(widths)) * (width >> len(widths)) * channels
    return nn.Sequential(
        *layers, nn.Flatten(1), *_dense((n_flat, *dense)), nn.Linear((n_flat, *dense)[-1], n_out)
    )


def strided_decoder(
    n_in: int, shape_out: Shape, *, widths: Sequence[int] | None = None, dense: Sequence[int] = (256,)
) -> nn.Sequential:
    """Dense layers, then transposed convolutions of stride 2 and kernel 4 with ReLU between them.

    Parameters
    ----------
    n_in : int
    shape_out : (height, width, channels)
    widths : sequence of int, optional
        Channels at each resolution, the smallest image first; those of `strided_encoder` by default.
    dense : sequence of int
        Hidden layers before the convolutions.

    Returns
    -------
    Module
        From (n, n_in) to (n, height, width, channels).

    Examples
    --------
    >>> import torch
    >>> strided_decoder(10, (64, 64, 3))(torch.zeros(2, 10)).shape
    torch.Size([2, 64, 64, 3])

    References
    ----------
    As for `strided_encoder`.
    """
    widths = _widths(shape_out)[::-1] if widths is None else tuple(widths)
    height, width, channels = image_of(shape_out, len(widths), "shape_out")
    small = (widths[0], height >> len(widths), width >> len(widths))
    n_flat = small[0] * small[1] * small[2]
    layers: list[nn.Module] = [*_dense((n_in, *dense, n_flat)), nn.Unflatten(1, small)]
    for before, wide in zip(widths, (*widths[1:], channels), strict=True):
        layers += [nn.ConvTranspose2d(before, wide, 4, 2, 1), nn.ReLU()]
    return nn.Sequential(*layers[:-1], ChannelsLast())


def leaky_encoder(
    shape_in: Shape, n_out: int, *, widths: Sequence[int] | None = None, dense: Sequence[int] = (256, 256)
) -> nn.Sequential:
    """One wide convolution, then convolutions of stride 2 and kernel 4, and dense layers, with leaky ReLU.

    Parameters
    ----------
    shape_in : (height, width, channels)
    n_out : int
    widths : sequence of int, optional
        Channels of the first convolution, of 7 x 7 pixels and stride 1, and of those that halve the image. By
        default 64, 128 and then 256, down to a side of 4: the published sizes for images of 64 x 64.
    dense : sequence of int
        Hidden layers after the convolutions.

    Returns
    -------
    Module
        From (n, height, width, channels) to (n, n_out).

    Examples
    --------
    >>> import torch
    >>> leaky_encoder((64, 64, 3), 20)(torch.zeros(2, 64, 64, 3)).shape
    torch.Size([2, 20])

    References
    ----------
    Ren et al. (2022), Learning disentangled representation by exploiting pretrained generative models, the
    contrastor's encoder, arXiv:2102.10543; Yang et al. (2024), Table 8, arXiv:2402.09712.
    """
    widths = (64, 128, *(256,) * (len(_widths(shape_in)) - 1)) if widths is None else tuple(widths)
    height, width, channels = image_of(shape_in, len(widths) - 1, "shape_in")
    layers: list[nn.Module] = [ChannelsFirst(), nn.Conv2d(channels, widths[0], 7, 1, 3), nn.LeakyReLU(_SLOPE)]
    for before, wide in pairwise(widths):
        layers += [nn.Conv2d(before, wide, 4, 2, 1), nn.LeakyReLU(_SLOPE)]
    n_flat = (height >> len(widths) - 1) * (width >> len(widths) - 1) * widths[-1]
    layers.append(nn.Flatten(1))
    for a, b in pairwise((n_flat, *dense)):
        layers += [nn.Linear(a, b), nn.LeakyReLU(_SLOPE)]
    return nn.Sequential(*layers, nn.Linear((n_flat, *dense)[-1], n_out))


class ChannelsLast(nn.Module):
    """From torch's (n, channels, height, width) to (n, height, width, channels), without a copy."""

    def forward(self, x: Float[Tensor, "n c h w"]) -> Float[Tensor, "n h w c"]:
        """Turn the axes."""
        return x.permute(0, 2, 3, 1)


def _dense(widths: Sequence[int]) -> list[nn.Module]:
    return [layer for a, b in pairwise(widths) for layer in (nn.Linear(a, b), nn.ReLU())]


def _widths(shape: Shape) -> tuple[int, ...]:
    """Return the channels at each resolution of an image, 64 at the last two."""
    height, width, _ = image_of(shape, 0, "shape")
    n = 1
    while (
        height % 2 ** (n + 1) == 0 and width % 2 ** (n + 1) == 0 and min(height, width) >> (n + 1) >= _LEAST
    ):
        n += 1
    return (32,) * max(0, n - 2) + (64,) * min(n, 2)
