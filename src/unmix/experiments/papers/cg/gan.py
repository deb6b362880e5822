"""Images of two domains by CG-GAN and its baselines: distances by domain, and content kept across domains.

Li et al. (2025), arXiv:2503.00639, compare generators by FID; ours are small generators on other images, in
features of EfficientNet-Lite0 (extra `features`; of a random network in a smoke run): nothing can be compared
with them. Distances are means over domains, between images that were made and real ones that were not trained
on. Content is what the two images of one noise share: the mean feature distance between partners, features
centred within domains, over that between strangers. It is 1 where nothing is kept, and lowest for a generator
that ignores the domain, whose distances are then high. References are real images, whose partners are true
pairs, and pixel noise. The sparse term has weight 1: of about .04 in a first run (seed 0, no score looked at)
it is a hundredth of the generator's loss, and with the published weight, .01 in our units, a ten-thousandth.
The term as released has its own weight, .1. Digits are scikit-learn's, or MNIST's where `--data` names a
folder with its files. Styles are emoji of two vendors where that folder has a folder of pictures for each,
and else digits as they are and their outlines.
"""

import hashlib
import json
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.ndimage import grey_erosion

from unmix.data import paired_styles, shapes3d, two_colours
from unmix.estimators import CGGAN
from unmix.metrics import content_distance, frechet_distance, kernel_distance
from unmix.nn import conv_encoder, efficientnet_lite0, style_discriminator, style_generator

from ...engine import Cell, Place

__all__ = ["BUDGETS", "CELLS", "data_name", "run"]

BUDGETS = ("smoke", "laptop", "gpu")
REAL, NOISE = "real images", "pixel noise"
_WEIGHT, _RELEASED = 1.0, 0.1  # of the sparse term; of the released one, which is not divided by the step
METHODS: dict[str, dict[str, Any]] = {
    "CG-GAN": {"weight": _WEIGHT},
    "CG-GAN, sparse term as released": {"sparse": "released", "weight": _RELEASED},
    "CG-GAN without mask": {"masked": False, "weight": _WEIGHT},
    "i-StyleGAN (no sparse term)": {"sparse": None},
    "StyleGAN2, conditional": {"sparse": None, "changes": "labels"},
}
DIGITS, STYLES, ROOMS = "two-colour digits", "two styles", "Shapes3D twin, two shapes"
FRECHET, KERNEL, CONTENT, SPECIFIC = (
    "Frechet distance",
    "kernel distance",
    "content distance",
    "share specific",
)
SIZE = {"smoke": 8, "laptop": 16, "gpu": 32}
STEPS = {"smoke": 2, "laptop": 2000, "gpu": 6000}
MADE = {"smoke": 20, "laptop": 300, "gpu": 1000}  # images of each domain
_SHAPES = (0, 2)  # cube and sphere
_N, _CHANGING = 32, 8  # latents, and those that may change
TINY = {
    "decoder": partial(style_generator, widths=(4, 4), style=4),
    "critic": partial(style_discriminator, widths=(4, 4)),
    "encoder": partial(conv_encoder, widths=(4,), dense=(4,)),
    "batch_size": 8,
}
SMALL = {
    "decoder": partial(style_generator, widths=(64, 64, 32), style=64),
    "critic": partial(style_discriminator, widths=(64, 64, 32)),
    "encoder": partial(conv_encoder, widths=(16, 32), dense=(64,)),
    "batch_size": 32,
}
NETWORKS: dict[str, dict[str, Any]] = {"smoke": TINY, "laptop": SMALL, "gpu": {}}

CELLS = tuple(
    Cell(
        row,
        column,
        value=value,
        better="lower",
        always=value != SPECIFIC,
        settings={"method": row, "world": column},
    )
    for column in (DIGITS, STYLES, ROOMS)
    for row in (*METHODS, REAL, NOISE)
    for value in (FRECHET, KERNEL, CONTENT, *((SPECIFIC,) if row in METHODS else ()))
)


class Pairs(NamedTuple):
    """Images of the same content in two domains, each of shape (n, height, width, 3)."""

    first: np.ndarray
    second: np.ndarray

    def split(self, n: int) -> tuple["Pairs", "Pairs"]:
        """Return the first n pairs, and the others."""
        return Pairs(self.first[:n], self.second[:n]), Pairs(self.first[n:], self.second[n:])


def data_name(folder: str | None) -> str:
    """Say which digits and styles a run takes."""
    digits = "scikit-learn's digits" if _mnist_in(folder) is None else "digits of MNIST"
    styles = "their outlines" if _styles_in(folder) is None else "emoji of two vendors"
    return f"{digits} and {styles}"


def run(cell: Cell, seed: int, budget: str, place: Place, data: str | None = None) -> dict[str, float]:
    """Train on images of two domains, make pairs, and score them beside real pairs that were held back."""
    real = pairs_of(cell.settings["world"], SIZE[budget], seed, data)
    held, seen = real.split(MADE[budget])
    with place.kept(_key(cell, seed, budget, place.code, data)) as folder, place.training():
        where = {"device": place.device} | _beside(folder)
        made, more = _made(cell.settings["method"], held, seen, budget, random_state=seed, **where)
        if folder is not None:
            rmtree(folder / "checkpoint", ignore_errors=True)
    return scores(made, held, features_of(budget)) | more


