"""Draw the picture of the page on domains from what was measured: python docs/img/draw_domains.py.

Reads results/, as `unmix reproduce cg.domains` writes it.
"""

from ink import BLUE, GREY, ORANGE, curve, plain, save, stored
from matplotlib.figure import Figure

from unmix.experiments import RAW, Table
from unmix.experiments.papers.cg._common import BOTH, IDENTIFIABLE, WITHIN

LINES = ((BOTH, "CGVAE", BLUE, "-"), (IDENTIFIABLE, "iVAE", ORANGE, "-"), (RAW, "raw x", GREY, "--"))
TITLES = {"A": "graph A: sparse, two parents each", "D": "graph D: dense"}
COUNTS = (2, 4, 8)


def draw_counts(table: Table) -> Figure:
    """Draw MCC within domains against their number, where nothing is nested and where all is."""
    lines = {(line.row, line.column): line for line in table.lines if line.value == WITHIN}
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    for ax, (graph, title) in zip(figure.subplots(1, 2, sharey=True), TITLES.items(), strict=True):
        for row, label, colour, style in LINES:
            found = {n: lines[row, f"{n} domains, graph {graph}"] for n in COUNTS}
            curve(ax, found, label, colour, style)
        ax.axvline(9 if graph == "D" else 1, color=GREY, linewidth=0.8, linestyle=":")
        ax.set(ylim=(0.5, 1.01), xlim=(0.8, 9.5), xticks=COUNTS)
        up = "MCC within domains" if graph == "A" else ""
        plain(ax, title, "domains (dotted: enough by theory)", up, size=10)
    ax.legend(frameon=False, fontsize=8, labelcolor=GREY, loc="lower left", ncols=3)
    return figure


if __name__ == "__main__":
    save({"domains_counts": draw_counts(stored("cg.domains"))})
