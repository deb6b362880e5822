"""What a page about images is made of: the model beside the images, the verdict, strips and scores."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .._findings import Findings, findings_of
from ..data.images import are_images, read_images
from ..plots._image_words import (
    MAX_LATENTS,
    checked_latents,
    checked_pair,
    checked_rows,
    checked_steps,
    ordered,
    row_name,
)
from ..plots._looking import MOST, Look, Strip, Swaps, swapped
from ..plots._pixels import brightness
from ._image_pictures import moving

SCORED = 2000  # images whose factors are compared with their codes
RECONSTRUCTED = 200  # images that tell how well the model fits
JUDGED = 100  # images of a verdict that refits nothing
MOVED = 64  # latents that are moved at all; of more, those that vary most
SLOPES = 3  # images at which slopes are taken
ENOUGH = 200  # images with which scores begin to mean something
METRICS = ("mcc", "r2", "infomec", "factor_vae_score", "mig")
RAW = "pixel PCA + ICA"


@dataclass(frozen=True)
class Wanted:
    """What is to be shown: which rows and latents, how many images, and positions of each latent."""

    n: int = 8
    n_steps: int = 9
    rows: Sequence[int] | None = None
    latents: Sequence[int] | None = None


@dataclass(frozen=True, eq=False)
class Seen:
    """Images, and what is known of them; a part that is unknown is None."""

    images: Any
    factors: np.ndarray | None = None
    names: Any = None
    ids: Any = None


def seen(data: Any, ids: Any = None) -> Seen | None:
    """Read images with or without their factors; None where these are no images."""
    if isinstance(data, Seen):
        return data
    if isinstance(data, str | Path) and are_images(data):
        data = read_images(data)
    if hasattr(data, "images") and hasattr(data, "factors"):
        names = getattr(data, "names", None)
        ids = getattr(data, "ids", None) if ids is None else ids
        factors = np.asarray(data.factors)
        return Seen(data.images, factors if factors.shape[1] else None, names, ids)
    if hasattr(data, "columns") or len(getattr(data, "shape", None) or np.shape(data)) != 4:
        return None
    return Seen(data.detach().cpu().numpy() if hasattr(data, "detach") else data, ids=ids)


def images_of(data: Any, ids: Any = None, *, name: str = "data") -> Seen:
    """Read images, or say what they must be."""
    found = seen(data, ids)
    if found is None:
        raise ValueError(
            f"`{name}` must be images of shape (n, height, width, channels), got {_kind(data)}. For tables "
            "there is `unmix.report.write`."
        )
    return found


def _kind(data: Any) -> str:
    shape = getattr(data, "shape", None)
    return type(data).__name__ if shape is None else f"shape {tuple(shape)}"


def judged(model: Any, data: Any, effort: str, domains: Any = None) -> tuple[Any, str]:
    """Return the verdict that an effort finds, or None and why there is none.

    What refits nothing asks no more than what kind of model this is, for which some of the images will do.
    """
    from ..evidence import verdict_or_reason

    images = images_of(data).images
    rows = np.arange(0, len(images), max(1, len(images) // JUDGED) if effort == "none" else 1)
    labels = None if domains is None else np.asarray(domains)[rows]
    return verdict_or_reason(model, np.asarray(images[rows]), domains=labels, effort=effort)


class ImageMaterial:
    """The parts of a page about images, each worked out once."""

    def __init__(
        self,
        model: Any,
        data: Seen,
        *,
        trust: Any = "none",
        held_out: Seen | None = None,
        wanted: Wanted | None = None,
        scored: bool = True,
        evaluation: Any = None,
    ) -> None:
        self.wanted = Wanted() if wanted is None else wanted
        self.model, self.data, self.held_out = model, data, held_out
        self.scored, self.given = scored and data.factors is not None and evaluation is None, evaluation
        self.look = Look(model, data.images, most=SCORED if self.scored else MOST)
        self._asked()
        self.trust, self.unjudged = (trust, "") if not isinstance(trust, str) else judged(model, data, trust)

    def _asked(self) -> None:
        """Refuse what can't be shown before any work is done."""
        checked_steps(self.wanted.n_steps)
        checked_rows(self.look, self.wanted.rows, self.wanted.n)
        if self.data.ids is not None and len(self.data.ids) != len(self.look.all):
            raise ValueError(
                f"`ids` must name each of the {len(self.look.all):,} images, got {len(self.data.ids):,}."
            )
        fitted = getattr(first_step(self.model), "image_shape_", None)
        for images in (self.data, self.held_out):
            shape = tuple(images.images.shape[1:]) if images is not None else None
            if fitted is not None and shape is not None and shape != tuple(int(side) for side in fitted):
                expected = tuple(int(side) for side in fitted)
                raise ValueError(f"`data` must be images of shape {expected}, as of the fit, got {shape}.")
        self.latents  # noqa: B018  (a number that is no latent is an error)

    @cached_property
    def findings(self) -> Findings:
        """What the model of the images found; of a pipeline, its first step."""
        return findings_of(first_step(self.model))

    @cached_property
    def latents(self) -> list[int]:
        """The latents that are moved."""
        if self.wanted.latents is not None or self.look.n_latents <= MOVED:
            return checked_latents(self.look, self.wanted.latents)
        return np.sort(np.argsort(-self.look.codes.std(0), kind="stable")[:MOVED]).tolist()

    @cached_property
    def row(self) -> int:
        """The image that latents are moved in: the first of those asked for, or one in the middle."""
        return self.look.centre if self.wanted.rows is None else int(self.wanted.rows[0])

    @cached_property
    def pair(self) -> tuple[int, int]:
        """Two images that exchange latents."""
        asked = self.wanted.rows
        return self.look.pair if asked is None or len(asked) < 2 else checked_pair(self.look, asked[:2])

    @cached_property
    def rows(self) -> list[int]:
        """The images that are reconstructed."""
        return checked_rows(self.look, self.wanted.rows, self.wanted.n)

    @cached_property
    def moved(self) -> list[Strip]:
        """What every latent does, the trusted first, then the strong, the dead last."""
        return ordered(self.look.strips(self.latents, self.row, self.wanted.n_steps), self.trust)

    @property
    def strips(self) -> list[Strip]:
        """What is shown of it."""
        return self.moved if self.wanted.latents is not None else self.moved[:MAX_LATENTS]

    @cached_property
    def sloped(self) -> list[int]:
        """The images at which slopes are taken: that of the strips, and others."""
        others = [row for row in self.rows if row != self.row]
        return [self.row, *others[: SLOPES - 1]]

    @cached_property
    def swaps(self) -> Swaps:
        """What becomes of two images that exchange the latents that are shown."""
        first, second = (self.look.code(row) for row in self.pair)
        return swapped(self.look.decode, first, second, [strip.latent for strip in self.strips])

    @cached_property
    def animation(self) -> bytes:
        """All latents that are shown on their way, as a GIF file."""
        of = f"What each latent does to {row_name(self.row, self.data.ids)}"
        return moving(self.look, self.strips, trust=self.trust, of=of)

    @cached_property
    def slopes(self) -> np.ndarray:
        """What each latent moves at these images."""
        return self.look.slopes(self.sloped)

    @cached_property
    def explained(self) -> float:
        """The share of the variance of the images that the model reconstructs."""
        return explained(self.look, self.look.codes)

    @cached_property
    def explained_held_out(self) -> float | None:
        """The same on images that the model has not seen, where there are some."""
        if self.held_out is None:
            return None
        look = Look(self.model, self.held_out.images, most=RECONSTRUCTED)
        return explained(look, look.codes)

    @cached_property
    def evaluation(self) -> Any:
        """Scores against the factors, beside pixel PCA + ICA, where factors are known."""
        if not self.scored or len(self.look.rows) < ENOUGH:
            return self.given
        from ..metrics import evaluate

        assert self.data.factors is not None
        factors = self.data.factors[self.look.rows]
        varying = factors.min(0) < factors.max(0)
        raw = pixel_components(self.look.images(self.look.rows), self.look.n_latents)
        return evaluate(factors[:, varying], self.look.codes, metrics=METRICS, x=raw, random_state=0)


