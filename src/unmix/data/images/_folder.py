"""Sets of images as folders of ours: images, factors, and what they are called."""

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from unmix._untrusted import read_json
from unmix._waiting import waiting

from .._factors import FactorDataset
from ._stored import npy

IMAGES, FACTORS, ABOUT = "images.npy", "factors.csv", "images.json"
_CHUNK = 1000  # images that are written at a time


def write_images(
    path: str | os.PathLike[str],
    data: FactorDataset,
    *,
    source: str = "",
    force: bool = False,
    progress: bool | None = None,
) -> Path:
    """Write a set of images as a folder, which is there as a whole or not at all.

    It holds `images.npy`, which readers map into memory, `factors.csv` with a row for each image, and
    `images.json` with the names and sizes of the factors; of balls also what else is known of them.

    Parameters
    ----------
    path : path-like
        The folder, which must not exist; the one that it lies in must.
    data : FactorDataset
        Its images may be rendered on the way: a chunk of them at a time is in memory.
    source : str
        Where the images come from, for people.
    force : bool
        Whether a folder of images that exists is replaced.
    progress : bool, optional
        As of every long work: None shows a bar on a terminal.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from unmix.data import shapes3d
    >>> folder = write_images(tempfile.mkdtemp() + "/shapes", shapes3d(5, size=16, random_state=0))
    >>> sorted(file.name for file in folder.iterdir())
    ['factors.csv', 'images.json', 'images.npy']
    >>> load_folder(folder).images.shape
    (5, 16, 16, 3)
    """
    target = check_folder(path, force)
    about = {"names": list(data.names), "sizes": [int(size) for size in data.sizes], "source": source}
    with _whole_folder(target) as draft:
        _write_pixels(draft / IMAGES, data.images, progress)
        np.savetxt(draft / FACTORS, data.factors, "%d", ",", header=",".join(data.names), comments="")
        for name in vars(data).keys() - FactorDataset.__dataclass_fields__.keys() - {"_grid"}:
            np.save(draft / f"{name}.npy", vars(data)[name])  # such as the positions of balls
        (draft / ABOUT).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return target


def check_folder(path: str | os.PathLike[str], force: bool = False, *, option: str = "path") -> Path:
    """Refuse a folder that can't be written, before any work is done."""
    target = Path(path)
    if not target.parent.is_dir():
        raise ValueError(f"`{option}` must lie in a folder that exists, got {str(target)!r}. Make it first.")
    if target.exists() and not is_folder(target):
        raise ValueError(f"`{option}` must be a new folder, {str(target)!r} exists. Choose another name.")
    if target.exists() and not force:
        way = "--force to replace it" if option.startswith("-") else "force=True to replace it"
        raise ValueError(f"`{option}` must be a new folder, {str(target)!r} holds images. Add {way}.")
    return target


@contextmanager
def _whole_folder(target: Path) -> Iterator[Path]:
    """Yield a temporary folder that becomes `target` if the block ends well."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    draft.mkdir()
    try:
        yield draft
        if target.exists():
            shutil.rmtree(target)
        os.replace(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _write_pixels(path: Path, images: Any, progress: bool | None) -> None:
    held = np.lib.format.open_memmap(path, mode="w+", dtype=images.dtype, shape=tuple(images.shape))
    with waiting(progress, "images", plan=f"{len(images):,} images") as show:
        for first in range(0, len(images), _CHUNK):
            held[first : first + _CHUNK] = images[first : first + _CHUNK]
            show(min(1.0, (first + _CHUNK) / len(images)), f"{len(images):,} images")
    held.flush()


def is_folder(path: Path) -> bool:
    """Whether this is a folder that `write_images` wrote."""
    return (path / ABOUT).is_file() and (path / IMAGES).is_file()


def load_folder(path: str | os.PathLike[str]) -> FactorDataset:
    """Open a folder that `write_images` wrote; its images stay on disk."""
    folder = Path(path)
    about = read_json(folder / ABOUT)
    if not isinstance(about, dict) or not all(isinstance(about.get(n), list) for n in ("names", "sizes")):
        raise ValueError(f"`{folder / ABOUT}` must give names and sizes of the factors. Write the set again.")
    names = tuple(map(str, about["names"]))
    parts = npy(folder / IMAGES), _table(folder / FACTORS, names), names, tuple(about["sizes"])
    try:
        return FactorDataset(*parts)
    except (TypeError, ValueError) as error:
        raise ValueError(f"`{folder / _about(error)}` must match the files beside it. ({error})") from None


def _about(error: Exception) -> str:
    """Return the file that holds what an error is about."""
    return {"images": IMAGES, "factors": FACTORS}.get(str(error).split("`")[1], ABOUT)


def _table(path: Path, names: tuple[str, ...]) -> np.ndarray:
    if not path.is_file():
        raise ValueError(f"`{path}` must be there, a row of factors for each image. Write the set again.")
    with path.open(encoding="utf-8") as file:
        header = tuple(file.readline().strip().split(","))
        if header != (names or ("",)):
            raise ValueError(f"`{path}` must have the columns {names}, as {ABOUT} says, got {header}.")
        try:
            return np.loadtxt(file, dtype=np.int64, delimiter=",", ndmin=2)
        except ValueError as error:
            raise ValueError(f"`{path}` must hold integers, a row for each image. ({error})") from None
