"""Pictures side by side on one Axes, each row and column named, with a title and a caption."""

from collections.abc import Sequence
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ._looking import Strip
from ._pixels import coloured, paled, tiled
from ._style import BLUE, without_frame

_TILE, _LEFT, _REST = 0.72, 1.6, 1.1  # inches: a tile, the names of rows, title and caption
_GAP = 0.06  # between tiles, in sides of a tile


def draw_grid(tiles: np.ndarray, ax: Axes | None, *, rows: Sequence[str], columns: Sequence[str]) -> Axes:
    """Lay tiles of shape (n_rows, n_columns, height, width, 3) side by side, and name rows and columns."""
    n_rows, n_columns, height, width = tiles.shape[:4]
    ax = _axes_for(n_rows, n_columns, height / width) if ax is None else ax
    gap = gap_of(height, width)
    ax.imshow(tiled(tiles, gap), interpolation="nearest")
    across, down = (
        np.arange(n) * (side + gap) + (side - 1) / 2 for n, side in ((n_columns, width), (n_rows, height))
    )
    ax.set_xticks(across, labels=[_plain(text) for text in columns])
    ax.set_yticks(down, labels=[_plain(text) for text in rows])
    ax.xaxis.tick_top()
    ax.tick_params(length=0, labelsize=8)
    without_frame(ax)
    return ax


def gap_of(height: int, width: int) -> int:
    """Return the distance between tiles, in pixels."""
    return max(1, round(_GAP * max(height, width)))


def frame(
    ax: Axes, row: int, column: int, shape: tuple[int, ...], *, colour: str = BLUE, width: float = 2.0
) -> None:
    """Put a frame around one tile."""
    high, wide = shape
    gap = gap_of(high, wide)
    corner = (column * (wide + gap) - 0.5, row * (high + gap) - 0.5)
    ax.add_patch(Rectangle(corner, wide, high, fill=False, edgecolor=colour, linewidth=width, clip_on=False))


def told(ax: Axes, title: str, caption: str) -> Axes:
    """Write what a picture shows above it, and how to read it below."""
    wide = float(ax.figure.get_window_extent().width) / float(ax.figure.dpi)
    letters = int(13 * max(wide - _LEFT, 2.5))  # of size 8, right of the names of rows
    ax.set_title(_plain(title), loc="left", fontsize=11)
    ax.set_xlabel(_plain(fill(caption, letters)), loc="left", fontsize=8)
    return ax


def strip_tiles(strip: Strip, n: int) -> np.ndarray:
    """Return the pictures of a strip, pale where the latent is dead; white ones fill up to `n`."""
    found = coloured(strip.pictures)
    blank = np.ones((n - len(found), *found.shape[1:]), dtype=found.dtype)
    return np.concatenate([paled(found) if strip.dead else found, blank])


def _axes_for(n_rows: int, n_columns: int, slope: float) -> Axes:
    import matplotlib.pyplot as plt

    size = figure_size(n_rows, n_columns, slope)
    return plt.figure(figsize=size, layout="constrained").add_subplot()


def figure_size(n_rows: int, n_columns: int, slope: float = 1.0) -> tuple[float, float]:
    """Return a size in inches that has room for every tile; `slope` is the height of one over its width."""
    return max(_LEFT + _TILE * n_columns, 4.5), _REST + _TILE * slope * n_rows


def _plain(text: str) -> str:
    """Keep a name from being read as mathematics."""
    return text.replace("$", r"\$")
