"""Draw how well slots are found against how much they share: python docs/img/draw_slots.py.

Reads results/, as `unmix reproduce mechanistic.overlap` writes it.
"""

from ink import BLUE, GREY, ORANGE, curve, plain, save, stored
from matplotlib.figure import Figure

from unmix.data import slots
from unmix.experiments import RAW, ROTATION, Table
from unmix.experiments.papers.mechanistic._common import CONTRASTS, SEARCH, column
from unmix.experiments.papers.mechanistic.overlap import WORLDS
from unmix.theory import sparsity_gap

LINES = (
    (SEARCH, "search", BLUE, "-"),
    *((name, name, ORANGE, style) for name, style in zip(CONTRASTS, ("--", "-"), strict=True)),
    (RAW, "raw x", GREY, "--"),
    (ROTATION, "rotation floor", GREY, ":"),
)


def draw_overlap(table: Table) -> Figure:
    """Draw SIS against the share of rows in common, a panel for each number of slots."""
    lines = {(line.row, line.column): line for line in table.lines}
    figure = Figure(figsize=(9, 3.3), layout="constrained")
    for ax, n_slots in zip(figure.subplots(1, 3, sharey=True), (2, 3, 5), strict=True):
        worlds = {100 * world["overlap"]: world for world in WORLDS if world["n_slots"] == n_slots}
        for row, label, colour, style in LINES:
            curve(ax, {at: lines[row, column(world)] for at, world in worlds.items()}, label, colour, style)
        for at, world in worlds.items():
            if not certified(world):  # nothing is promised there
                ax.axvspan(at - 5, at + 5, color=GREY, alpha=0.15, linewidth=0)
        ax.set(ylim=(-0.05, 1.02), xlim=(-4, 95), xticks=list(worlds))
        plain(ax, f"{n_slots} slots", "rows shared with the next slot, %", "SIS" if n_slots == 2 else "")
    labels = ax.get_legend_handles_labels()
    figure.legend(*labels, frameon=False, fontsize=8, labelcolor=GREY, loc="outside lower center", ncols=5)
    return figure


def certified(world: dict) -> bool:
    """Whether Type S holds; exact Jacobians, so that an entry is zero only where it is."""
    data = slots(100, random_state=0, **world)
    jacobians = data.mixing.jacobian(data.z[:5])
    return bool(sparsity_gap(jacobians, data.partition, generic=True, tolerance=1e-12))


if __name__ == "__main__":
    save({"slots_overlap": draw_overlap(stored("mechanistic.overlap"))})
