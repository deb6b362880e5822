"""The public files of the benchmarks, in the layouts in which they are published."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from unmix._untrusted import whole

from .._factors import FactorDataset
from . import _cars3d, _dsprites, _mpi3d, _shapes3d
from ._pictures import picture_files, pictures
from ._stored import Stored, npy, npz_array, npz_shape, resized, unpacked

FALCOR3D = {
    "lighting_intensity": 5,
    "lighting_x": 6,
    "lighting_y": 6,
    "lighting_z": 6,
    "camera_x": 6,
    "camera_y": 6,
    "camera_z": 6,
}
ISAAC3D = {
    "object_shape": 3,
    "robot_x": 8,
    "robot_y": 5,
    "camera_height": 4,
    "object_scale": 4,
    "lighting_intensity": 4,
    "lighting_direction": 6,
    "object_color": 4,
    "wall_color": 4,
}
LABELS = {"train-rec.labels": FALCOR3D, "labels.npy": ISAAC3D}
_FIRST = 512  # images that are looked at when a file is opened
_SHAPES3D = (0.1, 0.1, 0.1, 0.5 / 7, 1.0, 60 / 14), (0.0, 0.0, 0.0, 0.75, 0.0, -30.0)  # steps, from where


def read_h5(path: Path, size: int | None) -> FactorDataset:
    """Read Shapes3D, `3dshapes.h5`: images, and labels as values of the factors."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError(f"`{path.name}` needs h5py: pip install 'unmix[images]'.") from error
    with whole(path, "HDF5 file"):
        file = h5py.File(path, "r")
        _check_arrays(path, file, h5py.Dataset)
        images, labels = file["images"], np.asarray(file["labels"])
        stored = Stored(partial(_of_h5, path, images), images.shape, images.dtype)
    _check_colour(path, stored.shape, stored.dtype)
    _check_count(path, len(labels), len(stored))
    stored[len(stored) - 1]  # is the last one there?
    steps, starts = (np.array(numbers) for numbers in _SHAPES3D)
    if labels.ndim != 2 or labels.shape[1] != len(steps):
        raise _mismatch(path, f"{len(steps)} columns of labels", f"labels of shape {labels.shape}")
    levels = (labels - starts) / steps
    off = np.abs(levels - np.clip(np.round(levels), 0, np.array(list(_shapes3d.FACTORS.values())) - 1)).max(0)
    if not off.max() <= 0.01:  # also where a label is missing
        name = list(_shapes3d.FACTORS)[int(off.argmax())]
        raise _mismatch(path, "the values of Shapes3D as labels", f"others for {name}")
    return _dataset(resized(stored, size), np.round(levels).astype(np.int64), _shapes3d.FACTORS)


def _check_arrays(path: Path, file: Any, kind: type) -> None:
    """Refuse an HDF5 file of something else, which may be whole."""
    if not all(isinstance(file.get(name), kind) for name in ("images", "labels")):
        raise ValueError(
            f"`{path}` must hold the arrays `images` and `labels` of Shapes3D, got "
            f"{', '.join(list(file)[:9]) or 'nothing'}. Is it the file you mean?"
        )


def _of_h5(path: Path, images: Any, rows: np.ndarray) -> np.ndarray:
    with whole(path, "HDF5 file"):
        return images[rows]


def read_dsprites(path: Path, size: int | None) -> FactorDataset:
    """Read dSprites: `imgs` of 0 and 1, and `latents_classes`, whose first column is a constant colour."""
    bits, classes = npz_array(path, "imgs"), np.asarray(npz_array(path, "latents_classes"))
    if bits.ndim != 3 or bits.dtype != np.uint8:
        raise _mismatch(path, "`imgs` of bytes with three axes", f"{bits.dtype} of shape {bits.shape}")
    _check_count(path, len(classes), len(bits))
    if classes.ndim != 2 or classes.shape[1] != 6 or classes[:, 0].any():
        raise _mismatch(path, "six columns of `latents_classes`, the first 0", f"shape {classes.shape}")
    for (factor, n), column in zip(_dsprites.FACTORS.items(), classes.T[1:], strict=True):
        if not set(np.unique(column)) <= set(range(n)):
            found = f"{column.min()} to {column.max()}"
            raise _mismatch(path, f"`latents_classes` from 0 to {n - 1} for {factor}", found)
    images = Stored(partial(_of_bits, path, bits), (*bits.shape, 1))
    images[:_FIRST]  # pixels of another range are told now, not at the end of a fit
    return _dataset(resized(images, size), classes[:, 1:].astype(np.int64), _dsprites.FACTORS)


