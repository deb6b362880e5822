"""Draw how well slots are found against how much they share: python docs/img/draw_slots.py.

Reads benchmarks/results/slots.json, as `benchmarks/slots.py` writes it.
"""

import json
import sys

from ink import BLUE, GREY, ORANGE, ROOT, curve, plain, save
from matplotlib.figure import Figure

sys.path.append(str(ROOT / "benchmarks"))
from slots import OVERLAPS  # the benchmark's own list

FITS = (
    ("search", "search", BLUE, "-"),
    ("contrast 0.01", "contrast, weight 0.01", ORANGE, "--"),
    ("contrast 1", "contrast, weight 1", ORANGE, "-"),
)
BESIDE = (("raw", "raw x", "--"), ("floor", "rotation floor", ":"))


def draw_overlap(results: list[dict]) -> Figure:
    """Draw SIS against the share of rows in common, a panel for each number of slots."""
    figure = Figure(figsize=(9, 3.3), layout="constrained")
    for ax, n_slots in zip(figure.subplots(1, 3, sharey=True), (2, 3, 5), strict=True):
        rows = {o: [r for r in results if r["row"] == f"K{n_slots}-{o}"] for o in OVERLAPS}
        for name, label, style in BESIDE:
            scores = {o: [r[name] for r in found if name in r] for o, found in rows.items()}
            curve(ax, scores, label, GREY, style)
        for method, label, colour, style in FITS:
            scores = {o: [r["sis"] for r in found if r["method"] == method] for o, found in rows.items()}
            curve(ax, scores, label, colour, style)
        for overlap, found in rows.items():
            if any(not r.get("type_s", True) for r in found):  # nothing is promised there
                ax.axvspan(overlap - 5, overlap + 5, color=GREY, alpha=0.15, linewidth=0)
        ax.set(ylim=(-0.05, 1.02), xlim=(-4, 95), xticks=OVERLAPS)
        plain(ax, f"{n_slots} slots", "rows shared with the next slot, %", "SIS" if n_slots == 2 else "")
    figure.legend(
        *ax.get_legend_handles_labels(),
        frameon=False,
        fontsize=8,
        labelcolor=GREY,
        loc="outside lower center",
        ncols=5,
    )
    return figure


if __name__ == "__main__":
    stored = ROOT / "benchmarks" / "results" / "slots.json"
    save({"slots_overlap": draw_overlap(json.loads(stored.read_text(encoding="utf-8")))})
