"""What a decoder shows while latents move, are swapped, or rise a little: arrays, and nothing drawn."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from unmix._findings import ability

from ._pixels import LEVEL, brightness

QUANTILES = (0.02, 0.98)
MOST_VALUES = 64  # of a latent that counts as discrete
_PART = 32  # images that pass through a network at a time
MOST = 300  # images that tell where the latents live
_SAME = 1e-3  # by which a code may change on its way through all steps of a pipeline and back

Decode = Callable[[np.ndarray], Any]


class Strip(NamedTuple):
    """One latent on its way: its values, which of them is the image's own, and the picture at each."""

    latent: int
    values: np.ndarray
    here: int
    pictures: np.ndarray

    @property
    def strength(self) -> float:
        """How far the pixels move from the image's own reconstruction, the root of the mean square."""
        moved = np.delete(self.pictures, self.here, 0) - self.pictures[self.here]
        return float(np.sqrt(np.square(moved).mean())) if len(moved) else 0.0

    @property
    def dead(self) -> bool:
        """Whether no pixel moves by more than one grey level, or the latent has only one value."""
        return bool(np.abs(self.pictures - self.pictures[self.here]).max() <= 1.001 * LEVEL)


class Swaps(NamedTuple):
    """Two images that exchange latents.

    `ends` are both reconstructions; `one` is the first with one latent of the second, `other` the second with
    one of the first, `up_to` the first with all latents of the second up to this one.
    """

    ends: np.ndarray
    one: np.ndarray
    other: np.ndarray
    up_to: np.ndarray


