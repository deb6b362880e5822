"""What the pictures share: colours that read on light and dark paper, tick labels that never collide."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgba

BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#3b7dd8", "#e07b39", "#2e9e6b", "#d1495b", "#8e6bc1", "#8b919a"
CYCLE = (BLUE, ORANGE, GREEN, PURPLE, RED, GREY)
MAX_LABELS = 24  # more tick labels than this would touch each other


def shades(colour: str) -> LinearSegmentedColormap:
    """Return a colour map from transparent to `colour`: zero shows the paper, whatever its colour."""
    return LinearSegmentedColormap.from_list("shades", [to_rgba(colour, 0.0), to_rgba(colour, 0.85)])


def signed_shades(negative: str, positive: str) -> LinearSegmentedColormap:
    """Return a diverging colour map that is transparent at zero."""
    stops = [to_rgba(negative, 0.85), to_rgba(negative, 0.0), to_rgba(positive, 0.0), to_rgba(positive, 0.85)]
    return LinearSegmentedColormap.from_list("signed", list(zip((0.0, 0.5, 0.5, 1.0), stops, strict=True)))


def axes_or_new(ax: Axes | None) -> Axes:
    """Return `ax`, or the only Axes of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.figure(layout="constrained").add_subplot()


def labels(names: Sequence[str] | None, n: int, letter: str, what: str, *, longest: int = 18) -> list[str]:
    """Return `n` labels: the names given, else the letter with a number; `what` is the argument's name."""
    if names is None:
        return [f"{letter}{k}" for k in range(n)]
    if len(names) != n:
        raise ValueError(f"`{what}` must hold {n} names, got {len(names)}. Pass one for each.")
    return [_plain(str(name), longest) for name in names]


def _plain(name: str, longest: int) -> str:
    """Keep a user's name from being read as mathematics, and from pushing the picture aside.

    Names of one table often differ in the middle and at the end, so that it is the middle that is cut.
    """
    half = (longest - 1) // 2
    short = name if len(name) <= longest else f"{name[: longest - 1 - half]}…{name[-half:]}"
    return short.replace("$", r"\$")


def label_axis(axis: Any, texts: Sequence[str]) -> None:
    """Label the cells of a matrix axis, leaving out labels evenly when there are too many."""
    every = int(np.ceil(len(texts) / MAX_LABELS))
    axis.set_ticks(range(0, len(texts), every), labels=list(texts)[::every])
    axis.set_tick_params(length=0)


def legend_above(ax: Axes, most: int, *, stacked: bool = False) -> None:
    """Put a legend above the picture, where it can't cover a line; none where there are too many names.

    Long names are stacked, one above the other.
    """
    n_entries = len(ax.get_legend_handles_labels()[1])
    if 0 < n_entries <= most:
        ax.legend(
            frameon=False,
            loc="lower left",
            bbox_to_anchor=(-0.04, 1.0),
            ncols=1 if stacked else n_entries if n_entries <= 5 else 4,
            columnspacing=1.0,
            handlelength=1.1,
            handletextpad=0.4,
            borderaxespad=0.2,
        )


def without_frame(ax: Axes) -> None:
    """Remove the four spines."""
    ax.spines[:].set_visible(False)
