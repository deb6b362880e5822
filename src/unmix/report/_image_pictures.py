"""The pictures of a page about images: as data in the page, and as files that say what they show."""

import base64
import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..plots._frames import Moving, frames
from ..plots._image_words import hat, heading, range_words, reach_words, row_name
from ..plots._looking import Look, Strip, between
from ..plots._pixels import coloured, enlarged, enlargement, gif, paled, png, tiled
from ..plots._tiles import figure_size, gap_of, strip_tiles

FRAME = (59, 125, 216, 255)
_DPI = 150
_ALONE = 256  # side of a tile that has an animation of its own


def embedded(content: bytes, kind: str) -> str:
    """Return bytes as the address of a picture that is part of the page."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def row_of(tiles: np.ndarray, *, here: int | None = None) -> str:
    """Return pictures of shape (n, height, width, 3) side by side, one of them framed, as part of a page."""
    height, width = tiles.shape[1:3]
    gap, factor = gap_of(height, width), enlargement(max(height, width))
    sheet = np.pad(tiled(tiles[None], gap), ((gap, gap), (gap, gap), (0, 0)))
    if here is not None:
        left = here * (width + gap)
        around = sheet[:, left : left + width + 2 * gap]
        around[around[..., 3] == 0] = FRAME
    return embedded(png(enlarged(sheet, factor)), "png")


def strip_row(strip: Strip) -> str:
    """Return a strip as part of a page, its own image framed."""
    return row_of(strip_tiles(strip, len(strip.values)), here=strip.here)


def saved(draw: Callable[[Axes], object], n_rows: int, n_columns: int, slope: float) -> bytes:
    """Draw a grid with its title and caption on white paper, and return a PNG file."""
    figure = Figure(figsize=figure_size(n_rows, n_columns, slope), layout="constrained", facecolor="white")
    draw(figure.add_subplot())
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=_DPI, metadata={"Software": None})
    return stream.getvalue()


def _moving(look: Look, strip: Strip, trust: Any) -> Moving:
    found = coloured(strip.pictures)
    return Moving(paled(found) if strip.dead else found, heading(strip, trust), range_words(look, strip))


def moving(look: Look, strips: Sequence[Strip], *, trust: Any, of: str) -> bytes:
    """Return an animation in which all latents go through their ranges, each in a tile of its own."""
    reach = reach_words(look, [strip.latent for strip in strips])
    caption = f"The mark shows where a latent is. {reach}."
    tiles = [_moving(look, strip, trust) for strip in strips]
    about = f"{of}: one latent moves in each tile, the others stay"
    return gif(frames(tiles, about, caption, n_frames=n_frames(strips)))


def moving_alone(look: Look, strip: Strip, *, trust: Any, of: str) -> bytes:
    """Return an animation of one latent."""
    tiles = [_moving(look, strip, trust)]
    about, caption = (
        f"What {hat(strip.latent)} does to {of}",
        "It moves, and all other latents stay as they are.",
    )
    return gif(frames(tiles, about, caption, n_frames=n_frames([strip]), side=_ALONE))


def morph(look: Look, pair: tuple[int, int], ids: Any, n_steps: int) -> bytes:
    """Return an animation from one image to another, all latents moving together."""
    pictures = coloured(between(look.decode, look.code(pair[0]), look.code(pair[1]), n_steps))
    first, second = (row_name(row, ids) for row in pair)
    caption = "All latents move together, on a straight line."
    tile = Moving(pictures, f"from {first}", f"to {second}")
    about = f"From {first} to {second}"
    return gif(frames([tile], about, caption, n_frames=2 * (n_steps - 1), side=_ALONE))


def n_frames(strips: Sequence[Strip]) -> int:
    """Return the number of frames that show every picture of the longest strip, there and back."""
    return max(2 * (max(len(strip.values) for strip in strips) - 1), 4)
