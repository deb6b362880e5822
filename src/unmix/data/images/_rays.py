"""Rays: a camera, what rays meet first, and the colour that they find.

Vectors have their components first, shape (3, n, h, w), so that arithmetic runs over whole pictures. There is
no product of matrices in it, which a GPU would be free to round to ten bits.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

FAR = 1e6  # where rays that meet nothing end
_LIGHT = (-0.5, -0.7, 1.3)  # towards the light that `painted` uses

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


def painted(rays: Rays, background: Tensor, parts: list[tuple[Hit, Tensor]]) -> Float[Tensor, "3 n H W"]:
    """Return the colour that each ray finds: that of the nearest part, in the light, or the background.

    Parameters
    ----------
    rays : Rays
    background : Tensor of shape (3, n, H, W)
    parts : list of (Hit, Tensor of shape (3, ...))
        What there is to meet, and its colour.
    """
    colour, light = met_first(rays, background, parts)
    return colour * light


def met_first(
    rays: Rays, background: Tensor, parts: Sequence[tuple[Hit, Tensor | float]]
) -> tuple[Float[Tensor, "k n H W"], Float[Tensor, "n H W"]]:
    """Return what each ray meets first, by its mark, and how bright it is there; the background is as it is.

    Parameters
    ----------
    rays : Rays
    background : Tensor of shape (k, n, H, W)
        Marks of what is behind everything: colours, or anything else.
    parts : sequence of (Hit, Tensor of shape (k, ...) or float)
        What there is to meet, and its mark.
    """
    first = Hit(torch.full_like(rays.way[0], FAR), torch.zeros_like(rays.way))
    mark = background
    for hit, own in parts:
        closer = hit.distance < first.distance
        mark = torch.where(closer, own, mark)
        first = Hit(
            torch.where(closer, hit.distance, first.distance), torch.where(closer, hit.normal, first.normal)
        )
    light = unit(torch.tensor(_LIGHT, device=rays.way.device))[:, None, None, None]
    lit = 0.45 + 0.45 * dot(first.normal, light).clamp(min=0) - 0.15 * dot(first.normal, rays.way)
    return mark, torch.where(first.met, lit, 1.0)


def inside(
    picture: Float[Tensor, "k n H W"],
    rays: Rays,
    reach: Tensor,
    about: Tensor,
    paint: Callable[[Rays, Tensor], Tensor],
) -> Float[Tensor, "k n H W"]:
    """Paint only the rays that may meet something: each of them as a picture of its own, of one pixel.

    Parameters
    ----------
    picture : Tensor of shape (k, n, H, W)
        What all others show.
    rays : Rays
    reach : bool Tensor of shape (n, H, W)
        Which rays may meet something.
    about : Tensor of shape (n, ...)
        What is known of each image.
    paint : callable
        Takes rays and what is known of the image of each, and returns what they show.
    """
    origin = rays.origin.expand_as(rays.way)[:, reach]
    few = Rays(origin[..., None, None], rays.way[:, reach][..., None, None])
    picture = picture.clone()
    picture[:, reach] = paint(few, about[reach.nonzero()[:, 0]])[..., 0, 0]
    return picture


def near(rays: Rays, centre: Tensor, radius: Tensor | float) -> Tensor:
    """Whether rays pass a point within a distance."""
    start = centre - rays.origin
    return dot(start, start) - dot(start, rays.way) ** 2 < radius**2


def averaged(maps: Float[Tensor, "n k H W"], size: int) -> Float[Tensor, "n k h w"]:
    """Average the rays within each pixel."""
    return F.avg_pool2d(maps, maps.shape[-1] // size)
