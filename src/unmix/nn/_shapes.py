"""Shapes of what networks take and give; an integer counts as the shape of a vector."""

import math
from collections.abc import Callable, Sequence

from torch import nn

Shape = int | Sequence[int]


def entries(shape: Shape) -> int:
    """Return how many numbers a shape holds.

    Examples
    --------
    >>> entries(5), entries((64, 64, 3))
    (5, 12288)
    """
    return shape if isinstance(shape, int) else math.prod(shape)


def between(make: Callable[[int, int], nn.Module], shape_in: Shape, shape_out: Shape) -> nn.Sequential:
    """Build a network of vectors and reshape around it, where a shape is more than a number.

    Examples
    --------
    >>> between(nn.Linear, (4, 4, 3), 2)
    Sequential(
      (0): Flatten(start_dim=1, end_dim=-1)
      (1): Linear(in_features=48, out_features=2, bias=True)
    )
    """
    before = [] if isinstance(shape_in, int) else [nn.Flatten(1)]
    after = [] if isinstance(shape_out, int) else [nn.Unflatten(1, tuple(shape_out))]
    return nn.Sequential(*before, make(entries(shape_in), entries(shape_out)), *after)


def is_image(shape: Shape) -> bool:
    """Whether a shape is that of an image, (height, width, channels)."""
    return not isinstance(shape, int) and len(shape) == 3


def image_of(shape: Shape, halvings: int, name: str) -> tuple[int, int, int]:
    """Return the shape of an image that can be halved `halvings` times, or say what is wrong."""
    if not is_image(shape):
        raise ValueError(f"`{name}` must be (height, width, channels), got {shape}. Use mlp for vectors.")
    height, width, channels = shape  # type: ignore[misc]
    if height % 2**halvings or width % 2**halvings:
        raise ValueError(
            f"`{name}` must have sides divisible by {2**halvings}, which {halvings} widths halve it to, got "
            f"{tuple(shape)}. Use fewer `widths`, pad the images, or move channels to the last axis."  # type: ignore[arg-type]
        )
    return height, width, channels
