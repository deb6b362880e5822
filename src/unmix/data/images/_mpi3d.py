"""Twin of MPI3D: a robot's arm that holds an object, rendered from seven factors."""

import math

import numpy as np
import torch
from jaxtyping import Int, UInt8
from torch import Tensor

from .._factors import FactorDataset
from ._colour import as_bytes
from ._rays import (
    Hit,
    Rays,
    averaged,
    back,
    box,
    camera,
    capsule,
    cylinder,
    disc,
    moved,
    nearest,
    painted,
    per_image,
    round_side,
    sphere,
)
from ._twin import twin

FACTORS = {
    "object_color": 4,
    "object_shape": 4,
    "object_size": 2,
    "camera_height": 3,
    "background_color": 3,
    "horizontal_axis": 40,
    "vertical_axis": 40,
}
_COLOURS = ((0.92, 0.92, 0.88), (0.15, 0.70, 0.20), (0.85, 0.12, 0.12), (0.15, 0.25, 0.85))
_BACKGROUNDS = ((0.45, 0.25, 0.60), (0.30, 0.65, 0.55), (0.95, 0.60, 0.50))  # purple, sea green, salmon
_TABLE, _METAL, _JOINT = (0.55, 0.55, 0.57), (0.80, 0.80, 0.82), (0.20, 0.20, 0.22)
_SHOULDER, _UPPER, _LOWER = 0.55, 0.85, 0.80  # height of the shoulder; lengths of the arm's two parts
_RAYS = {16: 64, 32: 96, 64: 192, 128: 256}  # along a side of the picture


def mpi3d(
    n_samples: int | None = None,
    *,
    size: int = 64,
    random_state: int | np.random.Generator | None = None,
) -> FactorDataset:
    """Render a twin of MPI3D: 460,800 images of a robot's arm with an object, each different.

    Factors and their numbers of values are those of the variant with 4 colours and 4 shapes, which the papers
    use: colour, shape (cube, cylinder, ball, cone) and size (2) of the object, height of the camera (3),
    colour of the background (purple, sea green, salmon), and two joints of the arm (40 angles each). The
    shoulder turns by 270°, behind the post too; the elbow bends by 80°. The scene is ours.

    Parameters
    ----------
    n_samples : int, optional
        Images at random; by default all combinations of factors, the last varying fastest. They are
        rendered when they are asked for.
    size : int
        Height and width in pixels: 16, 32, 64 or 128.
    random_state : int, Generator or None

    Returns
    -------
    FactorDataset

    References
    ----------
    Gondal et al., On the transfer of inductive bias from simulation to the real world, 2019.

    Examples
    --------
    >>> data = mpi3d(size=32)
    >>> len(data), data.sizes
    (460800, (4, 4, 2, 3, 3, 40, 40))
    >>> still = data.sample(2, {"camera_height": 1, "background_color": 0}, random_state=0).images
    >>> still[:, 2, 2].tolist()  # the wall does not move
    [[115, 64, 153], [115, 64, 153]]
    """
    return twin(paint, FACTORS, n_samples=n_samples, size=size, random_state=random_state, work=600)


def paint(levels: Int[Tensor, "n 7"], *, size: int) -> UInt8[Tensor, "n size size 3"]:
    """Cast rays at the arm of each image."""
    colour, kind, large, height, wall, turn, bend = levels.T
    up = torch.deg2rad(12.0 + 14.0 * height)
    eye = 6.0 * per_image(torch.zeros_like(up), -up.cos(), up.sin())
    rays = camera(eye, (0.0, 0.0, 0.72), view=34.0, rays=_RAYS[size])
    yaw, pitch = torch.deg2rad(-45 + turn * 270 / 39), torch.deg2rad(-60 + bend * 80 / 39)
    elbow, hand = _joints(yaw, pitch)
    parts = [
        *_post(rays, yaw),
        (capsule(rays, _shoulder(yaw), elbow, 0.09), _rgb([_METAL], colour * 0)),
        (capsule(rays, elbow, hand, 0.075), _rgb([_METAL], colour * 0)),
        (sphere(rays, elbow, torch.full_like(elbow[0], 0.13)), _rgb([_JOINT], colour * 0)),
        (_object(rays, hand, yaw, kind, large), _rgb(_COLOURS, colour)),
    ]
    colours = painted(rays, _scenery(rays, _rgb(_BACKGROUNDS, wall)), parts)
    return as_bytes(averaged(colours.transpose(0, 1), size)).permute(0, 2, 3, 1)


