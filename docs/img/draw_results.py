"""Draw the one picture of results from what was measured: python docs/img/draw_results.py.

Reads results/, as `unmix reproduce` writes it; `make results` draws it again.
"""

from collections.abc import Iterable

from ink import BLUE, GREY, ORANGE, plain, save
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unmix.experiments import RAW, ROTATION, Line, Table
from unmix.experiments.papers.cg._common import BOTH as BOTH_TERMS
from unmix.experiments.papers.cg._common import WITHIN
from unmix.experiments.papers.ddl._common import DEFAULT
from unmix.experiments.papers.pdgmm._common import BOTH as BOTH_STAGES

SHOWN = {  # by table: the row of ours, its value, and the settings with their words
    "ddl.recovery": (
        DEFAULT,
        "mcc",
        {
            "5 in 10": "sparse: 5 latents in 10 variables",
            "10 in 30": "sparse: 10 in 30",
            "20 in 60": "sparse: 20 in 60",
            "5 in 10, dependent": "sparse: 5 in 10, dependent latents",
            "10 in 10": "sparse: 10 in 10 (raw x is better)",
            "5 in 10, dense": "not sparse: nothing is identified",
        },
    ),
    "cg.domains": (
        BOTH_TERMS,
        WITHIN,
        {
            "2 domains, graph A": "domains: 4 latents, 2 domains, sparse",
            "8 domains, graph C": "domains: 4 latents, 8 domains, nested",
            "2 domains, graph D": "domains: 4 latents, 2 domains, dense",
        },
    ),
    "pdgmm.table1": (
        BOTH_STAGES,
        "mcc",
        {
            "base": "resting latents: 10, as in the paper",
            "n = 40": "resting latents: 40",
            "theta = 45": "resting latents, turned by 45°: nothing is identified",
        },
    ),
}


def draw_results(tables: Iterable[Table]) -> Figure:
    """Draw a line for each setting: ours, the paper's where there is one, and what learned nothing."""
    known = {table.experiment: table for table in reversed(tuple(tables)) if table.budget != "smoke"}
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    ax, labels = figure.subplots(), []
    for name, (ours, value, settings) in SHOWN.items():
        lines = {(line.row, line.column): line for line in known[name].lines if line.value == value}
        for at, words in settings.items():
            _setting(ax, -len(labels), *(lines.get((row, at)) for row in (ours, RAW, ROTATION)))
            labels.append(words)
    ax.set(yticks=[-k for k in range(len(labels))], yticklabels=labels, xlim=(0.25, 1.02))
    plain(ax, "", "MCC: correlation of found and true latents; 1 is perfect", "", size=10)
    _named(ax)
    return figure


def _setting(ax: Axes, y: int, ours: Line, raw: Line, rotation: Line) -> None:
    floor = max(raw.ours, rotation.ours)
    ax.plot([floor, ours.ours], [y, y], color=BLUE if ours.ours > floor else GREY, linewidth=1.2, alpha=0.5)
    ax.errorbar(ours.ours, y, xerr=ours.our_spread, color=BLUE, marker="o", markersize=6, zorder=3)
    ax.plot(raw.ours, y, color=GREY, marker="|", markersize=11, markeredgewidth=2)
    ax.plot(rotation.ours, y, color=GREY, marker="x", markersize=6)
    if ours.paper is not None:
        ax.plot(ours.paper, y, color=ORANGE, marker="D", markersize=5, fillstyle="none")


def _named(ax: Axes) -> None:
    """Name the marks, each once, above the axes."""
    marks = {
        "ours, mean and spread over seeds": (BLUE, "o", "full"),
        "the paper's": (ORANGE, "D", "none"),
        "raw x": (GREY, "|", "full"),
        "random rotation of the truth": (GREY, "x", "full"),
    }
    for words, (colour, mark, filled) in marks.items():
        ax.plot([], [], color=colour, marker=mark, fillstyle=filled, linestyle="", label=words)
    ax.legend(
        frameon=False, fontsize=8, labelcolor=GREY, loc="lower left", bbox_to_anchor=(-0.35, 1.0), ncols=4
    )


if __name__ == "__main__":
    from ink import ROOT

    from unmix.experiments import Store, summarise

    save({"results": draw_results(summarise(Store(ROOT / "results").records()))})
