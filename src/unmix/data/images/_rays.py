"""Ray casting of simple solids: a camera, where rays meet a solid, and which solid is nearest.

Vectors have their components first, shape (3, n, h, w), so that arithmetic runs over whole pictures. There is
no product of matrices in it, which a GPU would be free to round to ten bits.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

FAR = 1e6  # where rays that meet nothing end
_LIGHT = (-0.5, -0.7, 1.3)  # towards the light that `painted` uses
_NEAR, _FLAT = 1e-4, 1e-9  # what lies behind the eye; a slope that counts as none

Vectors = Float[Tensor, "3 *n"]


class Rays(NamedTuple):
    """Half-lines of some images, from an origin into a direction of length 1."""

    origin: Vectors
    way: Vectors

    def at(self, distance: Float[Tensor, "*n"]) -> Vectors:
        """Return the points at a distance; those of rays that meet nothing stay finite."""
        return self.origin + distance.clamp(max=1e3) * self.way


class Hit(NamedTuple):
    """How far rays go until they meet a solid (`FAR` where they do not), and the normal where they do."""

    distance: Float[Tensor, "*n"]
    normal: Vectors

    @property
    def met(self) -> Tensor:
        """Which rays meet it."""
        return self.distance < FAR / 2


def dot(a: Tensor, b: Tensor) -> Tensor:
    """Return the inner product of vectors whose components come first."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def unit(v: Tensor) -> Tensor:
    """Return vectors of length 1."""
    return v / dot(v, v).sqrt()


def per_image(*parts: Tensor) -> Tensor:
    """Return vectors with one value for each image, from components of shape (n,)."""
    return torch.stack(torch.broadcast_tensors(*parts))[..., None, None]


def camera(eye: Float[Tensor, "3 n 1 1"], aim: tuple[float, float, float], *, view: float, rays: int) -> Rays:
    """Return the rays through a square picture.

    Parameters
    ----------
    eye : Tensor of shape (3, n, 1, 1)
        Where the camera is.
    aim : tuple of float
        The point in the middle of the picture.
    view : float
        Angle between the left and the right rim, in degrees.
    rays : int
        Along each side of the picture.
    """
    towards = torch.tensor(aim, device=eye.device)[:, None, None, None]
    ahead = unit(towards - eye)
    right = unit(torch.stack([ahead[1], -ahead[0], torch.zeros_like(ahead[2])]))
    above = torch.linalg.cross(right, ahead, dim=0)
    at = (torch.arange(rays, device=eye.device) + 0.5) / rays * 2 - 1
    half = math.tan(math.radians(view) / 2)
    return Rays(eye, unit(ahead + half * (at * right - at[:, None] * above)))


def nearest(*hits: Hit) -> Hit:
    """Return, for each ray, the hit that comes first."""
    found = hits[0]
    for hit in hits[1:]:
        closer = hit.distance < found.distance
        normal = torch.where(closer, hit.normal, found.normal)
        found = Hit(torch.where(closer, hit.distance, found.distance), normal)
    return found


def moved(rays: Rays, origin: Tensor, axes: Tensor) -> Rays:
    """Return rays as seen from a solid: from its origin, along its three axes, shape (3 axes, 3, ...)."""
    start = rays.origin - origin
    return Rays(*(torch.stack([dot(v, axis) for axis in axes]) for v in (start, rays.way)))


def back(hit: Hit, axes: Tensor) -> Hit:
    """Return a hit of `moved` rays with its normal as everybody else sees it."""
    return Hit(hit.distance, sum(part * axis for part, axis in zip(hit.normal, axes, strict=True)))  # type: ignore[arg-type]


def sphere(rays: Rays, centre: Tensor, radius: Tensor) -> Hit:
    """Meet a ball."""
    start = rays.origin - centre
    along = dot(start, rays.way)
    inside = along**2 - dot(start, start) + radius**2
    distance = -along - inside.clamp(min=0).sqrt()
    distance = torch.where((inside > 0) & (distance > _NEAR), distance, FAR)
    return Hit(distance, (start + distance.clamp(max=1e3) * rays.way) / radius)


def hull(rays: Rays, normals: Tensor, offsets: Tensor) -> Hit:
    """Meet the solid within the planes x · normal <= offset: a box, a wedge, a pyramid.

    Parameters
    ----------
    rays : Rays
    normals : Tensor of shape (k, 3) or (k, 3, n, 1, 1)
        Of length 1, outwards.
    offsets : Tensor of shape (k, n, 1, 1)
    """
    normals = normals[:, :, None, None, None] if normals.ndim == 2 else normals
    enter, leave = torch.full_like(rays.way[0], -FAR), torch.full_like(rays.way[0], FAR)
    facing = torch.zeros_like(rays.way)
    for normal, offset in zip(normals, offsets, strict=True):
        slope = dot(rays.way, normal)
        slope = torch.where(slope.abs() < _FLAT, _FLAT, slope)
        crossing = (offset - dot(rays.origin, normal)) / slope
        later = (slope < 0) & (crossing > enter)
        enter = torch.where(later, crossing, enter)
        facing = torch.where(later, normal, facing)
        leave = torch.where(slope > 0, torch.minimum(leave, crossing), leave)
    return Hit(torch.where((leave >= enter) & (enter > _NEAR), enter, FAR), facing)