def is_discrete(values: np.ndarray) -> bool:
    """Whether a latent takes few values, each of them often.

    >>> is_discrete(np.arange(20) % 3), is_discrete(np.linspace(0, 1, 20))
    (True, False)
    """
    n = len(np.unique(values))
    return n <= min(MOST_VALUES, len(values) // 2)


def positions(values: np.ndarray, own: float, n_steps: int) -> tuple[np.ndarray, int]:
    """Return where a latent goes, and the place of its own value there.

    A continuous latent goes from its 2% quantile over its own value, in the middle, to its 98% quantile; a
    discrete one through its values, or some of them where there are more than steps.

    >>> positions(np.linspace(-1, 1, 101), 0.5, 5)
    (array([-0.96, -0.23,  0.5 ,  0.73,  0.96]), 2)
    >>> positions(np.arange(40) % 4, 3, 9)
    (array([0, 1, 2, 3]), 3)
    """
    if is_discrete(values):
        return _levels(np.union1d(values, own), own, n_steps)
    low, high = np.quantile(values, QUANTILES)
    half = n_steps // 2
    before = np.linspace(min(low, own), own, half + 1)
    return np.concatenate([before, np.linspace(own, max(high, own), half + 1)[1:]]), half


def _levels(levels: np.ndarray, own: float, n_steps: int) -> tuple[np.ndarray, int]:
    here = int(np.searchsorted(levels, own))
    kept = np.unique(np.rint(np.linspace(0, len(levels) - 1, min(n_steps, len(levels)))).astype(int))
    nearest = int(np.abs(kept - here).argmin())
    kept[nearest] = here
    return levels[kept], nearest


def traversed(
    decode: Decode, codes: np.ndarray, own: np.ndarray, latents: Sequence[int], n_steps: int
) -> list[Strip]:
    """Move one latent of one code after the other, and decode all positions in one call."""
    paths = [positions(codes[:, j], own[j], n_steps) for j in latents]
    steps = np.concatenate([_moved(own, j, values) for j, (values, _) in zip(latents, paths, strict=True)])
    seen = brightness(decode(steps.astype(codes.dtype)))
    ends = np.cumsum([len(values) for values, _ in paths])
    parts = np.split(seen, ends[:-1])
    return [
        Strip(j, values, here, part) for j, (values, here), part in zip(latents, paths, parts, strict=True)
    ]


def _moved(own: np.ndarray, latent: int, values: np.ndarray) -> np.ndarray:
    steps = np.repeat(own[None], len(values), axis=0)
    steps[:, latent] = values
    return steps


def swapped(decode: Decode, first: np.ndarray, second: np.ndarray, latents: Sequence[int]) -> Swaps:
    """Exchange the latents of two codes, one at a time and one after the other."""
    at = np.arange(len(first))
    one = [np.where(at == j, second, first) for j in latents]
    other = [np.where(at == j, first, second) for j in latents]
    up_to = [np.where(np.isin(at, latents[: k + 1]), second, first) for k in range(len(latents))]
    seen = brightness(decode(np.stack([first, second, *one, *other, *up_to])))
    n = len(latents)
    return Swaps(seen[:2], seen[2 : 2 + n], seen[2 + n : 2 + 2 * n], seen[2 + 2 * n :])


def between(decode: Decode, first: np.ndarray, second: np.ndarray, n_steps: int) -> np.ndarray:
    """Return the pictures on the straight line from one code to another."""
    share = np.linspace(0, 1, n_steps)[:, None]
    return brightness(decode(((1 - share) * first + share * second).astype(first.dtype)))


def central(codes: np.ndarray) -> int:
    """Return the row that is nearest to the medians, in standard deviations."""
    return int(_distances(codes, np.median(codes, axis=0)).argmin())


def far_from(codes: np.ndarray, row: int) -> int:
    """Return a row that is far from another, but no outlier: nine of ten are nearer."""
    order = np.argsort(_distances(codes, codes[row]), kind="stable")
    return int(order[int(0.9 * (len(order) - 1))])


def _distances(codes: np.ndarray, point: np.ndarray) -> np.ndarray:
    spread = codes.std(0)
    return np.asarray(np.square((codes - point) / np.where(spread > 0, spread, 1)).sum(1))


class Look:
    """A model beside images: what it shows of them, each worked out once.

    Parameters
    ----------
    model : fitted estimator or pipeline
        With `transform` and `inverse_transform`, from images to codes and back.
    images : array-like of shape (n, height, width, channels)
        Bytes, or floats from 0 to 1; anything that gives images for an array of rows.
    most : int
        Number of images that tell where the latents live; they are spread over the data.
    """

    def __init__(self, model: Any, images: Any, *, most: int = MOST) -> None:
        for name in ("transform", "inverse_transform"):
            if ability(model, name) is None:
                kind = type(model).__name__
                raise TypeError(f"`model` must have `{name}`, got {kind}. Pass a fitted model of images.")
        images = images if hasattr(images, "shape") else np.asarray(images)
        shape = tuple(images.shape)
        if len(shape) != 4 or 0 in shape:
            raise ValueError(
                f"`X` must be images of shape (n, height, width, channels), got {shape}. For tables see "
                "`unmix.plots.traversal`."
            )
        self.model, self.all = model, images
        self.rows = np.arange(0, shape[0], max(1, -(-shape[0] // most)))

    def images(self, rows: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return some of the images, as they are."""
        return np.asarray(self.all[np.asarray(rows)])

    @cached_property
    def codes(self) -> np.ndarray:
        """The latents of images that are spread over the data."""
        parts = [np.asarray(self.model.transform(self.images(part))) for part in _parts(self.rows)]
        codes = np.concatenate(parts)
        if codes.ndim != 2:
            raise ValueError(f"`model` must give one row of latents per image, got shape {codes.shape}.")
        return codes

    @property
    def n_latents(self) -> int:
        """The number of latents."""
        return int(self.codes.shape[1])

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Return the images that codes stand for."""
        return np.concatenate([np.asarray(self.model.inverse_transform(part)) for part in _parts(codes)])

    def code(self, row: int) -> np.ndarray:
        """Return the latents of one image."""
        return np.asarray(self.model.transform(self.images([row])))[0]

    @cached_property
    def centre(self) -> int:
        """The row of an image in the middle of the others."""
        return int(self.rows[central(self.codes)])

    @cached_property
    def pair(self) -> tuple[int, int]:
        """The rows of two images that differ clearly: one in the middle, one far from it."""
        middle = central(self.codes)
        return int(self.rows[middle]), int(self.rows[far_from(self.codes, middle)])

    def spread(self, n: int) -> list[int]:
        """Return so many rows, spread over the data."""
        return self.rows[np.linspace(0, len(self.rows) - 1, min(n, len(self.rows))).astype(int)].tolist()

    def strips(self, latents: Sequence[int], row: int, n_steps: int) -> list[Strip]:
        """Return what each latent does to one image."""
        return traversed(self.decode, self.codes, self.code(row), latents, n_steps)

    def in_deviations(self, strip: Strip) -> np.ndarray:
        """Return the values of a strip in standard deviations from the mean of the images."""
        values = self.codes[:, strip.latent]
        deviation = values.std()
        return np.asarray((strip.values - values.mean()) / (deviation if deviation > 0 else 1.0))

    def reconstructions(self, rows: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return images and what the model makes of them, from 0 to 1."""
        images = self.images(rows)
        return brightness(images), brightness(self.decode(np.asarray(self.model.transform(images))))

    def slopes(self, rows: Sequence[int]) -> np.ndarray:
        """Return how the picture changes where a latent rises by one standard deviation.

        Shape (n_rows, n_latents, height, width, channels), in shares of full brightness. The slope of the
        decoder at the image itself; a change over one deviation where a model does not know its slopes; and
        from the value below to the one above for a latent that takes few values.
        """
        images = self.images(rows)
        codes, spread = np.asarray(self.model.transform(images)), self.codes.std(0)
        slopes, scale = slopes_of(self.model, images, codes, spread), 255 if images.dtype == np.uint8 else 1
        stepped = [j for j in range(self.n_latents) if slopes is None or is_discrete(self.codes[:, j])]
        found = np.zeros((len(images), self.n_latents, *images.shape[1:]), dtype=np.float32)
        if slopes is not None:
            pictures = np.moveaxis(slopes, 2, 1).reshape(found.shape)
            found = (pictures * spread[:, None, None, None] / scale).astype(np.float32)
        for j in stepped:
            low, high = self._around(codes, j, spread[j])
            found[:, j] = brightness(self.decode(high)) - brightness(self.decode(low))
        return found

    def _around(self, codes: np.ndarray, j: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
        """Return codes with one latent half a deviation lower and higher, or one value if these are few."""
        low, high = codes.copy(), codes.copy()
        if is_discrete(self.codes[:, j]):
            levels = np.unique(self.codes[:, j])
            at = np.abs(levels - codes[:, j, None]).argmin(1)
            low[:, j], high[:, j] = levels[np.maximum(at - 1, 0)], levels[np.minimum(at + 1, len(levels) - 1)]
        else:
            low[:, j], high[:, j] = codes[:, j] - spread / 2, codes[:, j] + spread / 2
        return low, high


def _parts(rows: np.ndarray) -> list[np.ndarray]:
    """Cut rows into parts whose pictures do not fill the memory on their way through a network."""
    return [rows[start : start + _PART] for start in range(0, len(rows), _PART)]


def slopes_of(model: Any, images: np.ndarray, codes: np.ndarray, spread: np.ndarray) -> np.ndarray | None:
    """Return dx_i / dz_j at each image, by the chain rule through a pipeline; None where nobody knows.

    `spread` are the standard deviations of the latents.
    """
    steps = getattr(model, "steps", None)
    if steps is None:
        found = ability(model, "jacobian")
        return None if found is None else np.asarray(found(images))
    first, later = steps[0][1], model[1:]
    inner = ability(first, "jacobian")
    if inner is None:
        return None
    here = np.asarray(first.transform(images))
    if np.abs(later.inverse_transform(codes) - here).max() > _SAME * max(float(here.std()), 1e-12):
        return None  # the pipeline decodes another code than that at which the slopes are known
    return np.asarray(inner(images)) @ _slopes_between(later.inverse_transform, codes, spread)


def _slopes_between(inverse: Decode, codes: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return the Jacobian of the later steps of a pipeline, by central differences."""
    wide, steps = codes.astype(np.float64), 0.01 * np.where(spread > 0, spread, 1.0)
    columns = [
        (np.asarray(inverse(wide + nudge)) - np.asarray(inverse(wide - nudge))) / (2 * step)
        for step, nudge in zip(steps, np.diag(steps), strict=True)
    ]
    return np.stack(columns, axis=2)
