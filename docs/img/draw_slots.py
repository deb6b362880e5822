"""Draw how well slots are found against how much they share: python docs/img/draw_slots.py.

Reads results/, as `unmix reproduce mechanistic.overlap` writes it.
"""

import sys

from ink import BLUE, GREY, ORANGE, ROOT, curve, plain, save
from matplotlib.figure import Figure

sys.path.append(str(ROOT / "benchmarks"))
from slots import BESIDE, CONTRASTS, SEARCH, Scores, certified, scores

LINES = (
    (SEARCH, "search", BLUE, "-"),
    (CONTRASTS[0], "contrast, weight 0.01", ORANGE, "--"),
    (CONTRASTS[1], "contrast, weight 1", ORANGE, "-"),
    (BESIDE[0], "raw x", GREY, "--"),
    (BESIDE[1], "rotation floor", GREY, ":"),
)


def draw_overlap(found: Scores) -> Figure:
    """Draw SIS against the share of rows in common, a panel for each number of slots."""
    figure = Figure(figsize=(9, 3.3), layout="constrained")
    for ax, n_slots in zip(figure.subplots(1, 3, sharey=True), (2, 3, 5), strict=True):
        worlds = {100 * overlap: of for (k, overlap), of in found.items() if k == n_slots}
        for method, label, colour, style in LINES:
            curve(ax, {at: of.get(method, []) for at, of in worlds.items()}, label, colour, style)
        for at in worlds:
            if certified(n_slots, at / 100) == "not certified":  # nothing is promised there
                ax.axvspan(at - 5, at + 5, color=GREY, alpha=0.15, linewidth=0)
        ax.set(ylim=(-0.05, 1.02), xlim=(-4, 95), xticks=list(worlds))
        plain(ax, f"{n_slots} slots", "rows shared with the next slot, %", "SIS" if n_slots == 2 else "")
    labels = ax.get_legend_handles_labels()
    figure.legend(*labels, frameon=False, fontsize=8, labelcolor=GREY, loc="outside lower center", ncols=5)
    return figure


if __name__ == "__main__":
    save({"slots_overlap": draw_overlap(scores())})
