"""One reader for all images: public files, folders of ours, folders of pictures, and arrays."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from .._factors import FactorDataset
from ._folder import is_folder, load_folder
from ._pictures import picture_files, pictures
from ._public import LABELS, is_mpi3d, read_cars3d, read_dsprites, read_h5, read_labelled, read_mpi3d
from ._stored import npy, npz_array, npz_names, npz_shape, resized
from ._twin import check_size

_H5 = (".h5", ".hdf5")
_KEYS = ("images", "imgs", "x")  # of an NPZ file, in this order


def read_images(path: str | os.PathLike[str], *, size: int | None = None) -> FactorDataset:
    """Open images, with their factors where these are known; pixels are read when they are asked for.

    Parameters
    ----------
    path : path-like
        One of

        - a folder that `unmix simulate` or `write_images` wrote;
        - `3dshapes.h5` (Shapes3D; needs the extra `images`), the NPZ file of dSprites or of MPI3D, the folder
          of MAT files of Cars3D, or the folder of Falcor3D or Isaac3D (`images` beside `train-rec.labels` or
          `labels.npy`), as they are published;
        - a folder of PNG or JPEG files of one size;
        - an NPY or NPZ file with an array of shape (n, height, width, channels).
    size : int, optional
        Height and width to which images of bytes are scaled: 16, 32, 64 or 128.

    Returns
    -------
    FactorDataset
        Where nothing is known of the factors, `names` is empty.

    Notes
    -----
    Nothing is unpickled. A compressed array of an NPZ file is unpacked into a temporary file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "grey.npy"
    >>> np.save(path, np.zeros((5, 32, 32, 1), dtype=np.uint8))
    >>> data = read_images(path, size=16)
    >>> data.images.shape, data.names
    ((5, 16, 16, 1), ())
    """
    place = Path(path)
    if size is not None:
        check_size(size)
    if not place.exists():
        raise ValueError(f"`path` must be a file or folder that exists, got {str(path)!r}. Check the path.")
    return _folder(place, size) if place.is_dir() else _file(place, size)


def load_factors(path: str | os.PathLike[str], *, size: int | None = None) -> FactorDataset:
    """Open images of known factors, as `read_images` does, and refuse others.

    Parameters
    ----------
    path : path-like
        A public set in its own layout, or a folder that `write_images` wrote.
    size : int, optional
        Height and width to which images are scaled: 16, 32, 64 or 128.

    Returns
    -------
    FactorDataset

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "grey.npy"
    >>> np.save(path, np.zeros((5, 8, 8, 1), dtype=np.uint8))
    >>> load_factors(path)
    Traceback (most recent call last):
    ValueError: `path` must hold images of known factors, got ... of none. Use `read_images` for these.
    """
    data = read_images(path, size=size)
    if not data.names:
        raise ValueError(
            f"`path` must hold images of known factors, got {str(path)!r} of none. "
            "Use `read_images` for these."
        )
    return data


def are_images(path: str | os.PathLike[str]) -> bool:
    """Whether a path leads to images rather than to a table; only headers are looked at.

    A file that can't be read counts as none: whoever reads it says what is wrong.
    """
    place = Path(path)
    if place.is_dir():
        return _folder_reader(place) is not None
    suffix = place.suffix.lower()
    if suffix in _H5 or not place.is_file():
        return suffix in _H5
    try:
        if suffix == ".npz":
            return any(len(npz_shape(place, key)) == 4 for key in _KEYS if key in npz_names(place)) or (
                "latents_classes" in npz_names(place)
            )
        return suffix == ".npy" and npy(place).ndim == 4
    except ValueError:
        return False


def _folder(place: Path, size: int | None) -> FactorDataset:
    reader = _folder_reader(place)
    if reader is None:
        raise ValueError(
            f"`path` must be a folder of images, got {str(place)!r}, which has none. It may hold PNG or JPEG "
            "files, a public set, or what `unmix simulate` wrote."
        )
    return reader(place, size)


def _folder_reader(place: Path) -> Any:
    if is_folder(place):
        return _ours
    if (place / "images").is_dir() and any((place / name).is_file() for name in LABELS):
        return read_labelled
    if any(place.glob("*_mesh.mat")):
        return read_cars3d
    return _alone if picture_files(place) else None


def _ours(place: Path, size: int | None) -> FactorDataset:
    data = load_folder(place)
    return FactorDataset(resized(_checked(data.images, place), size), data.factors, data.names, data.sizes)


def _alone(place: Path, size: int | None) -> FactorDataset:
    return _nameless(resized(pictures(picture_files(place)), size))


def _file(place: Path, size: int | None) -> FactorDataset:
    suffix = place.suffix.lower()
    if suffix in _H5:
        return read_h5(place, size)
    if suffix == ".npy":
        return _nameless(resized(_checked(npy(place), place), size))
    if suffix == ".npz":
        return _npz(place, size)
    raise ValueError(
        f"`path` must be a folder, or an NPY, NPZ or HDF5 file, got {place.name!r}. Convert it, or give the "
        "folder that a picture lies in."
    )


def _npz(place: Path, size: int | None) -> FactorDataset:
    names = npz_names(place)
    if {"imgs", "latents_classes"} <= set(names):
        return read_dsprites(place, size)
    if "images" in names and is_mpi3d(place):
        return read_mpi3d(place, size)
    key = next((key for key in _KEYS if key in names), names[0] if len(names) == 1 else None)
    if key == "imgs" and len(npz_shape(place, key)) == 3:
        raise ValueError(
            f"`{place}` must hold `latents_classes` beside `imgs` where it is dSprites, got "
            f"{', '.join(names)}. Give other grey images an axis of channels: `imgs[..., None]`."
        )
    if key is None:
        raise ValueError(f"`{place}` must hold an array `images`, got {', '.join(names)}. Rename it.")
    return _nameless(resized(_checked(npz_array(place, key), place), size))


def _nameless(images: Any) -> FactorDataset:
    return FactorDataset(images, np.empty((len(images), 0), dtype=np.int64), (), ())


def _checked(images: Any, place: Path) -> Any:
    """Refuse arrays that are no images, and say what they lack."""
    shape = images.shape
    if len(shape) == 3:
        raise ValueError(f"`{place}` must have a last axis of channels, got {shape}. Give grey images one.")
    if len(shape) == 4 and shape[3] not in (1, 3):
        way = "Move the channels to the end." if shape[1] in (1, 3) else "Use grey or colour images."
        raise ValueError(f"`{place}` must have 1 or 3 channels on its last axis, got {shape}. {way}")
    return images
