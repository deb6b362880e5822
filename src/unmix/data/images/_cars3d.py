"""Twin of Cars3D: cars of many types, seen from many sides, rendered from three factors."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from .._factors import FactorDataset
from ._colour import as_bytes, hues
from ._rays import Hit, Rays, averaged, camera, inside, painted, per_image
from ._solids import box, cylinder, hull
from ._twin import twin

FACTORS = {"elevation": 4, "azimuth": 24, "object_type": 183}
_STYLES = (  # where the cabin begins and ends (shares of the length from the rear), slopes of its two ends
    (0.22, 0.72, 0.55, 0.75),  # saloon
    (0.04, 0.68, 0.25, 0.70),  # hatchback
    (0.02, 0.90, 0.05, 0.45),  # van
    (0.42, 0.74, 0.05, 0.60),  # pickup
    (0.14, 0.62, 1.10, 1.00),  # coupé
)
_RANGES = ((3.4, 5.0), (1.55, 2.0), (0.28, 0.42), (0.50, 0.80), (0.40, 0.72), (0.29, 0.33))  # metres, share
_ROOT = 1.1127756842787055  # of x^7 = x + 1: its powers spread points evenly
_RAYS = {16: 64, 32: 96, 64: 192, 128: 256}  # along a side of the picture
_GLASS, _TYRE, _RIM = (0.16, 0.20, 0.26), (0.10, 0.10, 0.11), (0.62, 0.62, 0.65)
_FRONT, _REAR = (1.6, 1.5, 1.1), (1.2, 0.05, 0.05)  # lamps


def cars3d(
    n_samples: int | None = None,
    *,
    size: int = 64,
    random_state: int | np.random.Generator | None = None,
) -> FactorDataset:
    """Render a twin of Cars3D: 17,568 images of cars on white, each different.

    Factors and their numbers of values are those of the public set: elevation of the camera (4), azimuth
    (24, every 15°) and type (183). The cars are ours: a body, a cabin with windows, wheels and lamps, whose
    proportions, style (saloon, hatchback, van, pickup, coupé) and paint depend on the type.

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
    Reed, Zhang, Zhang & Lee, Deep visual analogy-making, 2015.

    Examples
    --------
    >>> data = cars3d(size=32)
    >>> len(data), data.sizes
    (17568, (4, 24, 183))
    >>> behind, before = data.render([[1, 12, 7], [1, 0, 7]])
    >>> bool((behind != before).any())
    True
    """
    return twin(paint, FACTORS, n_samples=n_samples, size=size, random_state=random_state, work=100)


def paint(levels: Int[Tensor, "n 3"], *, size: int) -> UInt8[Tensor, "n size size 3"]:
    """Cast rays at the car of each image."""
    elevation, azimuth, kind = levels.T
    up = torch.deg2rad(8.0 + 14.0 * elevation)
    around = azimuth * 2 * math.pi / 24
    eye = 9.5 * per_image(up.cos() * around.cos(), up.cos() * around.sin(), up.sin())
    rays = camera(eye, (0.0, 0.0, 0.55), view=34.0, rays=_RAYS[size])
    car = _car(kind)
    half, side = car.length / 2 + 0.01, 0.55 * car.width
    reach = box(rays, torch.stack([-half, -side, 0 * half]), torch.stack([half, side, car.roof + 0.01])).met
    colours = inside(_ground(rays, car), rays, reach, kind, _colours)
    return as_bytes(averaged(colours.transpose(0, 1), size)).permute(0, 2, 3, 1)


def _colours(rays: Rays, kind: Int[Tensor, "n"]) -> Float[Tensor, "3 n H W"]:
    car = _car(kind)
    return painted(rays, _ground(rays, car), [*_body(rays, car), *_cabin(rays, car), *_wheels(rays, car)])


class _Car(NamedTuple):
    """Measures of cars, in metres; x is forwards, and the ground at 0."""

    length: Tensor
    width: Tensor
    floor: Tensor
    belt: Tensor
    roof: Tensor
    rear: Tensor
    front: Tensor
    rear_slope: Tensor
    front_slope: Tensor
    wheel: Tensor
    base: Tensor
    paint: Tensor


def _car(kind: Int[Tensor, "n"]) -> _Car:
    measures = (part[kind][:, None, None] for part in _measures(str(kind.device)))
    return _Car._make([*measures, _paints(kind)])


@lru_cache(maxsize=2)
def _measures(device: str) -> tuple[Tensor, ...]:
    """Return the measures of all types: evenly spread numbers, so that no two are alike."""
    kinds = torch.arange(183, dtype=torch.float64)[:, None]
    even = (0.5 + (kinds + 1) / _ROOT ** torch.arange(1, 7)) % 1
    spread = [low + (high - low) * part for (low, high), part in zip(_RANGES, even.T.float(), strict=True)]
    length, width, wheel, body, cabin, base = spread
    style = torch.tensor(_STYLES)[torch.arange(183) % len(_STYLES)]
    rear, front = (share * length - length / 2 for share in style[:, :2].T)
    floor = 0.55 * wheel
    belt = torch.maximum(floor + body, 2 * wheel + 0.06)  # wheels stay below it
    shell = length, width, floor, belt, belt + cabin, rear, front
    return tuple(part.to(device) for part in (*shell, *style[:, 2:].T, wheel, base * length))


def _paints(kind: Int[Tensor, "n"]) -> Float[Tensor, "3 n 1 1"]:
    """Return the colour of each type: eleven hues and a few paler or darker ones of each."""
    hue, depth = (kind * 7 % 11) / 11, kind * 5 % 6
    pale, value = 0.55 * (depth % 3) / 2, 1.0 - 0.35 * (depth // 3)
    colour = value[:, None] * (hues(hue) * (1 - pale[:, None]) + pale[:, None])
    return colour.T[..., None, None]


def _colour(rgb: tuple[float, float, float], like: Tensor) -> Tensor:
    return torch.tensor(rgb, device=like.device)[:, None, None, None]


def _body(rays: Rays, car: _Car) -> list[tuple[Hit, Tensor]]:
    """Meet the lower body, with lamps at both of its ends."""
    half, side = car.length / 2, car.width / 2
    hit = box(rays, torch.stack([-half, -side, car.floor]), torch.stack([half, side, car.belt]))
    _, y, z = rays.at(hit.distance)
    height = (z - car.floor) / (car.belt - car.floor)
    lamp = (y.abs() > 0.55 * side) & (height > 0.5) & (height < 0.85)
    ends = hit.normal[0]
    colour = torch.where(lamp & (ends > 0.5), _colour(_FRONT, y), car.paint)
    return [(hit, torch.where(lamp & (ends < -0.5), _colour(_REAR, y), colour))]


def _cabin(rays: Rays, car: _Car) -> list[tuple[Hit, Tensor]]:
    """Meet the cabin: a roof of the car's colour over windows, narrower above than below."""
    nothing, one = torch.zeros_like(car.rear_slope), torch.ones_like(car.rear_slope)
    planes = [  # normal, and a point of the plane
        ((-one, nothing, car.rear_slope), (car.rear, nothing, car.belt)),
        ((one, nothing, car.front_slope), (car.front, nothing, car.belt)),
        ((nothing, one, 0.25 * one), (nothing, 0.47 * car.width, car.belt)),
        ((nothing, -one, 0.25 * one), (nothing, -0.47 * car.width, car.belt)),
        ((nothing, nothing, one), (nothing, nothing, car.roof)),
        ((nothing, nothing, -one), (nothing, nothing, car.belt)),
    ]
    normals = torch.stack([torch.stack(normal) for normal, _ in planes])
    normals = normals / normals.square().sum(1, keepdim=True).sqrt()
    offsets = (normals * torch.stack([torch.stack(point) for _, point in planes])).sum(1)
    hit = hull(rays, normals, offsets)
    z = rays.at(hit.distance)[2]
    share = (z - car.belt) / (car.roof - car.belt)
    window = (hit.normal[2] < 0.9) & (share > 0.1) & (share < 0.85)
    return [(hit, torch.where(window, _colour(_GLASS, z), car.paint))]


