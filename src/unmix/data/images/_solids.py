"""Solids that rays can meet: balls, boxes and other hulls, cylinders, cones and rods."""

import torch
from torch import Tensor

from ._rays import FAR, Hit, Rays, dot, nearest, unit

_NEAR, _FLAT = 1e-4, 1e-9  # what lies behind the eye; a slope that counts as none


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
