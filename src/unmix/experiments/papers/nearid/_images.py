"""Images of digits: scikit-learn's own, or MNIST from a folder of its public files."""

import gzip
import struct
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

MNIST = "train-images-idx3-ubyte"


def digits(folder: str | None, n_images: int, seed: int) -> np.ndarray:
    """Return images between 0 and 1, one to a row, drawn without replacement.

    Parameters
    ----------
    folder : str, optional
        With MNIST's `train-images-idx3-ubyte` in it or in a folder within, compressed or not. Without it,
        scikit-learn's 1797 digits of 8 x 8 pixels.
    n_images : int
        The most images to return.
    seed : int

    Returns
    -------
    array of shape (n_images, n_pixels)

    Examples
    --------
    >>> digits(None, 10, seed=0).shape
    (10, 64)
    """
    images = load_digits().data / 16 if folder is None else read_idx(_find(Path(folder))) / 255
    rows = np.random.default_rng(seed).permutation(len(images))[:n_images]
    return images[rows].reshape(len(rows), -1)


def read_idx(path: Path) -> np.ndarray:
    """Read an array of bytes in MNIST's format, compressed or not."""
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    zero, kind, n_axes = struct.unpack(">HBB", content[:4])
    if zero != 0 or kind != 8:
        raise ValueError(f"`{path.name}` must be an idx file of bytes, it is not. Fetch it again.")
    shape = struct.unpack(f">{n_axes}I", content[4 : 4 + 4 * n_axes])
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_axes).reshape(shape)


def _find(folder: Path) -> Path:
    found = sorted(folder.rglob(f"{MNIST}*"))
    if not found:
        raise ValueError(f"`data` must be a folder with {MNIST} or {MNIST}.gz, got one without.")
    return found[0]