def _wheels(rays: Rays, car: _Car) -> list[tuple[Hit, Tensor]]:
    """Meet four wheels with bright rims."""
    parts = []
    for along in (-1, 1):
        for across in (-1, 1):
            middle = torch.stack([along * car.base, across * 0.44 * car.width, car.wheel])
            (x, y, z), (u, v, w) = rays.origin - middle, rays.way
            lying = Rays(torch.stack(torch.broadcast_tensors(z, x, y)), torch.stack([w, u, v]))
            hit = cylinder(lying, car.wheel, -0.08 * car.width, 0.08 * car.width)
            normal = torch.stack([hit.normal[1], hit.normal[2], hit.normal[0]])
            p, q, _ = lying.at(hit.distance)
            rim = (p**2 + q**2 < (0.55 * car.wheel) ** 2) & (normal[1].abs() > 0.5)
            colour = torch.where(rim, _colour(_RIM, p), _colour(_TYRE, p))
            parts.append((Hit(hit.distance, normal), colour))
    return parts


def _ground(rays: Rays, car: _Car) -> Float[Tensor, "3 n H W"]:
    """Return white with a soft shadow below the car."""
    down = torch.where(rays.way[2] < -1e-3, -rays.origin[2] / rays.way[2].clamp(max=-1e-3), 1e3)
    x, y, _ = rays.at(down)
    outside = torch.maximum(x.abs() - car.length / 2, y.abs() - car.width / 2)
    return (1 - 0.5 * torch.sigmoid(-8 * outside)).expand(3, *outside.shape)
