"""Twin of Shapes3D: an object in a room, rendered from six factors."""

from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from .._factors import FactorDataset
from ._colour import hues
from ._rays import Hit, Rays, averaged, camera, dot, nearest, per_image, unit
from ._solids import box, cylinder, round_side, sphere
from ._twin import twin

FACTORS = {"floor_hue": 10, "wall_hue": 10, "object_hue": 10, "scale": 8, "shape": 4, "orientation": 15}
_ROOM = 2.6  # half its width; the camera turns about the object, inside the room
_LIGHT = (-0.55, -0.75, 1.25)  # towards the light
_AMBIENT, _DIFFUSE, _SHADED = 0.42, 0.55, 0.45  # light from everywhere, from the lamp, and what shadow leaves
_RAYS = {16: 128, 32: 160, 64: 256, 128: 384}  # along a side of the picture


def shapes3d(
    n_samples: int | None = None,
    *,
    size: int = 64,
    random_state: int | np.random.Generator | None = None,
) -> FactorDataset:
    """Render the twin of Shapes3D: 480,000 images of an object in a room, each different.

    Factors are as in the public set: hues of floor, wall and object (0, .1, ..., .9), scale (.75 to 1.25 in
    eight steps), shape (cube, cylinder, sphere, capsule) and orientation of the room (-30° to 30° in fifteen
    steps). Camera, light and proportions are ours.

    Only scale, shape and orientation change the geometry: an image is the sum of how bright floor, wall and
    object are at each pixel, times their colours, and of a highlight. So 480 geometries are cast once, when
    they are needed, and any image is made from them.

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
    Burgess & Kim, 3D Shapes Dataset, 2018.

    Examples
    --------
    >>> data = shapes3d(size=16)
    >>> len(data), data.images.shape, data.sizes
    (480000, (480000, 16, 16, 3), (10, 10, 10, 8, 4, 15))
    >>> red_floor = data.sample(3, {"floor_hue": 0}, random_state=0)
    >>> red_floor.images[:, 15, 7].argmax(1).tolist()
    [0, 0, 0]
    """
    return twin(paint, FACTORS, n_samples=n_samples, size=size, random_state=random_state, work=8)


def paint(levels: Int[Tensor, "n 6"], *, size: int) -> UInt8[Tensor, "n size size 3"]:
    """Colour the geometries."""
    scale, shape, turn = levels[:, 3:].T
    maps = _shades(size, str(levels.device))((scale * 4 + shape) * 15 + turn)
    colours = 255 * hues(levels[:, :3] / 10)
    images = torch.empty(len(levels), size, size, 3, dtype=torch.uint8, device=levels.device)
    for channel in range(3):
        plane = maps[:, 3] + 0.5  # bytes are cut off, not rounded
        for part in range(3):
            plane.addcmul_(maps[:, part], colours[:, part, channel, None, None])
        images[..., channel] = plane.clamp_(0, 255.5)
    return images


