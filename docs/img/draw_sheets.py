"""Draw a contact sheet of each set of images: python docs/img/draw_sheets.py [NAME ...].

A row moves one factor over its values while the others rest; the last two rows are drawn at random. The
sheet of faces needs the extra `avatars`.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from unmix.data import FactorDataset, avatars, balls, cars3d, dsprites, mpi3d, shapes3d

HERE = Path(__file__).parent
RESTS: dict[str, tuple[Callable[..., FactorDataset], tuple[int, ...]]] = {
    "shapes3d": (shapes3d, (0, 5, 2, 5, 0, 4)),
    "dsprites": (dsprites, (2, 5, 0, 16, 16)),
    "cars3d": (cars3d, (1, 3, 10)),
    "mpi3d": (mpi3d, (2, 0, 1, 1, 0, 30, 18)),
    "avatars": (avatars, (1, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
}
COLUMNS, LABEL, GAP, MARGIN = 10, 118, 2, 4
INK, PAPER = (60, 60, 60), (238, 238, 238)


def moves(data: FactorDataset, rest: tuple[int, ...]) -> list[tuple[str, np.ndarray]]:
    """Return a row of images for each factor, and two of random ones."""
    rows = []
    for j, (name, size) in enumerate(zip(data.names, data.sizes, strict=True)):
        levels = np.tile(rest, (min(COLUMNS, size), 1))
        levels[:, j] = np.linspace(0, size - 1, len(levels)).round()
        rows.append((f"{name.replace('_', ' ')} ({size})", data.render(levels)))
    drawn = data.sample(2 * COLUMNS, random_state=0).images
    return [*rows, ("at random", drawn[:COLUMNS]), ("", drawn[COLUMNS:])]


def scenes() -> list[tuple[str, np.ndarray]]:
    """Return balls: many, and few of which one moves while the other rests."""
    rows = [(f"{n} balls", balls(COLUMNS, n, random_state=n).images[:]) for n in (2, 4, 6)]
    for together, words in ((True, "ball 0 rests"), (False, "x of ball 0 rests")):
        data = balls(2000, 2, together=together, random_state=2)
        rests = data.resting[:, 0, 0] & ~data.resting[:, 1].any(1)
        rests &= together | ~data.resting[:, 0, 1]
        rows.append((words, data.images[np.flatnonzero(rests)[:COLUMNS]]))
    return rows


def sheet(rows: list[tuple[str, np.ndarray]]) -> Image.Image:
    """Put labelled rows of images onto one page."""
    side = rows[0][1].shape[1]
    size = (MARGIN + LABEL + COLUMNS * (side + GAP), 2 * MARGIN + len(rows) * (side + GAP))
    page, font = Image.new("RGB", size, PAPER), ImageFont.load_default(12)
    pen = ImageDraw.Draw(page)
    for r, (label, images) in enumerate(rows):
        top = MARGIN + r * (side + GAP)
        pen.text((MARGIN, top + side // 2 - 7), label, fill=INK, font=font)
        for c, image in enumerate(images):
            grey = image.shape[2] == 1
            picture = Image.fromarray(image[..., 0] if grey else image)
            page.paste(picture.convert("RGB"), (MARGIN + LABEL + c * (side + GAP), top))
    return page


def main(names: list[str]) -> None:
    """Draw the sheets that are named, or all."""
    for name in names or [*RESTS, "balls"]:
        rows = scenes() if name == "balls" else moves(RESTS[name][0](), RESTS[name][1])
        page = sheet(rows).quantize(128, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        page.save(HERE / f"sheet_{name}.png", optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
