"""Folders of PNG and JPEG files as images."""

from pathlib import Path
from typing import Any

import numpy as np

from unmix._untrusted import whole

from ._stored import Stored

SUFFIXES = (".png", ".jpg", ".jpeg")
_PLAIN = {"1": "L", "L": "L", "RGB": "RGB", "P": "RGB", "RGBA": "RGB", "LA": "L"}  # how each kind is read
_ENDS = {".png": b"IEND\xaeB`\x82", ".jpg": b"\xff\xd9", ".jpeg": b"\xff\xd9"}


def picture_files(folder: Path) -> list[Path]:
    """List the pictures of a folder, by name."""
    return sorted(file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES)


def pictures(files: list[Path]) -> Stored:
    """Return pictures as images, of which every header is read now and the pixels when they are asked for.

    All must have one size and one number of channels, and none may be cut off.
    """
    first = _kind(files[0])
    for file in files:
        if (kind := _kind(file)) != first:
            raise ValueError(
                f"`{file.parent}` must hold images of one size and kind, {files[0].name} is {_words(first)} "
                f"and {file.name} {_words(kind)}. Scale or convert them first."
            )
    width, height, mode = first
    shape = (len(files), height, width, 1 if mode == "L" else 3)
    return Stored(lambda rows: np.stack([_decoded(files[row], mode) for row in rows]), shape)


def _kind(file: Path) -> tuple[int, int, str]:
    """Read the header of a picture, and look whether its end is there."""
    from PIL import Image

    with whole(file, "image file"), file.open("rb") as stream:
        with Image.open(stream) as picture:
            width, height = picture.size
            mode = picture.mode
        stream.seek(max(0, file.stat().st_size - 64))
        if _ENDS[file.suffix.lower()] not in stream.read():
            _look_through(file)
        if mode not in _PLAIN:
            raise ValueError(f"its pixels are of the kind {mode}; 8 bits grey or colour can be read")
    return width, height, _PLAIN[mode]


def _look_through(file: Path) -> None:
    """Decode a picture that does not end as its kind does: cameras append to JPEG files."""
    from PIL import Image

    if _ENDS[file.suffix.lower()] not in file.read_bytes():
        raise ValueError("it is cut off")
    with Image.open(file) as picture:
        picture.load()


def _decoded(file: Path, mode: str) -> np.ndarray:
    from PIL import Image

    with whole(file, "image file"), Image.open(file) as picture:
        pixels = np.asarray(picture.convert(mode))
    return pixels[..., None] if mode == "L" else pixels


def _words(kind: tuple[int, int, Any]) -> str:
    width, height, mode = kind
    return f"{width} x {height} {'grey' if mode == 'L' else 'colour'}"
