"""What the pictures of the documentation share: colours, plain axes, curves with their spread, and files."""

from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unmix.experiments import Line, Store, Table, summarise

ROOT = Path(__file__).parent.parent.parent
GREY, BLUE, ORANGE = "#808890", "#3b7dd8", "#e08a1e"  # read well on light and on dark paper


def plain(ax: Axes, title: str, across: str, up: str, size: int = 11) -> None:
    """Write what is on the axes, in grey."""
    ax.set_title(title, color=GREY, fontsize=size)
    ax.set_xlabel(across, color=GREY, fontsize=size - 1)
    ax.set_ylabel(up, color=GREY, fontsize=size - 1)
    ax.tick_params(colors=GREY, length=0, labelsize=size - 2)
    for spine in ax.spines.values():
        spine.set_color(GREY)


def stored(name: str) -> Table:
    """Return the table of an experiment, at the largest budget that results/ holds."""
    tables = summarise(Store(ROOT / "results").records())
    return next(table for table in tables if table.experiment == name)


def curve(ax: Axes, lines: dict[float, Line], label: str, colour: str, style: str) -> None:
    """Draw the mean over seeds, and one standard deviation to both sides."""
    known = {at: line for at, line in lines.items() if line.ours is not None}
    means = [line.ours for line in known.values()]
    spreads = [line.our_spread or 0.0 for line in known.values()]
    ax.plot(list(known), means, style, color=colour, linewidth=1.6, marker="o", markersize=4, label=label)
    ax.errorbar(list(known), means, spreads, linestyle="", color=colour, alpha=0.5)


def save(pictures: dict[str, Figure]) -> None:
    """Write pictures beside this file, the same bytes every time."""
    matplotlib.rcParams.update({"svg.hashsalt": "unmix", "svg.fonttype": "none"})
    for name, figure in pictures.items():
        figure.savefig(Path(__file__).parent / f"{name}.svg", transparent=True, metadata={"Date": None})