def explained(look: Look, codes: np.ndarray) -> float:
    """Return 1 - |x - decoded|^2 / |x - mean|^2 over images that are spread over the data."""
    stride = max(1, -(-len(look.rows) // RECONSTRUCTED))
    images = brightness(look.images(look.rows[::stride])).astype(np.float64)
    left = np.square(images - brightness(look.decode(codes[::stride]))).sum()
    total = np.square(images - images.mean(0)).sum()
    return float(1 - left / total) if total > 0 else float("nan")


def pixel_components(images: np.ndarray, n: int) -> np.ndarray:
    """Return as many components of the pixels as there are latents, for which no network was needed."""
    from sklearn.decomposition import PCA
    from sklearn.exceptions import ConvergenceWarning

    from ..estimators import FastICA

    pixels = brightness(images).reshape(len(images), -1)
    principal = PCA(min(n, *pixels.shape), random_state=0).fit_transform(pixels).astype(np.float64)
    kept = principal[:, principal.std(0) > 1e-6 * max(float(principal.std()), 1e-12)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a peer, which is there to be beaten
        return FastICA(kept.shape[1], random_state=0).fit_transform(kept)


def first_step(model: Any) -> Any:
    """Return the part of a pipeline that takes images, or the model itself."""
    return model.steps[0][1] if hasattr(model, "steps") else model