def box(rays: Rays, low: Tensor, high: Tensor) -> Hit:
    """Meet a box along the axes, given by two corners of shape (3, n, 1, 1)."""
    sides = torch.eye(3, device=rays.way.device)
    return hull(rays, torch.cat([sides, -sides]), torch.cat([high, -low]))


def round_side(rays: Rays, radius: Tensor, low: Tensor, high: Tensor, narrowing: Tensor | float = 0.0) -> Hit:
    """Meet the side of an upright cylinder, or of a cone whose radius shrinks by `narrowing` per height.

    Rays must be less steep than the side of the cone.
    """
    (x, y, z), (u, v, w) = rays.origin, rays.way
    reach = radius - narrowing * (z - low)
    a = u**2 + v**2 - (narrowing * w) ** 2
    b = x * u + y * v + reach * narrowing * w
    inside = b**2 - a * (x**2 + y**2 - reach**2)
    distance = (-b - inside.clamp(min=0).sqrt()) / torch.where(a.abs() < _FLAT, _FLAT, a)
    height = z + distance * w
    there = (inside > 0) & (distance > _NEAR) & (height >= low) & (height <= high)
    distance = torch.where(there, distance, FAR)
    x, y, _ = rays.at(distance)
    return Hit(distance, unit(torch.stack([x, y, narrowing * (x**2 + y**2).sqrt() + _FLAT])))


def disc(rays: Rays, radius: Tensor, height: Tensor, facing: float = 1.0) -> Hit:
    """Meet a level disc about the z axis."""
    slope = torch.where(rays.way[2].abs() < _FLAT, _FLAT, rays.way[2])
    distance = (height - rays.origin[2]) / slope
    x, y, _ = rays.origin + distance * rays.way
    distance = torch.where((distance > _NEAR) & (x**2 + y**2 <= radius**2), distance, FAR)
    up = torch.tensor([0.0, 0.0, facing], device=distance.device).view(3, *[1] * distance.ndim)
    return Hit(distance, up.expand(3, *distance.shape))


def cylinder(rays: Rays, radius: Tensor, low: Tensor, high: Tensor) -> Hit:
    """Meet an upright cylinder with both of its ends."""
    ends = disc(rays, radius, high), disc(rays, radius, low, -1.0)
    return nearest(round_side(rays, radius, low, high), *ends)


def capsule(rays: Rays, start: Tensor, end: Tensor, radius: float) -> Hit:
    """Meet a rod with round ends."""
    axis, source = end - start, rays.origin - start
    length, along = dot(axis, axis), dot(axis, rays.way)
    offset = dot(axis, source)
    a = length - along**2
    b = length * dot(source, rays.way) - offset * along
    c = length * dot(source, source) - offset**2 - radius**2 * length
    inside = b**2 - a * c
    distance = (-b - inside.clamp(min=0).sqrt()) / a.clamp(min=_FLAT)
    share = (offset + distance * along) / length
    met = (inside > 0) & (distance > _NEAR) & (share > 0) & (share < 1)
    distance = torch.where(met, distance, FAR)
    side = Hit(distance, (source + distance.clamp(max=1e3) * rays.way - share.clamp(0, 1) * axis) / radius)
    round_ends = (sphere(rays, point, torch.full_like(length, radius)) for point in (start, end))
    return nearest(side, *round_ends)


def painted(rays: Rays, background: Tensor, parts: list[tuple[Hit, Tensor]]) -> Float[Tensor, "3 n H W"]:
    """Return the colour that each ray finds: that of the nearest part, in the light, or the background.

    Parameters
    ----------
    rays : Rays
    background : Tensor of shape (3, n, H, W)
    parts : list of (Hit, Tensor of shape (3, ...))
        What there is to meet, and its colour.
    """
    found = Hit(torch.full_like(rays.way[0], FAR), torch.zeros_like(rays.way))
    colour = background
    for hit, own in parts:
        closer = hit.distance < found.distance
        colour = torch.where(closer, own, colour)
        found = Hit(
            torch.where(closer, hit.distance, found.distance), torch.where(closer, hit.normal, found.normal)
        )
    light = unit(torch.tensor(_LIGHT, device=rays.way.device))[:, None, None, None]
    lit = 0.45 + 0.45 * dot(found.normal, light).clamp(min=0) - 0.15 * dot(found.normal, rays.way)
    return torch.where(found.met, colour * lit, colour)


def averaged(maps: Float[Tensor, "n k H W"], size: int) -> Float[Tensor, "n k h w"]:
    """Average the rays within each pixel."""
    return F.avg_pool2d(maps, maps.shape[-1] // size)
