"""Digits in two colours: the colour is the domain, the digit and its hand are not."""

import gzip
import os
import struct
from pathlib import Path

import numpy as np

from .._checks import at_least
from .._factors import FactorDataset
from ._stored import scaled, whole

_COLOURS = np.array([[1.0, 0.25, 0.2], [0.2, 0.45, 1.0]])  # red, blue
_IMAGES = ("train-images-idx3-ubyte", "train-images.idx3-ubyte", "t10k-images-idx3-ubyte")
_PIXEL_BYTES, _DIMENSIONS = 8, {2049: 1, 2051: 3}  # of an IDX file: its first number says what it holds


def two_colours(
    n_samples: int | None = None,
    *,
    folder: str | os.PathLike[str] | None = None,
    size: int = 32,
    random_state: int | np.random.Generator | None = None,
) -> FactorDataset:
    """Return handwritten digits, each in red (domain 0) or blue (domain 1).

    Parameters
    ----------
    n_samples : int, optional
        Digits, each in one of the colours at random. By default every digit in both colours: the image of
        row 2 i + 1 is that of row 2 i in the other colour.
    folder : path-like, optional
        Folder with the IDX files of MNIST, gzipped or not. By default the 1,797 digits of 8 x 8 pixels that
        come with scikit-learn.
    size : int
        Side of the images, to which digits are scaled.
    random_state : int, Generator or None

    Returns
    -------
    FactorDataset
        With the factors "domain" and "digit"; several images show the same combination.

    Examples
    --------
    >>> data = two_colours(6, size=16, random_state=0)
    >>> data.images.shape, data.names, data.sizes
    ((6, 16, 16, 3), ('domain', 'digit'), (2, 10))

    References
    ----------
    LeCun, Cortes and Burges, The MNIST database of handwritten digits; the colours of Li et al. (2025),
    arXiv:2503.00639, are their own.
    """
    grey, digits = _sklearn_digits() if folder is None else _mnist(Path(folder))
    if n_samples is None:
        rows, domain = np.repeat(np.arange(len(grey)), 2), np.tile([0, 1], len(grey))
    else:
        at_least(n_samples=(n_samples, 1))
        rng = np.random.default_rng(random_state)
        rows, domain = (
            rng.choice(len(grey), n_samples, n_samples > len(grey)),
            rng.integers(2, size=n_samples),
        )
    once, back = np.unique(rows, return_inverse=True)
    light = np.stack([scaled(grey[row][..., None], size) for row in once])[back]
    images = (light * _COLOURS[domain][:, None, None]).round().astype(np.uint8)
    factors = np.stack([domain, digits[rows]], axis=1).astype(np.int64)
    return FactorDataset(images, factors, ("domain", "digit"), (2, 10))


def _sklearn_digits() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_digits

    found = load_digits()
    return (found.images * (255 / 16)).round().astype(np.uint8), found.target


def _mnist(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the images and labels of MNIST: the training files, or the others where these alone are there."""
    for name in _IMAGES:
        for file in (folder / name, folder / f"{name}.gz"):
            if file.is_file():
                labels = file.with_name(file.name.replace("images", "labels").replace("idx3", "idx1"))
                return _idx(file), _idx(labels)
    raise ValueError(
        f"`folder` must hold MNIST's {_IMAGES[0]} or its gzip, {str(folder)!r} does not. Leave it out for "
        "the digits of scikit-learn."
    )


def _idx(file: Path) -> np.ndarray:
    """Read an IDX file of bytes."""
    with whole(file, "IDX file"), (gzip.open if file.suffix == ".gz" else open)(file, "rb") as stream:
        raw = stream.read()
        if len(raw) < _PIXEL_BYTES or (magic := struct.unpack(">i", raw[:4])[0]) not in _DIMENSIONS:
            raise ValueError("it does not begin as images or labels do")
        n = _DIMENSIONS[magic]
        shape = struct.unpack(f">{n}i", raw[4 : 4 + 4 * n])
        return np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * n).reshape(shape)
