"""Twins: images that are rendered from the factors of a public set, all of its combinations or a few."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .._checks import at_least
from .._factors import FactorDataset
from ._renderer import Renderer

SIZES = (16, 32, 64, 128)


def check_size(size: int) -> None:
    """Refuse a height and width that the scenes were not made for."""
    if size not in SIZES or isinstance(size, bool):
        raise ValueError(f"`size` must be one of {SIZES}, got {size!r}. Choose one of these.")


def levels(
    sizes: Sequence[int], n_samples: int | None, random_state: int | np.random.Generator | None
) -> np.ndarray:
    """Return all combinations of factors, the last of which varies fastest, or some at random."""
    total = math.prod(sizes)
    if n_samples is None:
        rows = np.arange(total)
    else:
        at_least(n_samples=(n_samples, 1))
        rows = np.random.default_rng(random_state).integers(total, size=n_samples)
    return np.stack(np.unravel_index(rows, sizes), axis=1)


def twin(
    paint: Any,
    factors: dict[str, int],
    *,
    n_samples: int | None,
    size: int,
    random_state: int | np.random.Generator | None,
    work: int,
    channels: int = 3,
    recoloured: Sequence[str] = (),
) -> FactorDataset:
    """Return a set whose images are painted from their factors, when they are asked for.

    Parameters
    ----------
    paint : callable
        Takes levels of shape (n, n_factors) and `size`, and returns bytes.
    factors : dict of str to int
        Names and numbers of values.
    n_samples, size, random_state
        As the generator was called.
    work : int
        Floats that painting one pixel takes.
    channels : int
    recoloured : sequence of str
        Factors that change colours alone, where `paint` works out the rest once for images that differ in
        nothing else.
    """
    check_size(size)
    sizes = tuple(factors.values())
    table = levels(sizes, n_samples, random_state)
    shape = (size, size, channels)
    shared = [j for j, name in enumerate(factors) if name not in recoloured] if recoloured else []
    images = Renderer(partial(paint, size=size), table, shape, work=work * size * size, shared=shared)
    return FactorDataset(images, table, tuple(factors), sizes)
