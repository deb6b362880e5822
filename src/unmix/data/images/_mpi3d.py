"""Twin of MPI3D: a robot's arm that holds an object, rendered from seven factors."""

import math

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from .._factors import FactorDataset
from ._colour import as_bytes
from ._rays import Hit, Rays, averaged, back, camera, inside, moved, near, nearest, painted, per_image
from ._solids import box, capsule, cylinder, disc, round_side, sphere
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
    """Render a twin of MPI3D: 460,800 images of a robot's arm that holds an object.

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

    Notes
    -----
    No two images that were compared look alike at 64 pixels. At 16 pixels, one in 700 looks like its
    neighbour: an arm that points away and bends by 2° moves little.

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
    return twin(paint, FACTORS, n_samples=n_samples, size=size, random_state=random_state, work=100)


def paint(levels: Int[Tensor, "n 7"], *, size: int) -> UInt8[Tensor, "n size size 3"]:
    """Cast rays at the arm of each image."""
    up = torch.deg2rad(12.0 + 14.0 * levels[:, 3])
    eye = 6.0 * per_image(torch.zeros_like(up), -up.cos(), up.sin())
    rays = camera(eye, (0.0, 0.0, 0.72), view=34.0, rays=_RAYS[size])
    _, shoulder, elbow, hand = _joints(levels)
    reach = near(rays, 0.5 * shoulder, 0.52) | near(rays, hand, 0.62)
    reach |= near(rays, (shoulder + elbow) / 2, _UPPER / 2 + 0.1)
    reach |= near(rays, (elbow + hand) / 2, _LOWER / 2 + 0.14)
    colours = inside(_scenery(rays, levels), rays, reach, levels, _colours)
    return as_bytes(averaged(colours.transpose(0, 1), size)).permute(0, 2, 3, 1)


def _colours(rays: Rays, levels: Int[Tensor, "n 7"]) -> Float[Tensor, "3 n H W"]:
    """Return what rays find: foot, post, arm, object, or what is behind them."""
    yaw, shoulder, elbow, hand = _joints(levels)
    one = torch.ones_like(yaw)[:, None, None]
    metal, joint = (_rgb([colour], 0 * levels[:, 0]) for colour in (_METAL, _JOINT))
    parts = [
        (cylinder(rays, 0.42 * one, 0 * one, 0.1 * one), joint),
        (cylinder(rays, 0.14 * one, 0.1 * one, _SHOULDER * one), metal),
        (sphere(rays, shoulder, 0.19 * one), joint),
        (capsule(rays, shoulder, elbow, 0.09), metal),
        (capsule(rays, elbow, hand, 0.075), metal),
        (sphere(rays, elbow, 0.13 * one), joint),
        (_object(rays, hand, yaw, levels), _rgb(_COLOURS, levels[:, 0])),
    ]
    return painted(rays, _scenery(rays, levels), parts)


def _rgb(table: object, chosen: Tensor) -> Tensor:
    """Return the colour of each image, shape (3, n, 1, 1)."""
    return torch.tensor(table, device=chosen.device)[chosen].T[..., None, None]


def _joints(levels: Int[Tensor, "n 7"]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the angle of the shoulder, and where shoulder, elbow and hand are.

    The upper arm rises by 55°, the lower one by its own angle.
    """
    yaw, pitch = torch.deg2rad(-45 + levels[:, 5] * 270 / 39), torch.deg2rad(-60 + levels[:, 6] * 80 / 39)
    rise = math.radians(55)
    out, top = _UPPER * math.cos(rise), _SHOULDER + _UPPER * math.sin(rise)
    far, end = out + _LOWER * pitch.cos(), top + _LOWER * pitch.sin()
    x, y = yaw.cos(), yaw.sin()
    shoulder = per_image(0 * yaw, 0 * yaw, 0 * yaw + _SHOULDER)
    return yaw, shoulder, per_image(out * x, out * y, 0 * yaw + top), per_image(far * x, far * y, end)


def _object(rays: Rays, hand: Tensor, yaw: Tensor, levels: Int[Tensor, "n 7"]) -> Hit:
    """Meet what the hand holds, which turns with the shoulder and stays upright."""
    nothing, one = torch.zeros_like(yaw), torch.ones_like(yaw)
    axes = torch.stack(
        [
            per_image(yaw.cos(), yaw.sin(), nothing),
            per_image(-yaw.sin(), yaw.cos(), nothing),
            per_image(nothing, nothing, one),
        ]
    )
    seen = moved(rays, hand, axes)
    s, kind = (0.24 + 0.10 * levels[:, 2])[:, None, None], levels[:, 1, None, None]
    found = box(seen, torch.stack([-0.9 * s] * 3), torch.stack([0.9 * s] * 3))
    cone = nearest(round_side(seen, 1.1 * s, -s, 1.2 * s, 0.5), disc(seen, 1.1 * s, -s, -1.0))
    for k, hit in enumerate((cylinder(seen, 0.85 * s, -s, s), sphere(seen, 0 * seen.origin, 1.1 * s), cone)):
        found = Hit(*(torch.where(kind == k + 1, a, b) for a, b in zip(hit, found, strict=True)))
    return back(found, axes)


def _scenery(rays: Rays, levels: Int[Tensor, "n 7"]) -> Float[Tensor, "3 n H W"]:
    """Return the wall, and the table before it."""
    down = torch.where(rays.way[2] < -1e-3, -rays.origin[2] / rays.way[2].clamp(max=-1e-3), 1e3)
    x, y, _ = rays.at(down)
    table, wall = _rgb([_TABLE], 0 * levels[:, 4]), _rgb(_BACKGROUNDS, levels[:, 4])
    return torch.where((y < 2.0) & (x.abs() < 1e2), table, wall)
