"""Domains of images: two folders of the same subjects in two styles, or a factor of a twin."""

import os
from pathlib import Path

import numpy as np

from .._factors import FactorDataset
from ._pictures import SUFFIXES
from ._stored import whole


def paired_styles(
    first: str | os.PathLike[str], second: str | os.PathLike[str], *, size: int = 32, background: int = 255
) -> FactorDataset:
    """Read two folders of pictures that show the same subjects in two styles, such as emoji of two vendors.

    Pictures belong together by their names; those that are in one folder alone are left out. Transparent
    pixels get the background.

    Parameters
    ----------
    first, second : path-like
        Folders of PNG or JPEG files.
    size : int
        Side that pictures are scaled to.
    background : int
        Grey, from 0 to 255.

    Returns
    -------
    FactorDataset
        With the factors "domain" and "subject"; rows 2 i and 2 i + 1 are a pair.

    Examples
    --------
    >>> data = paired_styles("google/64", "twitter/64")  # doctest: +SKIP
    >>> data.names, data.sizes  # doctest: +SKIP
    (('domain', 'subject'), (2, 3785))
    """
    folders = Path(first), Path(second)
    files = [_files(folder, name) for folder, name in zip(folders, ("first", "second"), strict=True)]
    names = sorted(files[0].keys() & files[1].keys())
    if not names:
        raise ValueError(
            f"`second` must have pictures of the same names as {str(first)!r}, got none in {str(second)!r}. "
            "Rename them so that pairs match."
        )
    images = np.stack([_picture(style[name], size, background) for name in names for style in files])
    subjects = np.repeat(np.arange(len(names)), 2)
    factors = np.stack([np.tile([0, 1], len(names)), subjects], axis=1)
    return FactorDataset(images, factors, ("domain", "subject"), (2, len(names)))


def domain_of(data: FactorDataset, factor: str) -> np.ndarray:
    """Return a factor of a set of images as the domain of each image.

    Every other factor is then what domains have in common: a twin whose domain changes one thing that is
    known.

    Parameters
    ----------
    data : FactorDataset
    factor : str

    Returns
    -------
    int array of shape (n_images,)

    Examples
    --------
    >>> from unmix.data import shapes3d
    >>> domain_of(shapes3d(4, size=16, random_state=0), "shape").shape
    (4,)
    """
    if factor not in data.names:
        raise ValueError(f"`factor` must be one of {data.names}, got {factor!r}. Correct the name.")
    return np.asarray(data.factors[:, data.names.index(factor)])


def _files(folder: Path, name: str) -> dict[str, Path]:
    if not folder.is_dir():
        raise ValueError(f"`{name}` must be a folder of pictures, got {str(folder)!r}. Check the path.")
    return {file.stem: file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES}


def _picture(file: Path, size: int, background: int) -> np.ndarray:
    """Read a picture over a background, scaled."""
    from PIL import Image

    with whole(file, "image file"), Image.open(file) as picture:
        pixels = picture.convert("RGBA")
        under = Image.new("RGBA", pixels.size, (background,) * 3 + (255,))
        flat = Image.alpha_composite(under, pixels).convert("RGB")
        return np.asarray(flat.resize((size, size), Image.Resampling.LANCZOS))
