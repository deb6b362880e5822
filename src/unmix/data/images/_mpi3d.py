"""Twin of MPI3D: a robot's arm that holds an object, rendered from seven factors."""

import math

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor
from torch.nn import functional as F

from .._factors import FactorDataset
from ._colour import as_bytes
from ._rays import Hit, Rays, averaged, back, camera, inside, met_first, moved, near, nearest, per_image
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
_FIXED = ((0.55, 0.55, 0.57), (0.80, 0.80, 0.82), (0.20, 0.20, 0.22))  # colours of table, metal and joints
_WALL, _TABLE, _METAL, _JOINT, _OBJECT = (float(k) for k in range(5))  # what a ray meets
_SHOULDER, _UPPER, _LOWER = 0.55, 0.85, 0.80  # height of the shoulder; lengths of the arm's two parts
_RAYS = {16: 64, 32: 96, 64: 192, 128: 256}  # along a side of the picture
_RECOLOURED = ("object_color", "background_color")


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

    The two colours change no geometry: rays are cast once for the images of a call that differ in these
    alone, a twelfth of them for all images.

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
    return twin(
        paint,
        FACTORS,
        n_samples=n_samples,
        size=size,
        random_state=random_state,
        work=100,
        recoloured=_RECOLOURED,
    )


def paint(levels: Int[Tensor, "n 7"], *, size: int) -> UInt8[Tensor, "n size size 3"]:
    """Cast rays at each arm that is different, and colour the images of it."""
    bare = levels.clone()
    bare[:, [list(FACTORS).index(name) for name in _RECOLOURED]] = 0
    arms, which = torch.unique(bare, dim=0, return_inverse=True)
    kind, light = _cast(arms, size)
    same = _same(kind, size)
    kind, light = _by_pixel(kind, size), _by_pixel(light, size)
    images = torch.empty(len(levels), size, size, 3, dtype=torch.uint8, device=levels.device)
    few = len(arms)  # images at a time: those that the caller has memory for
    for some, of, asked in zip(images.split(few), which.split(few), levels.split(few), strict=True):
        colours = _palette(asked)
        some[:] = _plain(same[of], colours, kind.shape[-1])
        image, *at = (same[of] < 0).nonzero(as_tuple=True)
        rays = of[image], *at
        some[image, *at] = _mixed(kind[rays], light[rays], colours[image])
    return images


def _cast(arms: Int[Tensor, "g 7"], size: int) -> Float[Tensor, "2 g H W"]:
    """Return what each ray meets, and how bright it is there."""
    up = torch.deg2rad(12.0 + 14.0 * arms[:, 3])
    eye = 6.0 * per_image(torch.zeros_like(up), -up.cos(), up.sin())
    rays = camera(eye, (0.0, 0.0, 0.72), view=34.0, rays=_RAYS[size])
    _, shoulder, elbow, hand = _joints(arms)
    reach = near(rays, 0.5 * shoulder, 0.52) | near(rays, hand, 0.62)
    reach |= near(rays, (shoulder + elbow) / 2, _UPPER / 2 + 0.1)
    reach |= near(rays, (elbow + hand) / 2, _LOWER / 2 + 0.14)
    scenery = _scenery(rays)
    return inside(torch.stack([scenery, torch.ones_like(scenery)]), rays, reach, arms, _met)


def _met(rays: Rays, arms: Int[Tensor, "g 7"]) -> Float[Tensor, "2 g H W"]:
    """Return what rays meet: foot, post, arm, object, or what is behind them."""
    yaw, shoulder, elbow, hand = _joints(arms)
    one = torch.ones_like(yaw)[:, None, None]
    parts = [
        (cylinder(rays, 0.42 * one, 0 * one, 0.1 * one), _JOINT),
        (cylinder(rays, 0.14 * one, 0.1 * one, _SHOULDER * one), _METAL),
        (sphere(rays, shoulder, 0.19 * one), _JOINT),
        (capsule(rays, shoulder, elbow, 0.09), _METAL),
        (capsule(rays, elbow, hand, 0.075), _METAL),
        (sphere(rays, elbow, 0.13 * one), _JOINT),
        (_object(rays, hand, yaw, arms), _OBJECT),
    ]
    kind, light = met_first(rays, _scenery(rays)[None], parts)
    return torch.cat([kind, light[None]])


def _by_pixel(rays: Float[Tensor, "g H W"], size: int) -> Float[Tensor, "g size size k k"]:
    """Return the rays within each pixel."""
    return rays.unflatten(2, (size, -1)).unflatten(1, (size, -1)).transpose(2, 3)


def _same(kind: Float[Tensor, "g H W"], size: int) -> Float[Tensor, "g size size"]:
    """Return what a pixel shows where all of its rays meet the wall, or all the table; elsewhere -1."""
    k = kind.shape[-1] // size
    most, least = F.max_pool2d(kind[:, None], k)[:, 0], -F.max_pool2d(-kind[:, None], k)[:, 0]
    return torch.where((least == most) & (most <= _TABLE), most, -1.0)


def _palette(levels: Int[Tensor, "n 7"]) -> Float[Tensor, "n 5 3"]:
    """Return the colours of whatever a ray may meet."""
    walls, fixed, objects = (
        torch.tensor(rgb, device=levels.device) for rgb in (_BACKGROUNDS, _FIXED, _COLOURS)
    )
    same = fixed.expand(len(levels), -1, -1)
    return torch.cat([walls[levels[:, 4], None], same, objects[levels[:, 0], None]], 1)


def _plain(same: Float[Tensor, "n h w"], colours: Float[Tensor, "n 5 3"], k: int) -> UInt8[Tensor, "n h w 3"]:
    """Return the wall and the table, each of one colour."""
    # averaged as all other pixels are: the mean of nine equal numbers may have another last bit
    wall, table = _bytes(colours[:, :2].transpose(0, 1)[..., None, None].expand(-1, -1, -1, k, k))
    return torch.where((same == _TABLE)[..., None], table[:, None, None], wall[:, None, None])


def _mixed(
    kind: Float[Tensor, "m k k"], light: Float[Tensor, "m k k"], colours: Float[Tensor, "m 5 3"]
) -> UInt8[Tensor, "m 3"]:
    """Return the mean of the rays within pixels.

    They are coloured one by one: brightness that was averaged first, and coloured then, would differ in its
    last bits, and so would some pixels by a grey level.
    """
    chosen = kind.long().flatten(1)[..., None].expand(-1, -1, 3)
    rgb = colours.gather(1, chosen).transpose(1, 2).unflatten(2, kind.shape[1:])
    return _bytes(rgb * light[:, None])


def _bytes(rays: Float[Tensor, "*n 3 k k"]) -> UInt8[Tensor, "*n 3"]:
    """Average pixels that are pictures of their own."""
    return as_bytes(averaged(rays.flatten(0, -4), 1)).view(rays.shape[:-2])


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


def _scenery(rays: Rays) -> Float[Tensor, "g H W"]:
    """Tell the wall from the table before it."""
    down = torch.where(rays.way[2] < -1e-3, -rays.origin[2] / rays.way[2].clamp(max=-1e-3), 1e3)
    x, y, _ = rays.at(down)
    return torch.where((y < 2.0) & (x.abs() < 1e2), _TABLE, _WALL)
