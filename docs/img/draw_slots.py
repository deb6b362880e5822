"""Draw how well slots are found against how much they share: python docs/img/draw_slots.py.

Reads benchmarks/results/slots.json, as `benchmarks/slots.py` writes it. The file is written beside this
script, the same bytes every time.
"""

import json
import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
STORED = ROOT / "benchmarks" / "results" / "slots.json"
sys.path.append(str(ROOT / "benchmarks"))
from slots import OVERLAPS  # noqa: E402  # the benchmark's own list

GREY, BLUE, ORANGE = "#808890", "#3b7dd8", "#e08a1e"  # read well on light and on dark paper
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
            ax.plot(*_means(scores), style, color=GREY, linewidth=1.2, label=label)
        for method, label, colour, style in FITS:
            scores = {o: [r["sis"] for r in found if r["method"] == method] for o, found in rows.items()}
            _curve(ax, scores, label, colour, style)
        for overlap, found in rows.items():
            if any(not r.get("type_s", True) for r in found):  # nothing is promised there
                ax.axvspan(overlap - 5, overlap + 5, color=GREY, alpha=0.15, linewidth=0)
        ax.set(ylim=(-0.05, 1.02), xlim=(-4, 95), xticks=OVERLAPS)
        _plain(ax, f"{n_slots} slots", "rows shared with the next slot, %", "SIS" if n_slots == 2 else "")
    figure.legend(
        *ax.get_legend_handles_labels(),
        frameon=False,
        fontsize=8,
        labelcolor=GREY,
        loc="outside lower center",
        ncols=5,
    )
    return figure


def _means(scores: dict[int, list[float]]) -> tuple[list[int], list[float]]:
    known = {o: float(np.mean(values)) for o, values in scores.items() if values}
    return list(known), list(known.values())


def _curve(ax: Axes, scores: dict[int, list[float]], label: str, colour: str, style: str) -> None:
    """Draw the mean over seeds, and from the worst to the best."""
    ax.plot(*_means(scores), style, color=colour, linewidth=1.6, marker="o", markersize=4, label=label)
    for overlap, values in scores.items():
        if values:
            ax.vlines(overlap, min(values), max(values), color=colour, alpha=0.5)


def _plain(ax: Axes, title: str, across: str, up: str) -> None:
    ax.set_title(title, color=GREY, fontsize=11)
    ax.set_xlabel(across, color=GREY)
    ax.set_ylabel(up, color=GREY)
    ax.tick_params(colors=GREY, length=0, labelsize=8)
    for spine in ax.spines.values():
        spine.set_color(GREY)


def _main() -> None:
    matplotlib.rcParams.update({"svg.hashsalt": "unmix", "svg.fonttype": "none"})
    figure = draw_overlap(json.loads(STORED.read_text(encoding="utf-8")))
    figure.savefig(HERE / "slots-overlap.svg", transparent=True, metadata={"Date": None})


if __name__ == "__main__":
    _main()
