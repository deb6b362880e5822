"""Images as arrays of colours: side by side, signed, enlarged, and as bytes of a PNG or GIF file."""

import io
from collections.abc import Sequence

import numpy as np
from PIL import Image

from ._style import BLUE, ORANGE

LEVEL = 1 / 255  # one grey level
PALE = 0.3  # how much is left of what does not count
_UP, _DOWN = (np.array([int(c[k : k + 2], 16) for k in (1, 3, 5)]) / 255 for c in (BLUE, ORANGE))


def brightness(images: np.ndarray) -> np.ndarray:
    """Return bytes or floats as floats from 0 to 1.

    >>> brightness(np.array([0, 255], dtype=np.uint8)).tolist(), brightness(np.array([-0.5, 0.25])).tolist()
    ([0.0, 1.0], [0.0, 0.25])
    """
    values = np.asarray(images)
    scaled = values.astype(np.float32) / 255 if values.dtype == np.uint8 else values.astype(np.float32)
    return np.clip(scaled, 0, 1)


def coloured(light: np.ndarray) -> np.ndarray:
    """Return three channels: of three themselves, of any other number their mean, in grey."""
    if light.shape[-1] == 3:
        return light
    return np.repeat(light.mean(-1, keepdims=True), 3, axis=-1)


def signed(change: np.ndarray, largest: float) -> np.ndarray:
    """Return changes of brightness as colours, the largest in full colour.

    Of three channels each stands for itself about a medium grey, which stays where nothing moves. One channel
    is white where nothing moves, blue where it gets brighter and orange where it gets darker.

    >>> signed(np.array([[[[0.5]], [[0.0]]]]), 0.5).round(2).tolist()
    [[[[0.23, 0.49, 0.85]], [[1.0, 1.0, 1.0]]]]
    """
    share = np.clip(change / (largest or 1.0), -1, 1)
    if change.shape[-1] == 3:
        return 0.5 + share / 2
    one = share.mean(-1, keepdims=True)
    return 1 - np.abs(one) * (1 - np.where(one > 0, _UP, _DOWN))


def paled(colours: np.ndarray) -> np.ndarray:
    """Return pictures without colour and nearly without contrast."""
    return 0.5 + PALE * (colours.mean(-1, keepdims=True).repeat(3, axis=-1) - 0.5)


def tiled(tiles: np.ndarray, gap: int) -> np.ndarray:
    """Lay pictures of shape (rows, columns, height, width, 3) side by side; the gaps are transparent.

    >>> tiled(np.ones((1, 2, 2, 2, 3)), 1)[0, :, 3].tolist()
    [255, 255, 0, 255, 255]
    """
    n_rows, n_columns, height, width = tiles.shape[:4]
    sheet = np.zeros((n_rows * (height + gap), n_columns * (width + gap), 4), dtype=np.uint8)
    cells = sheet.reshape(n_rows, height + gap, n_columns, width + gap, 4)
    cells[:, :height, :, :width, :3] = np.rint(255 * np.clip(tiles, 0, 1)).transpose(0, 2, 1, 3, 4)
    cells[:, :height, :, :width, 3] = 255
    return sheet[: sheet.shape[0] - gap, : sheet.shape[1] - gap]


def enlarged(sheet: np.ndarray, factor: int) -> np.ndarray:
    """Repeat every pixel, so that small images can be looked at."""
    return sheet.repeat(factor, axis=0).repeat(factor, axis=1)


def enlargement(side: int, wanted: int = 64) -> int:
    """Return how often pixels are to be repeated for a picture of about the wanted side.

    >>> enlargement(8), enlargement(48), enlargement(128)
    (8, 1, 1)
    """
    return max(1, round(wanted / side))


def png(sheet: np.ndarray) -> bytes:
    """Return the bytes of a PNG file."""
    stream = io.BytesIO()
    Image.fromarray(sheet).save(stream, format="PNG", optimize=True)
    return stream.getvalue()


def gif(frames: Sequence[Image.Image], *, milliseconds: int = 110) -> bytes:
    """Return the bytes of a GIF file that runs for ever; all frames share one palette, so that none flickers.

    Pillow joins frames that are alike: each must differ from the one before it.
    """
    whole = Image.fromarray(np.concatenate([np.asarray(frame)[::2, ::2] for frame in frames[::2]]))
    palette = whole.quantize(256, method=Image.Quantize.MEDIANCUT)
    indexed = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    stream = io.BytesIO()
    more = {"save_all": True, "append_images": indexed[1:], "duration": milliseconds, "loop": 0}
    indexed[0].save(stream, format="GIF", **more)
    return stream.getvalue()
