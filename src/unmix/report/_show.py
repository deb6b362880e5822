"""A folder of pictures of a model of images: grids, animations, and a page with all of them."""

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from .._files import atomic_write
from ..plots._image_grids import draw_jacobian, draw_reconstructions, draw_swaps, draw_traversals
from ..plots._image_words import row_name
from ._image_material import ImageMaterial, Wanted, images_of
from ._image_page import image_page
from ._image_pictures import morph, moving_alone, saved
from ._write import filled

OWN = ("index.html", *(f"{name}.png" for name in ("reconstructions", "traversals", "swaps", "jacobian")))
ANIMATED = ("traversals.gif", "between.gif", "latent-*.gif")
TITLE = "What each latent of these images does"


def show(
    folder: str | Path,
    *,
    model: Any,
    data: Any,
    trust: Any = "none",
    held_out: Any = None,
    n: int = 8,
    n_steps: int = 9,
    rows: Sequence[int] | None = None,
    latents: Sequence[int] | None = None,
    ids: Any = None,
    title: str = TITLE,
    notes: str = "",
) -> list[Path]:
    """Write what a model of images shows into a folder: grids, animations, and a page with all of them.

    Every picture says in itself what it shows: which latent, how far it moves, at which row of the data, and
    whether it is trusted. Latents are sorted by trust, then by how much they move.

    Parameters
    ----------
    folder : str or Path
        Where to write. It is there in full or not at all; what an earlier call wrote there is replaced.
    model : fitted estimator, or pipeline that begins with one
        With `transform` and `inverse_transform`, from images to codes and back.
    data : array of shape (n_samples, height, width, channels), FactorDataset, or path
        Bytes, or floats from 0 to 1; of a path, what `unmix.data.read_images` finds there.
    trust : Trust, or {"none", "quick", "full"}
        The verdict, as `unmix.trust` returned it, or the effort at which it is to be found.
    held_out : as data, optional
        Images that the fit has not seen, to tell how well it holds for them.
    n : int
        Number of images that are reconstructed.
    n_steps : int
        Positions of each latent, an odd number of at least 3.
    rows : sequence of int, optional
        Which images: all are reconstructed, the latents of the first are moved, and the first two exchange
        theirs. By default images that are spread over the data, and one in the middle of them.
    latents : sequence of int, optional
        Which latents; by default all, at most 24.
    ids : sequence, optional
        Names of the images.
    title, notes : str
        The heading of the page, and free text.

    Returns
    -------
    list of Path
        The files: `index.html`, `reconstructions.png`, `traversals.png`, `swaps.png`, `jacobian.png`,
        `traversals.gif`, `between.gif`, and a GIF for each latent.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(transform=lambda x: x[:, 2, 2:4].reshape(-1, 2),
    ...                         inverse_transform=lambda z: np.tile(z[:, None, :, None], (1, 8, 4, 1)))
    >>> images = model.inverse_transform(np.random.default_rng(0).uniform(size=(40, 2)))
    >>> [path.name for path in show(tempfile.mkdtemp() + "/pictures", model=model, data=images)][-3:]
    ['between.gif', 'latent-0.gif', 'latent-1.gif']
    """
    target = free(Path(folder))
    material = ImageMaterial(
        model,
        images_of(data, ids),
        trust=trust,
        held_out=None if held_out is None else images_of(held_out, name="held_out"),
        wanted=Wanted(n, n_steps, rows, latents),
        scored=False,
    )
    paragraphs = [part.strip() for part in notes.split("\n\n") if part.strip()]
    context = image_page(material) | {"title": title, "notes": paragraphs}
    with whole_folder(target) as into:
        files = [atomic_write(into / "index.html", filled("images.html", **context))]
        files += [atomic_write(into / name, content) for name, content in pictures(material)]
    return [target / path.name for path in files]


def pictures(material: ImageMaterial) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of every picture."""
    look, ids, strips = material.look, material.data.ids, material.strips
    latents, n = [strip.latent for strip in strips], len(material.rows)
    height, width = look.images([0]).shape[1:3]
    dead = {strip.latent for strip in strips if strip.dead}
    told = {"trust": material.trust, "ids": ids}
    draw = partial(draw_reconstructions, look, material.rows, ids=ids)
    yield "reconstructions.png", saved(draw, 3, n, height / width)
    draw = partial(draw_traversals, look, strips, material.row, **told)
    longest = max(len(strip.values) for strip in strips)
    yield "traversals.png", saved(draw, len(strips), longest, height / width)
    draw = partial(draw_swaps, material.swaps, material.pair, latents, ids=ids)
    yield "swaps.png", saved(draw, 3, len(latents) + 1, height / width)
    draw = partial(draw_jacobian, look, material.slopes, latents, material.sloped, dead=dead, **told)
    yield "jacobian.png", saved(draw, len(latents) + 1, len(material.sloped), height / width)
    yield from animations(material)


def animations(material: ImageMaterial) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of every animation: all latents, from one image to another, and each."""
    look, ids, strips = material.look, material.data.ids, material.strips
    name, digits = row_name(material.row, ids), len(str(look.n_latents - 1))
    yield "traversals.gif", material.animation
    yield "between.gif", morph(look, material.pair, ids, 2 * material.wanted.n_steps - 1)
    for strip in sorted(strips, key=lambda each: each.latent):
        yield f"latent-{strip.latent:0{digits}}.gif", moving_alone(look, strip, trust=material.trust, of=name)


def free(folder: Path) -> Path:
    """Refuse a folder that holds anything but pictures of an earlier call."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"`folder` must be a folder, {str(folder)!r} is a file. Choose another name.")
    if not folder.parent.is_dir():
        raise ValueError(f"`folder` must lie in a folder that exists, got {str(folder)!r}. Make that first.")
    ours = (*OWN, *ANIMATED)
    foreign = [path.name for path in _inside(folder) if not _is_picture(path, ours)]
    if foreign:
        raise ValueError(
            f"`folder` must be new, or hold nothing but such pictures, {str(folder)!r} has {foreign[0]!r}. "
            "Choose another name."
        )
    return folder


def _is_picture(path: Path, ours: tuple[str, ...]) -> bool:
    """Whether a file may be one of an earlier call; folders and links are none."""
    return path.is_file() and not path.is_symlink() and any(path.match(pattern) for pattern in ours)


def _inside(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder beside this one, which takes its place if the block ends well, and else disappears."""
    folder, mark = folder.resolve(), secrets.token_hex(6)
    fresh, old = (folder.with_name(f".{folder.name}.{mark}.{word}") for word in ("new", "old"))
    fresh.mkdir()
    try:
        yield fresh
        if folder.exists():
            os.replace(folder, old)
        os.replace(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