class _Shades:
    """Brightness of floor, wall and object, and the highlight, for geometries that were asked for so far."""

    def __init__(self, size: int, device: str) -> None:
        self.size = size
        self.maps = torch.zeros(480, 4, size, size, device=device)
        self.known = torch.zeros(480, dtype=torch.bool)

    def __call__(self, geometries: Int[Tensor, "n"]) -> Float[Tensor, "n 4 size size"]:
        if not self.known.all():
            wanted = geometries.cpu().unique()
            for kind in range(4):
                new = wanted[~self.known[wanted] & (wanted // 15 % 4 == kind)]
                for part in new.split(1 if self.maps.device.type == "cpu" else 120):
                    self.maps[part] = _cast(part, kind, self.size, self.maps.device)
            self.known[wanted] = True
        return self.maps[geometries]


_shades = lru_cache(maxsize=4)(_Shades)


def _cast(
    geometries: Int[Tensor, "n"], kind: int, size: int, device: torch.device
) -> Float[Tensor, "n 4 size size"]:
    """Cast rays into the room of one kind of object, and average the light that they find on its parts."""
    # torch.unravel_index would import a computer algebra system, which takes longer than all the casting
    scale, turn = ((geometries // n % m).float().to(device) for n, m in ((60, 8), (1, 15)))
    angle = torch.deg2rad(-30 + turn * 60 / 14)
    eye = per_image(4.2 * angle.sin(), -4.2 * angle.cos(), torch.full_like(angle, 1.95))
    rays = camera(eye, (0.0, 0.0, 0.62), view=38.0, rays=_RAYS[size])
    grown = (0.75 + scale * 0.5 / 7)[:, None, None]
    light = unit(torch.tensor(_LIGHT, device=eye.device))[:, None, None, None]
    room = _room(rays)
    found = _OBJECTS[kind](rays, grown)
    on_object = found.distance < room.distance
    bounce = Rays(rays.at(room.distance) + 1e-3 * light, light.expand_as(rays.way))
    lit = torch.where(_OBJECTS[kind](bounce, grown).met, _SHADED, 1.0)
    plain = _AMBIENT + 0.08 * (room.normal[2] == 0) + _DIFFUSE * dot(room.normal, light).clamp(min=0) * lit
    floor = ~on_object & (room.normal[2] > 0)
    body, shine = _surface(rays, found, light)
    maps = [plain * floor, plain * (~floor & ~on_object), body * on_object, 255 * shine * on_object]
    return averaged(torch.stack(maps, 1), size)


def _surface(rays: Rays, found: Hit, light: Tensor) -> tuple[Tensor, Tensor]:
    """Return how much of its own colour the object shows, and how much of the lamp."""
    normal = torch.where(found.met, found.normal, light)  # without a hit it could overflow below
    towards = dot(normal, light)
    facing = -dot(normal, rays.way)
    mirrored = dot(2 * towards * normal - light, rays.way)
    body = 0.75 * _AMBIENT + (_DIFFUSE + 0.1) * towards.clamp(min=0) + 0.1 * facing.clamp(min=0)
    return body, 0.25 * (-mirrored).clamp(min=0) ** 24


def _room(rays: Rays) -> Hit:
    """Meet the floor, the wall behind and those to the left and right."""
    x, y, z = rays.way
    floor = torch.where(z < -1e-6, -rays.origin[2] / z.clamp(max=-1e-6), 1e6)
    behind = torch.where(y > 1e-6, (_ROOM - rays.origin[1]) / y.clamp(min=1e-6), 1e6)
    beside = torch.where(x.abs() > 1e-6, (x.sign() * _ROOM - rays.origin[0]) / x, 1e6)
    nothing = torch.zeros_like(x)
    return nearest(
        Hit(floor, torch.stack([nothing, nothing, nothing + 1])),
        Hit(behind, torch.stack([nothing, nothing - 1, nothing])),
        Hit(beside, torch.stack([-x.sign(), nothing, nothing])),
    )


def _cube(rays: Rays, s: Tensor) -> Hit:
    return box(rays, torch.stack([-0.52 * s, -0.52 * s, 0 * s]), torch.stack([0.52 * s, 0.52 * s, 1.04 * s]))


def _can(rays: Rays, s: Tensor) -> Hit:
    return cylinder(rays, 0.58 * s, 0 * s, 1.04 * s)


def _ball(rays: Rays, s: Tensor) -> Hit:
    return sphere(rays, torch.stack([0 * s, 0 * s, 0.62 * s]), 0.62 * s)


def _capsule(rays: Rays, s: Tensor) -> Hit:
    radius, low, high = 0.42 * s, 0.42 * s, 1.03 * s
    ends = [sphere(rays, torch.stack([0 * s, 0 * s, end]), radius) for end in (low, high)]
    return nearest(round_side(rays, radius, low, high), *ends)


_OBJECTS = (_cube, _can, _ball, _capsule)  # that stand on the floor at the origin