def _rgb(table: object, chosen: Tensor) -> Tensor:
    """Return the colour of each image, shape (3, n, 1, 1)."""
    return torch.tensor(table, device=chosen.device)[chosen].T[..., None, None]


def _shoulder(yaw: Tensor) -> Tensor:
    return per_image(0 * yaw, 0 * yaw, 0 * yaw + _SHOULDER)


def _joints(yaw: Tensor, pitch: Tensor) -> tuple[Tensor, Tensor]:
    """Return elbow and hand: the upper arm rises by 55°, the lower one by its own angle."""
    rise = math.radians(55)
    out, top = _UPPER * math.cos(rise), _SHOULDER + _UPPER * math.sin(rise)
    far, end = out + _LOWER * pitch.cos(), top + _LOWER * pitch.sin()
    elbow = per_image(out * yaw.cos(), out * yaw.sin(), 0 * yaw + top)
    return elbow, per_image(far * yaw.cos(), far * yaw.sin(), end)


def _post(rays: Rays, yaw: Tensor) -> list[tuple[Hit, Tensor]]:
    """Meet the foot, the post, and the shoulder's joint."""
    one = torch.ones_like(yaw)[:, None, None]
    dark, bright = (_rgb([colour], yaw.long() * 0) for colour in (_JOINT, _METAL))
    return [
        (cylinder(rays, 0.42 * one, 0 * one, 0.1 * one), dark),
        (cylinder(rays, 0.14 * one, 0.1 * one, _SHOULDER * one), bright),
        (sphere(rays, _shoulder(yaw), 0.19 * one), dark),
    ]


def _object(rays: Rays, hand: Tensor, yaw: Tensor, kind: Tensor, large: Tensor) -> Hit:
    """Meet what the hand holds, which turns with the shoulder and stays upright."""
    nothing, one = torch.zeros_like(yaw), torch.ones_like(yaw)
    axes = torch.stack(
        [
            per_image(yaw.cos(), yaw.sin(), nothing),
            per_image(-yaw.sin(), yaw.cos(), nothing),
            per_image(nothing, nothing, one),
        ]
    )
    near = moved(rays, hand, axes)
    s, kind = (0.24 + 0.10 * large)[:, None, None], kind[:, None, None]
    found = box(near, torch.stack([-0.9 * s] * 3), torch.stack([0.9 * s] * 3))
    cone = nearest(round_side(near, 1.1 * s, -s, 1.2 * s, 0.5), disc(near, 1.1 * s, -s, -1.0))
    for k, hit in enumerate((cylinder(near, 0.85 * s, -s, s), sphere(near, 0 * near.origin, 1.1 * s), cone)):
        found = Hit(*(torch.where(kind == k + 1, a, b) for a, b in zip(hit, found, strict=True)))
    return back(found, axes)


def _scenery(rays: Rays, wall: Tensor) -> Tensor:
    """Return the wall, and the table before it."""
    down = torch.where(rays.way[2] < -1e-3, -rays.origin[2] / rays.way[2].clamp(max=-1e-3), 1e3)
    x, y, _ = rays.at(down)
    table = _rgb([_TABLE], torch.zeros(1, dtype=torch.long, device=x.device))
    return torch.where((y < 2.0) & (x.abs() < 1e2), table, wall)
