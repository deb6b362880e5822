"""Frames of an animation: tiles that move, each with its name and its place, on a dark panel."""

from collections.abc import Sequence
from functools import cache
from textwrap import wrap
from typing import NamedTuple

import numpy as np
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

from ._pixels import enlarged, enlargement

PANEL, INK, QUIET, MARK = "#1c1f25", "#e6e8ec", "#9aa3b0", "#74a9f2"
_SIZE, _SMALL, _EDGE, _GAP, _BAR = 14, 11, 12, 12, 12  # of letters, and distances in pixels
_SIDE = 96  # of a tile that stands among others


class Moving(NamedTuple):
    """One tile: its pictures of shape (n, height, width, 3), and what is written above it."""

    pictures: np.ndarray
    heading: str
    detail: str


def frames(
    tiles: Sequence[Moving], title: str, caption: str, *, n_frames: int, side: int = _SIDE
) -> list[Image.Image]:
    """Return frames in which every tile goes through its pictures and back, with a mark at its place.

    Parameters
    ----------
    tiles : sequence of Moving
    title, caption : str
        Written above and below.
    n_frames : int
        Twice the number of steps between pictures shows each of them.
    side : int
        About how large a tile becomes; small images are enlarged.
    """
    plan = _plan(tiles, title, caption, side)
    half = -(-n_frames // 2)
    there = np.linspace(0, 1, half, endpoint=False)
    back = np.linspace(1, 0, n_frames - half, endpoint=False)
    return [_frame(tiles, plan, float(time)) for time in (*there, *back)]


class _Plan(NamedTuple):
    """Where everything goes: the size of the panel, the corner of each tile, enlargement, and lines."""

    size: tuple[int, int]
    corners: list[tuple[int, int]]
    tile: tuple[int, int]
    factor: int
    title: list[str]
    caption: list[str]


def _plan(tiles: Sequence[Moving], title: str, caption: str, side: int) -> _Plan:
    height, width = tiles[0].pictures.shape[1:3]
    factor = enlargement(max(height, width), side)
    tile = width * factor, height * factor
    named = max(_width(text, _SMALL) for each in tiles for text in (each.heading, each.detail))
    cell = max(tile[0], named) + _GAP, tile[1] + 2 * (_SMALL + 4) + _BAR + _GAP
    n_columns = min(len(tiles), max(1, round(np.sqrt(len(tiles) * 1.6))))
    panel = max(2 * _EDGE + n_columns * cell[0] - _GAP, 260)
    lines = [_wrapped(text, size, panel - 2 * _EDGE) for text, size in ((title, _SIZE), (caption, _SMALL))]
    top = _EDGE + len(lines[0]) * (_SIZE + 6) + 4
    corners = [(_EDGE + k % n_columns * cell[0], top + k // n_columns * cell[1]) for k in range(len(tiles))]
    bottom = top + -(-len(tiles) // n_columns) * cell[1] + len(lines[1]) * (_SMALL + 5) + _EDGE - 4
    return _Plan((panel, bottom), corners, tile, factor, *lines)


def _frame(tiles: Sequence[Moving], plan: _Plan, time: float) -> Image.Image:
    panel = Image.new("RGB", plan.size, PANEL)
    pen = ImageDraw.Draw(panel)
    for k, line in enumerate(plan.title):
        pen.text((_EDGE, _EDGE + k * (_SIZE + 6)), line, INK, font=_font(_SIZE))
    for corner, each in zip(plan.corners, tiles, strict=True):
        _put(panel, pen, corner, each, plan, time)
    below = plan.size[1] - _EDGE - len(plan.caption) * (_SMALL + 5)
    for k, line in enumerate(plan.caption):
        pen.text((_EDGE, below + k * (_SMALL + 5)), line, QUIET, font=_font(_SMALL))
    return panel


def _put(
    panel: Image.Image,
    pen: ImageDraw.ImageDraw,
    corner: tuple[int, int],
    each: Moving,
    plan: _Plan,
    time: float,
) -> None:
    """Draw one tile below its name, and its place below it."""
    left, top = corner
    pen.text((left, top), each.heading, INK, font=_font(_SMALL))
    pen.text((left, top + _SMALL + 4), each.detail, QUIET, font=_font(_SMALL))
    picture = each.pictures[round(time * (len(each.pictures) - 1))]
    pixels = np.rint(255 * np.clip(picture, 0, 1)).astype(np.uint8)
    at = top + 2 * (_SMALL + 4) + 3
    panel.paste(Image.fromarray(enlarged(pixels, plan.factor)), (left, at))
    rail, width = at + plan.tile[1] + 5, plan.tile[0]
    pen.line((left, rail, left + width - 1, rail), fill=QUIET)
    place = left + round(time * (width - 5))
    pen.rectangle((place, rail - 2, place + 4, rail + 2), fill=MARK)


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    """Return the font that comes with matplotlib, which knows a hat on a letter."""
    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)


def _width(text: str, size: int) -> int:
    return int(_font(size).getlength(text)) + 1


def _wrapped(text: str, size: int, width: int) -> list[str]:
    return wrap(text, max(12, int(width / (0.58 * size))))
