"""Images in files, of which only those are read that are asked for; broken files get a clear error."""

import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from unmix._untrusted import npy_header, read_npy, whole

_CHUNK = 512  # images that are read at a time
_BLOCK = 2**24  # bytes that are unpacked at a time

Take = Callable[[np.ndarray], np.ndarray]


@final
class Stored:
    """Images that a function reads by their numbers; it indexes like an array.

    Parameters
    ----------
    take : callable
        Takes increasing numbers of images, and returns these.
    shape : tuple of int
        Number, height, width and channels.
    dtype : numpy.dtype

    Examples
    --------
    >>> images = Stored(lambda rows: rows.astype(np.uint8)[:, None, None, None], (5, 1, 1, 1))
    >>> images[[3, 1, 3]].ravel().tolist(), images[4].shape
    ([3, 1, 3], (1, 1, 1))
    """

    ndim = 4

    def __init__(self, take: Take, shape: tuple[int, ...], dtype: Any = np.uint8) -> None:
        self.take, self.shape, self.dtype = take, tuple(shape), np.dtype(dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> np.ndarray:
        rows, *within = rows if isinstance(rows, tuple) else (rows,)
        wanted = np.arange(len(self))[rows]
        images = self._read(np.atleast_1d(wanted))
        return images[(slice(None) if wanted.ndim else 0, *within)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype=dtype)

    def _read(self, rows: np.ndarray) -> np.ndarray:
        once, back = np.unique(rows, return_inverse=True)
        found = np.empty((len(once), *self.shape[1:]), dtype=self.dtype)
        for first in range(0, len(once), _CHUNK):
            found[first : first + _CHUNK] = self.take(once[first : first + _CHUNK])
        return found if np.array_equal(once, rows) else found[back.ravel()]

    def rendered(self, rows: Any, device: str | torch.device) -> Tensor:
        """Put images on a device, in chunks, as a `Renderer` does."""
        wanted = np.arange(len(self))[rows]
        kind = torch.from_numpy(np.empty(0, dtype=self.dtype)).dtype
        images = torch.empty((len(wanted), *self.shape[1:]), dtype=kind, device=device)
        for first in range(0, len(wanted), _CHUNK):
            images[first : first + _CHUNK] = torch.from_numpy(self._read(wanted[first : first + _CHUNK]))
        return images


def resized(images: Any, size: int | None) -> Any:
    """Return images of another height and width, each scaled when it is read (bicubic, without aliasing)."""
    if size is None or tuple(images.shape[1:3]) == (size, size):
        return images
    if images.dtype != np.uint8:
        raise TypeError(f"`size` must be left out for images of {images.dtype}. Scale them yourself.")
    shape = (len(images), size, size, images.shape[3])
    return Stored(lambda rows: np.stack([scaled(image, size) for image in images[rows]]), shape)


def scaled(image: np.ndarray, size: int) -> np.ndarray:
    """Return one image of bytes in another size."""
    from PIL import Image

    grey = image.shape[2] == 1
    picture = Image.fromarray(image[..., 0] if grey else image)
    small = np.asarray(picture.resize((size, size), Image.Resampling.BICUBIC))
    return small[..., None] if grey else small


def unpacked(shape: tuple[int, ...], blocks: Iterable[np.ndarray], dtype: Any = np.uint8) -> np.memmap:
    """Put blocks of images into a temporary file, which disappears with the last reader."""
    with tempfile.TemporaryFile(prefix="unmix") as file:
        held = np.memmap(file, dtype=dtype, mode="w+", shape=shape)
    first = 0
    for block in blocks:
        held[first : first + len(block)] = block
        first += len(block)
    if first != len(held):
        raise ValueError(f"it has {first:,} of {len(held):,} entries")
    return held


def npy(path: Path) -> np.ndarray:
    """Map an NPY file into memory."""
    return read_npy(path, mmap_mode="c")  # torch wants to be able to write


def npz_names(path: Path) -> tuple[str, ...]:
    """List the arrays of an NPZ file."""
    with whole(path, "NPZ file"), zipfile.ZipFile(path) as archive:
        return tuple(name.removesuffix(".npy") for name in archive.namelist())


def npz_shape(path: Path, key: str) -> tuple[int, ...]:
    """Return the shape of an array in an NPZ file, of which only the header is read."""
    with whole(path, "NPZ file"), zipfile.ZipFile(path) as archive, archive.open(key + ".npy") as stream:
        return npy_header(stream, archive.getinfo(key + ".npy").file_size)[0]


def npz_array(path: Path, key: str) -> np.ndarray:
    """Map an array of an NPZ file into memory; one that is compressed is unpacked into a temporary file."""
    with whole(path, "NPZ file"), zipfile.ZipFile(path) as archive, archive.open(key + ".npy") as stream:
        shape, fortran, dtype = npy_header(stream, archive.getinfo(key + ".npy").file_size)
        order: Any = "F" if fortran else "C"
        if archive.getinfo(key + ".npy").compress_type == zipfile.ZIP_STORED:
            at = archive.getinfo(key + ".npy").header_offset
            start = _after_name(path, at) + stream.tell()
            return np.memmap(path, dtype=dtype, mode="c", offset=start, shape=shape, order=order)
        flat = unpacked((int(np.prod(shape)),), _unzipped(stream, dtype), dtype)
        return flat.reshape(shape, order=order)


def _after_name(path: Path, at: int) -> int:
    """Return where the content of a member of a ZIP file begins."""
    with path.open("rb") as file:
        file.seek(at + 26)
        lengths = file.read(4)
    return at + 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")


def _unzipped(stream: Any, dtype: np.dtype) -> Iterator[np.ndarray]:
    size = _BLOCK - _BLOCK % dtype.itemsize
    while block := stream.read(size):
        yield np.frombuffer(block, dtype=dtype)
