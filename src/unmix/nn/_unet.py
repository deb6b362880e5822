"""A U-Net that is told a time and some tokens, for images of shape (n, height, width, channels)."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from ._attention import Attending
from ._shapes import Shape, image_of

_INNER = 16  # the side at which the network works, unless the image is smaller
_GROUPS, _EPS = 8, 1e-5


def unet(
    shape: Shape,
    n_token: int,
    *,
    widths: Sequence[int] = (64, 128, 256, 256),
    n_blocks: int = 2,
    attention: Sequence[int] = (0, 1, 2),
    heads: int = 8,
    dropout: float = 0.0,
    patch: int | None = None,
) -> "UNet":
    """Convolutions that halve an image and double it again, with shortcuts, a time, and tokens to ask.

    Parameters
    ----------
    shape : (height, width, channels)
        Of the images that go in and come out.
    n_token : int
        Length of a token.
    widths : sequence of int
        Channels at each resolution, each divisible by 8 and by `heads`.
    n_blocks : int
        Residual blocks at each resolution.
    attention : sequence of int
        Resolutions, 0 the finest, whose blocks are followed by attention.
    heads : int
        Of attention.
    dropout : float
        In the residual blocks.
    patch : int, optional
        Side of the squares of pixels that become channels first; by default as many as leave a side of 16.

    Returns
    -------
    Module
        From (n, height, width, channels), times of shape (n,) and tokens of shape (n, k, n_token) to images
        of the same shape, which are zero at first.

    Examples
    --------
    >>> network = unet((16, 16, 3), 8, widths=(16, 32), n_blocks=1, attention=(1,), heads=2)
    >>> network(torch.zeros(2, 16, 16, 3), torch.tensor([0.1, 0.9]), torch.zeros(2, 5, 8)).shape
    torch.Size([2, 16, 16, 3])

    References
    ----------
    Ronneberger, Fischer and Brox (2015), U-Net, arXiv:1505.04597; Dhariwal and Nichol (2021), Diffusion
    models beat GANs, Section 3, arXiv:2105.05233; sizes of Yang et al. (2024), arXiv:2402.09712.
    """
    height, width, channels = image_of(shape, 0, "shape")
    patch = max(1, min(height, width) // _INNER) if patch is None else patch
    image_of((height // patch, width // patch, 1), len(widths) - 1, "shape")
    if height % patch or width % patch:
        raise ValueError(f"`patch` must divide the sides {height} and {width}, got {patch}. Use 1.")
    wrong = [wide for wide in widths if wide % _GROUPS or wide % heads]
    if wrong:
        raise ValueError(f"`widths` must be divisible by {_GROUPS} and by heads={heads}, got {wrong}.")
    body = Body(channels * patch**2, n_token, tuple(widths), n_blocks, tuple(attention), heads, dropout)
    return UNet(body, patch)


class UNet(nn.Module):
    """Patches of pixels as channels, and the network that works on them."""

    def __init__(self, body: "Body", patch: int) -> None:
        super().__init__()
        self.body, self.patch = body, patch

    def forward(
        self, x: Float[Tensor, "n h w c"], t: Float[Tensor, " n"], tokens: Float[Tensor, "n k d"]
    ) -> Float[Tensor, "n h w c"]:
        """Return an image for each image, at a time from 0 to 1."""
        inner = F.pixel_unshuffle(x.permute(0, 3, 1, 2), self.patch)
        return F.pixel_shuffle(self.body(inner, t, tokens), self.patch).permute(0, 2, 3, 1)


class Body(nn.Module):
    """The way down, the middle and the way up."""

    def __init__(
        self,
        channels: int,
        n_token: int,
        widths: tuple[int, ...],
        n_blocks: int,
        attention: tuple[int, ...],
        heads: int,
        dropout: float,
    ) -> None:
        super().__init__()
        first, told = widths[0], 4 * widths[0]
        self.time = nn.Sequential(nn.Linear(first, told), nn.SiLU(), nn.Linear(told, told))
        self.enter = nn.Conv2d(channels, first, 3, 1, 1)
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        left, now = [first], first
        for level, wide in enumerate(widths):
            for _ in range(n_blocks):
                self.down.append(Step(now, wide, told, n_token, heads * (level in attention), dropout))
                left.append(now := wide)
            if level < len(widths) - 1:
                self.down.append(nn.Conv2d(now, now, 3, 2, 1))
                left.append(now)
        self.middle = nn.ModuleList(Step(now, now, told, n_token, heads * k, dropout) for k in (1, 0))
        for level, wide in reversed(list(enumerate(widths))):
            for _ in range(n_blocks + 1):
                both = now + left.pop()
                self.up.append(Step(both, wide, told, n_token, heads * (level in attention), dropout))
                now = wide
            if level:
                self.up.append(nn.Conv2d(now, now, 3, 1, 1))
        self.leave = nn.Sequential(GroupNorm(now), nn.SiLU(), _silent(nn.Conv2d(now, channels, 3, 1, 1)))

    def forward(
        self, x: Float[Tensor, "n c h w"], t: Float[Tensor, " n"], tokens: Float[Tensor, "n k d"]
    ) -> Float[Tensor, "n c h w"]:
        """Pass an image through."""
        told, x = self.time(waves(t, self.enter.out_channels).to(x.dtype)), self.enter(x)
        left = [x]
        for step in self.down:
            x = step(x, told, tokens) if isinstance(step, Step) else step(x)
            left.append(x)
        for step in self.middle:
            x = step(x, told, tokens)
        for step in self.up:
            if isinstance(step, Step):
                x = step(torch.cat([x, left.pop()], 1), told, tokens)
            else:
                x = step(F.interpolate(x, scale_factor=2.0, mode="nearest"))
        return self.leave(x)


class Step(nn.Module):
    """A residual block that is told the time, and where there are heads, attention."""

    def __init__(self, n_in: int, n_out: int, told: int, n_token: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.first = nn.Sequential(GroupNorm(n_in), nn.SiLU(), nn.Conv2d(n_in, n_out, 3, 1, 1))
        self.told = nn.Sequential(nn.SiLU(), nn.Linear(told, 2 * n_out))
        self.norm = GroupNorm(n_out)
        self.second = nn.Sequential(nn.SiLU(), nn.Dropout(dropout), _silent(nn.Conv2d(n_out, n_out, 3, 1, 1)))
        self.past = nn.Identity() if n_in == n_out else nn.Conv2d(n_in, n_out, 1)
        self.attending = Attending(n_out, n_token, heads=heads) if heads else None

    def forward(
        self, x: Float[Tensor, "n a h w"], told: Float[Tensor, "n e"], tokens: Float[Tensor, "n k d"]
    ) -> Float[Tensor, "n b h w"]:
        """Return the image after the block."""
        scale, shift = self.told(told)[:, :, None, None].chunk(2, 1)
        x = self.past(x) + self.second(self.norm(self.first(x)) * (1 + scale) + shift)
        return x if self.attending is None else self.attending(x, tokens)


class GroupNorm(nn.Module):
    """Each of eight groups of channels of each image at mean 0 and variance 1, then scaled and shifted.

    Written out it has derivatives of every kind; in half precision it is one kernel, whose sums are wide.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels, 1, 1))
        self.shift = nn.Parameter(torch.zeros(channels, 1, 1))

    def forward(self, x: Float[Tensor, "n c h w"]) -> Float[Tensor, "n c h w"]:
        """Normalise, scale and shift."""
        if x.dtype.itemsize < 4:
            scale, shift = self.scale.flatten().to(x.dtype), self.shift.flatten().to(x.dtype)
            with torch.autocast(x.device.type, enabled=False):
                return F.group_norm(x, _GROUPS, scale, shift, _EPS)
        grouped = x.unflatten(1, (_GROUPS, -1))
        centred = grouped - grouped.mean((2, 3, 4), keepdim=True)
        inverse = torch.rsqrt(centred.square().mean((2, 3, 4), keepdim=True) + _EPS)
        return (centred * inverse).flatten(1, 2) * self.scale + self.shift


def waves(t: Float[Tensor, " n"], n_out: int) -> Float[Tensor, "n e"]:
    """Return sines and cosines of times from 0 to 1, with wavelengths from a thousandth to ten.

    Examples
    --------
    >>> waves(torch.tensor([0.0]), 4)
    tensor([[1., 1., 0., 0.]])
    """
    rates = torch.exp(torch.arange(n_out // 2, device=t.device) * (-math.log(10_000) / (n_out // 2)))
    angles = 1000 * t[:, None] * rates
    return torch.cat([angles.cos(), angles.sin()], 1)


def _silent(layer: nn.Conv2d) -> nn.Conv2d:
    """Let a layer give zeros at first."""
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
    return layer