def _key(cell: Cell, *run: Any) -> str:
    """Name a training, so that one that was killed is found again."""
    identity = json.dumps([cell.settings, *run], sort_keys=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:20]


def _beside(folder: Path | None) -> dict[str, Path]:
    """Say where a training keeps what it needs to go on, and pictures to watch it by."""
    return {} if folder is None else {"checkpoint": folder / "checkpoint", "samples": folder / "samples"}


def pairs_of(world: str, size: int, seed: int, folder: str | None = None) -> Pairs:
    """Draw pairs of a world, in random order."""
    if folder is not None and _mnist_in(folder) is None and _styles_in(folder) is None:
        raise ValueError(
            f"`data` must hold files of MNIST, two folders of pictures or both, {folder!r} does not. Leave "
            "it out for the digits of scikit-learn."
        )
    rng = np.random.default_rng(seed)
    if world == DIGITS:
        return _shuffled(np.asarray(two_colours(size=size, folder=_mnist_in(folder)).images), rng)
    if world == STYLES:
        return _shuffled(_styles(size, folder), rng)
    twin = shapes3d(size=max(16, size))
    factors = np.array(twin.factors[rng.choice(len(twin), 3000, replace=False)])
    sides = [np.asarray(twin.render(_with_shape(factors, shape))) for shape in _SHAPES]
    return Pairs(*(side[:, :: max(1, 16 // size), :: max(1, 16 // size)] for side in sides))


def _shuffled(images: np.ndarray, rng: np.random.Generator) -> Pairs:
    """Part images that come in pairs, one after the other, and shuffle the pairs."""
    order = rng.permutation(len(images) // 2)
    return Pairs(images[::2][order], images[1::2][order])


def _styles(size: int, folder: str | None) -> np.ndarray:
    """Return pictures in two styles, one pair after the other."""
    folders = _styles_in(folder)
    if folders is not None:
        return np.asarray(paired_styles(*folders, size=size).images)
    light = np.asarray(two_colours(size=size).images)[::2].max(-1, keepdims=True)
    inner = grey_erosion(light, size=(1, 3, 3, 1))
    both = np.stack([light, light - inner], 1).reshape(-1, *light.shape[1:])
    return 255 - both.repeat(3, -1)


def _mnist_in(folder: str | None) -> str | None:
    """Return a folder, if it has files of MNIST."""
    return folder if folder is not None and any(Path(folder).glob("*images?idx3-ubyte*")) else None


def _styles_in(folder: str | None) -> list[Path] | None:
    """Return the two folders of pictures in a folder, if these are there."""
    found = [] if folder is None else sorted(path for path in Path(folder).iterdir() if path.is_dir())
    return found if len(found) == 2 else None


def _with_shape(factors: np.ndarray, shape: int) -> np.ndarray:
    changed = factors.copy()
    changed[:, 4] = shape
    return changed


def model_of(method: str, budget: str, **changes: Any) -> CGGAN:
    """Make the estimator that a row names."""
    steps = {"max_steps": STEPS[budget], "max_iter": 10**6}
    return CGGAN(_N, n_changing=_CHANGING, **METHODS[method] | NETWORKS[budget] | steps | changes)


def fitted(method: str, seen: Pairs, budget: str, **changes: Any) -> CGGAN:
    """Train on images of both domains; which belong together is not told."""
    images = np.concatenate([seen.first, seen.second])
    return model_of(method, budget, **changes).fit(images, domains=np.repeat([0, 1], len(seen.first)))


def made_by(model: CGGAN, n: int, seed: int) -> Pairs:
    """Make pairs: the same noise in both domains."""
    return Pairs(*(model.sample(n, domains=domain, random_state=seed) for domain in (0, 1)))


def _made(
    method: str, held: Pairs, seen: Pairs, budget: str, **changes: Any
) -> tuple[Pairs, dict[str, float]]:
    n, seed = len(held.first), changes["random_state"]
    if method == REAL:
        return Pairs(seen.first[:n], seen.second[:n]), {}
    if method == NOISE:
        drawn = np.random.default_rng(seed).integers(0, 256, (2, *held.first.shape), dtype=np.uint8)
        return Pairs(*drawn), {}
    model = fitted(method, seen, budget, **changes)
    share = float(model.domain_specific_[:_CHANGING].mean())
    return made_by(model, n, seed), {SPECIFIC: share}


def features_of(budget: str) -> Any:
    """Return the network whose features images are compared in."""
    if budget != "smoke":
        return efficientnet_lite0(size=64)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = conv_encoder((SIZE["smoke"],) * 2 + (3,), 8, widths=(8,), dense=(8,)).eval()
    return lambda images: network(images.float() / 255).detach()


def scores(made: Pairs, held: Pairs, features: Any) -> dict[str, float]:
    """Score pairs that were made beside real ones: distances by domain, and content that is kept."""
    real = [features(torch.as_tensor(side)).numpy() for side in held]
    ours = [features(torch.as_tensor(side)).numpy() for side in made]
    both = list(zip(real, ours, strict=True))
    return {
        FRECHET: float(np.mean([frechet_distance(*each) for each in both])),
        KERNEL: float(np.mean([kernel_distance(*each) for each in both])),
        CONTENT: content_distance(*ours),
    }