def _of_bits(path: Path, bits: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return some images of 0 and 1 as bytes of 0 and 255; other numbers would leave the range of bytes."""
    found = np.asarray(bits[rows])[..., None]
    if found.max(initial=0) > 1:
        raise ValueError(
            f"`{path}` must have `imgs` of 0 and 1, as dSprites has, got {found.max()}. Divide pixels of 0 "
            "and 255 by 255, and store them again."
        )
    return 255 * found


def read_mpi3d(path: Path, size: int | None) -> FactorDataset:
    """Read MPI3D: `images` in the order of their factors, with 4 or 6 colours and shapes."""
    images = npz_array(path, "images")
    _check_colour(path, images.shape, images.dtype)
    factors = mpi3d_factors(len(images))
    if factors is None:
        raise _mismatch(path, "460,800 or 1,036,800 images of MPI3D", f"{len(images):,}")
    levels = np.stack(np.unravel_index(np.arange(len(images)), tuple(factors.values())), axis=1)
    return _dataset(resized(images, size), levels, factors)


def mpi3d_factors(n_images: int) -> dict[str, int] | None:
    """Return the factors of the variant that has so many images."""
    variants = [_mpi3d.FACTORS | {"object_color": k, "object_shape": k} for k in (4, 6)]
    return {int(np.prod(list(factors.values()))): factors for factors in variants}.get(n_images)


def is_mpi3d(path: Path) -> bool:
    """Whether `images` of an NPZ file are as many as those of MPI3D."""
    return mpi3d_factors(npz_shape(path, "images")[0]) is not None


def read_cars3d(folder: Path, size: int | None) -> FactorDataset:
    """Read Cars3D: `car_*_mesh.mat`, one for each type, with `im` of (h, w, 3, azimuth, elevation)."""
    files = sorted(folder.glob("*_mesh.mat"))
    shape = (96 * len(files), *(_mesh(files[0]).shape[1:3] if size is None else (size, size)), 3)
    levels = np.stack(np.unravel_index(np.arange(len(files) * 96), (len(files), 4, 24)), axis=1)
    held = unpacked(shape, _meshes(files, shape[1:], size))
    return FactorDataset(held, levels[:, [1, 2, 0]], tuple(_cars3d.FACTORS), (4, 24, len(files)))


def _meshes(files: list[Path], shape: tuple[int, ...], size: int | None) -> Iterator[np.ndarray]:
    for file in files:
        images = np.asarray(resized(_mesh(file), size))
        if images.shape[1:] != shape:
            raise _mismatch(file, f"images of shape {shape}, as {files[0].name}", f"{images.shape[1:]}")
        yield images


def _mesh(file: Path) -> np.ndarray:
    """Read the 96 images of one car, by elevation and then by azimuth."""
    from scipy.io import loadmat

    with whole(file, "MAT file"):
        images = loadmat(file, variable_names=["im"]).get("im")
    if images is None:
        raise _mismatch(file, "an array `im`", "none of that name")
    if images.ndim != 5 or images.shape[2:] != (3, 24, 4) or images.dtype != np.uint8:
        raise _mismatch(file, "`im` of bytes, of shape (h, w, 3, 24, 4)", f"{images.dtype} {images.shape}")
    return images.transpose(4, 3, 0, 1, 2).reshape(96, *images.shape[:3])


def read_labelled(folder: Path, size: int | None) -> FactorDataset:
    """Read Falcor3D or Isaac3D: a folder `images` of PNG files, and an array of labels beside it."""
    name = next(name for name in LABELS if (folder / name).is_file())
    factors, values = LABELS[name], np.asarray(npy(folder / name))
    files = picture_files(folder / "images")
    _check_count(folder / name, len(values), len(files))
    files = _by_number(folder / "images", files)
    if values.ndim != 2 or values.shape[1] != len(factors):
        raise _mismatch(folder / name, f"{len(factors)} columns", f"shape {values.shape}")
    if not np.isfinite(values.astype(float)).all():
        raise _mismatch(folder / name, "a number for each factor of each image", "NaN or infinity")
    found = [np.unique(column, return_inverse=True) for column in values.T]
    for (factor, n), (levels, _) in zip(factors.items(), found, strict=True):
        if len(levels) > n:
            raise _mismatch(folder / name, f"at most {n} values of {factor}", f"{len(levels)}")
    table = np.stack([codes.ravel() for _, codes in found], axis=1)
    return FactorDataset(resized(pictures(files), size), table, tuple(factors), _sizes(found))


def _by_number(folder: Path, files: list[Path]) -> list[Path]:
    """Return pictures by the numbers that they are named by, which are those of the rows of labels."""
    named = {int(file.stem): file for file in files if file.stem.isdecimal()}
    if lacking := set(range(len(files))) - named.keys():
        wanted = f"pictures that are named by the numbers 0 to {len(files) - 1:,}"
        raise _mismatch(folder, wanted, f"none of number {min(lacking):,}")
    return [named[number] for number in range(len(files))]


def _sizes(found: list[Any]) -> tuple[int, ...]:
    return tuple(len(levels) for levels, _ in found)


def _dataset(images: Any, levels: np.ndarray, factors: dict[str, int]) -> FactorDataset:
    return FactorDataset(images, levels, tuple(factors), tuple(factors.values()))


def _check_colour(path: Path, shape: tuple[int, ...], dtype: Any) -> None:
    if len(shape) != 4 or shape[3] != 3 or dtype != np.uint8:
        raise _mismatch(path, "`images` of bytes, of shape (n, h, w, 3)", f"{dtype} of shape {tuple(shape)}")


def _check_count(path: Path, n_rows: int, n_images: int) -> None:
    if n_rows != n_images or not n_images:
        raise _mismatch(path, f"one row of factors for each of {n_images:,} images", f"{n_rows:,} rows")


def _mismatch(path: Path, expected: str, got: str) -> ValueError:
    return ValueError(f"`{path}` must have {expected}, got {got}. Is it whole, and the file you mean?")
