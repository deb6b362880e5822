"""Convolutional encoders and decoders of images of shape (n, height, width, channels)."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from ._networks import mlp
from ._shapes import Shape, image_of

_EPS = 1e-6
SLOPE = 0.2


def conv_encoder(
    shape_in: Shape,
    n_out: int,
    *,
    widths: Sequence[int] = (32, 64, 128, 256),
    dense: Sequence[int] = (256, 256),
    norm: str | None = "instance",
) -> nn.Module:
    """Convolutions that halve an image once for each width, then a perceptron.

    Parameters
    ----------
    shape_in : (height, width, channels)
        Height and width divisible by 2 for each width.
    n_out : int
    widths : sequence of int
        Channels at each resolution: two 3 x 3 convolutions, then one of 4 x 4 that halves the image.
    dense : sequence of int
        Hidden layers after the convolutions.
    norm : {"instance", "batch", None}
        After each convolution.

    Returns
    -------
    Module
        From (n, height, width, channels) to (n, n_out).

    Examples
    --------
    >>> conv_encoder((16, 16, 3), 5, widths=(8, 16), dense=(32,))(torch.zeros(2, 16, 16, 3)).shape
    torch.Size([2, 5])

    References
    ----------
    Hsu et al. (2023), Disentanglement via latent quantization, arXiv:2305.18378, as taken by Nelson et al.
    (2026), near-identifiability, arXiv:2603.11970.
    """
    height, width, channels = image_of(shape_in, len(widths), "shape_in")
    blocks: list[nn.Module] = []
    for wide in widths:
        for kernel, stride in ((3, 1), (3, 1), (4, 2)):
            convolution = nn.Conv2d(channels, wide, kernel, stride, 1, bias=norm is None)
            blocks += [convolution, *_norm(norm, wide), nn.LeakyReLU(SLOPE)]
            channels = wide
    left = (height >> len(widths)) * (width >> len(widths)) * channels
    head = mlp(left, n_out, hidden=tuple(dense), activation="relu")
    return nn.Sequential(ChannelsFirst(), *blocks, nn.Flatten(1), *head)


def conv_decoder(
    n_in: int,
    shape_out: Shape,
    *,
    widths: Sequence[int] = (256, 128, 64, 32),
    dense: Sequence[int] = (256, 256),
) -> "StyleDecoder":
    """Convolutions that double a learned constant once for each width, styled by the code at every layer.

    Parameters
    ----------
    n_in : int
    shape_out : (height, width, channels)
        Height and width divisible by 2 for each width.
    widths : sequence of int
        Channels at each resolution, the smallest image first.
    dense : sequence of int
        Layers from the code to what styles the convolutions.

    Returns
    -------
    Module
        From (n, n_in) to (n, height, width, channels).

    Examples
    --------
    >>> conv_decoder(5, (16, 16, 3), widths=(16, 8), dense=(32,))(torch.zeros(2, 5)).shape
    torch.Size([2, 16, 16, 3])

    References
    ----------
    As for `conv_encoder`.
    """
    height, width, channels = image_of(shape_out, len(widths), "shape_out")
    small = height >> len(widths), width >> len(widths)
    return StyleDecoder(n_in, small, channels, tuple(widths), tuple(dense))


class ChannelsFirst(nn.Module):
    """From (n, height, width, channels) to torch's (n, channels, height, width), without a copy."""

    def forward(self, x: Float[Tensor, "n h w c"]) -> Float[Tensor, "n c h w"]:
        """Turn the axes."""
        return x.permute(0, 3, 1, 2)


class StyleDecoder(nn.Module):
    """A constant image that grows by convolutions, each normalised, scaled and shifted by the code."""

    def __init__(
        self,
        n_in: int,
        small: tuple[int, int],
        channels: int,
        widths: tuple[int, ...],
        dense: tuple[int, ...],
    ) -> None:
        super().__init__()
        self.dense = nn.Sequential(*mlp(n_in, dense[-1], hidden=dense[:-1], activation="relu"), nn.ReLU())
        self.constant = nn.Parameter(torch.full((1, widths[0], *small), 0.1))
        self.convolutions, self.styles = nn.ModuleList(), nn.ModuleList()
        before = widths[0]
        for wide in widths:
            for _ in range(2):  # a transposed 3 x 3 convolution of stride 1 is a plain one
                self._add(nn.Conv2d(before, wide, 3, 1, 1, bias=False), dense[-1], wide)
                before = wide
            self._add(nn.ConvTranspose2d(wide, wide, 4, 2, 1, bias=False), dense[-1], wide)
        self.last = nn.Conv2d(before, channels, 3, 1, 1, bias=False)

    def _add(self, convolution: nn.Module, n_style: int, wide: int) -> None:
        self.convolutions.append(convolution)
        self.styles.append(nn.Linear(n_style, 2 * wide))

    def forward(self, z: Float[Tensor, "n z"]) -> Float[Tensor, "n h w c"]:
        """Grow the image."""
        style, x = self.dense(z), self.start(len(z))
        for convolution, linear in zip(self.convolutions, self.styles, strict=True):
            scale, shift = styled(F.relu(linear(style)))
            grown = convolution(x)
            x = (normalised(bent(grown))[0] * scale + shift).to(grown.dtype)
        return self.last(x).permute(0, 2, 3, 1)

    def start(self, n: int) -> Float[Tensor, "n c h w"]:
        """Return the constant for each of n samples, with the channels last in memory, which is faster."""
        return self.constant.expand(n, -1, -1, -1).contiguous(memory_format=torch.channels_last)


class InstanceNorm(nn.Module):
    """Each channel of each image at mean 0 and variance 1, then scaled and shifted; written out, it fuses."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels, 1, 1))
        self.shift = nn.Parameter(torch.zeros(channels, 1, 1))

    def forward(self, x: Float[Tensor, "n c h w"]) -> Float[Tensor, "n c h w"]:
        """Normalise, scale and shift."""
        return (normalised(x)[0] * self.scale + self.shift).to(x.dtype)


def normalised(
    x: Float[Tensor, "n c h w"],
) -> tuple[Float[Tensor, "n c h w"], Float[Tensor, "n c 1 1"]]:
    """Normalise each channel, and return one over its scale too; half precision is too coarse for sums."""
    wide = x.float() if x.dtype.itemsize < 4 else x
    centred = wide - wide.mean((2, 3), keepdim=True)
    inverse = torch.rsqrt(centred.square().mean((2, 3), keepdim=True) + _EPS)
    return centred * inverse, inverse


def bent(x: Float[Tensor, "n c h w"]) -> Float[Tensor, "n c h w"]:
    """Bend what a convolution of the decoder gave."""
    return F.leaky_relu(x, SLOPE)


def styled(both: Float[Tensor, "n two_c"]) -> tuple[Float[Tensor, "n c 1 1"], Float[Tensor, "n c 1 1"]]:
    """Return scale and shift of each channel."""
    scale, shift = both[:, :, None, None].chunk(2, 1)
    return scale, shift


def _norm(norm: str | None, channels: int) -> list[nn.Module]:
    kinds = {"instance": InstanceNorm, "batch": nn.BatchNorm2d}
    if norm is not None and norm not in kinds:
        raise ValueError(f"`norm` must be one of {[*kinds, None]}, got {norm!r}. Choose one of these.")
    return [] if norm is None else [kinds[norm](channels)]
