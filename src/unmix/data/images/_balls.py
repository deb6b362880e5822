"""Coloured balls on white, some of which rest: the pictures of the paper on degenerate mixtures."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from .._checks import amounts, at_least
from .._factors import FactorDataset
from ._colour import as_bytes, hues
from ._renderer import Renderer
from ._twin import check_size

_LOW, _HIGH, _APART = 0.3, 0.7, 0.2  # where the means are, and how far from each other
_SPREAD, _EDGE, _RADIUS = 0.1, 0.05, 0.1  # of a ball about its mean; what stays free at the rim; of a ball
_LEVELS = 32  # of a position that is counted as a factor: twelve of them are fewer than 2**63 combinations
_TRIES = 2**16  # arrangements of means that are tried at a time
_HUES = (0, 4, 8, 2, 6, 10, 1, 5, 9, 3, 7, 11)  # twelfths of the circle of colours, neighbours far apart


@dataclass(frozen=True, eq=False)
class Balls(FactorDataset):
    """Scenes of balls: images, positions as factors, and what they are cells of.

    Attributes
    ----------
    images, factors, names, sizes
        As of every `FactorDataset`; factors are the positions in cells of 1/32 of the picture.
    positions : array of shape (n_images, n_balls, 2)
        The centres: x to the right and y upwards, from 0 to 1.
    resting : bool array of shape (n_images, n_balls, 2)
        Which coordinates are at their means.
    means : array of shape (n_balls, 2)
        Where balls rest.
    """

    positions: np.ndarray
    resting: np.ndarray
    means: np.ndarray


def balls(
    n_samples: int | None = None,
    n_balls: int = 2,
    *,
    together: bool = True,
    chance: float = 0.1,
    whole_pixels: bool = False,
    size: int = 64,
    random_state: int | np.random.Generator | None = None,
) -> Balls:
    """Draw balls of fixed colours about their means, each of which sometimes rests at its mean.

    The means are uniform in [.3, .7]², at least .2 apart. A ball is at a normal distance (.1) from its mean;
    with a chance of .1 it is at the mean exactly. A scene with a coordinate outside [.05, .95] is drawn
    again. Balls have a tenth of the picture as radius, and later ones cover earlier ones.

    Where x and y rest together only the plane of a ball can be identified: score per ball.

    Parameters
    ----------
    n_samples : int, optional
        Number of scenes; 100,000 by default. They are rendered when they are asked for.
    n_balls : int
        2, 4 or 6 in the paper; at most 6 find room.
    together : bool
        Whether x and y of a ball rest together (appendix D.10), or each for itself (D.11).
    chance : float
        That a ball, or a coordinate, rests.
    whole_pixels : bool
        Whether centres, and with them the positions, are moved to whole pixels, as the public code draws
        them. Otherwise a ball moves continuously.
    size : int
        Height and width in pixels: 16, 32, 64 or 128.
    random_state : int, Generator or None

    Returns
    -------
    Balls
        A `FactorDataset` that knows `positions`, `resting` and `means` as well.

    References
    ----------
    Potentially degenerate Gaussian mixtures, appendices D.10 and D.11.

    Examples
    --------
    >>> data = balls(1000, 4, random_state=0)
    >>> data.images.shape, data.positions.shape, data.names[:4]
    ((1000, 64, 64, 3), (1000, 4, 2), ('x0', 'y0', 'x1', 'y1'))
    >>> bool((data.positions[data.resting] == np.broadcast_to(data.means, (1000, 4, 2))[data.resting]).all())
    True
    """
    n = 100_000 if n_samples is None else n_samples
    at_least(n_samples=(n, 1), n_balls=(n_balls, 1))
    amounts(1.0, chance=chance)
    check_size(size)
    if n_balls > 6:
        raise ValueError(f"`n_balls` must be at most 6, got {n_balls}. More do not find room; ask for fewer.")
    rng = np.random.default_rng(random_state)
    means = _means(n_balls, rng)
    positions, resting = _scenes(n, means, chance, together, rng)
    if whole_pixels:
        positions, means = np.round(positions * size) / size, np.round(means * size) / size
    cells = np.floor(positions.reshape(n, -1) * _LEVELS).astype(np.int64)
    names = tuple(f"{axis}{ball}" for ball in range(n_balls) for axis in "xy")
    images = Renderer(
        partial(_paint, size=size), positions.reshape(n, -1), (size, size, 3), work=6 * size * size
    )
    return Balls(images, cells, names, (_LEVELS,) * len(names), positions, resting, means)


def _means(n_balls: int, rng: np.random.Generator) -> np.ndarray:
    """Draw means until they are far apart.

    Six are so once in some million draws. Halves that are possible are joined, and kept where the whole is:
    the same law as drawing all points again.
    """
    while True:
        sizes = n_balls // 2, n_balls - n_balls // 2
        first, second = (_far_apart(rng.uniform(_LOW, _HIGH, (_TRIES, k, 2))) for k in sizes)
        n = min(len(first), len(second))
        whole = _far_apart(np.concatenate([first[:n], second[:n]], axis=1))
        if len(whole):
            return whole[0]


def _far_apart(points: np.ndarray) -> np.ndarray:
    """Return the arrangements whose points all keep their distance."""
    i, j = np.triu_indices(points.shape[1], 1)
    return points[(((points[:, i] - points[:, j]) ** 2).sum(2) > _APART**2).all(1)]


def _scenes(
    n: int, means: np.ndarray, chance: float, together: bool, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw positions and which of them rest, leaving out scenes that do not fit."""
    positions, resting = np.empty((0, *means.shape)), np.empty((0, *means.shape), dtype=bool)
    while len(positions) < n:
        moved = rng.normal(means, _SPREAD, (n, *means.shape))
        rests = np.broadcast_to(rng.random((n, len(means), 1 if together else 2)) < chance, moved.shape)
        moved = np.where(rests, means, moved)
        inside = ((moved >= _EDGE) & (moved <= 1 - _EDGE)).all((1, 2))
        positions = np.concatenate([positions, moved[inside]])[:n]
        resting = np.concatenate([resting, rests[inside]])[:n]
    return positions, resting


def _paint(positions: Float[Tensor, "n k"], *, size: int) -> UInt8[Tensor, "n h w c"]:
    """Paint one ball over another, with a rim that is one pixel wide."""
    centres = positions.float().unflatten(1, (-1, 2)) * size
    at = torch.arange(size, device=centres.device) + 0.5
    images = torch.ones(len(centres), size, size, 3, device=centres.device)
    for (x, y), colour in zip(centres.permute(1, 2, 0), _colours(centres), strict=False):
        across, down = at - x[:, None], at - (size - y[:, None])
        distance = (across[:, None, :] ** 2 + down[:, :, None] ** 2).sqrt()
        cover = (_RADIUS * size - distance + 0.5).clamp(0, 1)[..., None]
        images = torch.lerp(images, colour.expand_as(images), cover)
    return as_bytes(images)


def _colours(like: Tensor) -> Float[Tensor, "12 3"]:
    return hues(torch.tensor(_HUES, device=like.device) / 12)
