"""Images on the command line: whether a path or a model is of images, and what is read of them."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ARRAYS = (".npy",)
FILES = (".h5", ".hdf5", ".mat", ".npz")


def of_images(model: Any) -> bool:
    """Whether a model, or the first step of a pipeline, was fitted on images."""
    return hasattr(model.steps[0][1] if hasattr(model, "steps") else model, "image_shape_")


def is_images(path: str) -> bool:
    """Whether a path is that of images: a folder, an NPY file with four axes, or a file of a public set."""
    place = Path(path)
    if place.is_dir():
        return True
    if not place.is_file() or place.suffix.lower() not in (*ARRAYS, *FILES):
        return False
    if place.suffix.lower() == ".npy":
        return _axes(place) == 4
    return place.suffix.lower() != ".npz" or _has_images(place)


def _axes(path: Path) -> int:
    """Return the number of axes of an NPY file; what is wrong with the file is told when it is read."""
    try:
        return int(np.load(path, mmap_mode="r", allow_pickle=False).ndim)
    except (ValueError, OSError, EOFError):
        return 0


def _has_images(path: Path) -> bool:
    """Whether an NPZ file holds images under one of the names that public sets and ours use."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return bool({"images", "imgs"} & set(file.files))
    except (ValueError, OSError, EOFError):
        return False


def read(path: str, option: str = "--data") -> Any:
    """Read images, with their factors where the path brings them; or say what they must be."""
    if not is_images(path):
        why = "which are no images" if Path(path).exists() else "which does not exist"
        raise ValueError(
            f"`{option}` must be a folder of images or an NPY file with four axes, got {path!r}, {why}."
        )
    return np.load(path, mmap_mode="r", allow_pickle=False)


def pixels_of(data: Any) -> np.ndarray:
    """Return images as one array."""
    return np.asarray(data.images if hasattr(data, "factors") else data)


def networks(shape: tuple[int, ...]) -> dict[str, Any]:
    """Return convolutional networks for images of a shape, halved up to four times, not below four pixels."""
    from ..nn import conv_decoder, conv_encoder

    height, width = shape[:2]
    halvings = max(
        (k for k in range(1, 5) if not (height % 2**k or width % 2**k) and min(height, width) >= 4 * 2**k),
        default=0,
    )
    if not halvings:
        raise ValueError(
            f"`X` must be images of even sides from 8 pixels on, got {height} x {width}. Crop or pad them."
        )
    widths = (32, 64, 128, 256)[:halvings]
    return {
        "encoder": partial(conv_encoder, widths=widths),
        "decoder": partial(conv_decoder, widths=widths[::-1]),
    }
