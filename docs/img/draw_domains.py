"""Draw the pictures of the page on domains from what was measured: python docs/img/draw_domains.py.

Reads benchmarks/results/domains.json, as `benchmarks/domains.py` writes it. The files are written beside this
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
STORED = ROOT / "benchmarks" / "results" / "domains.json"
sys.path.append(str(ROOT / "benchmarks"))
from domains import ROWS, summary  # noqa: E402  # the benchmark's own reading of its results

GREY, BLUE, ORANGE = "#808890", "#3b7dd8", "#e08a1e"  # read well on light and on dark paper
LINES = (("cgvae", "CGVAE", BLUE, "-"), ("ivae", "iVAE", ORANGE, "-"), ("raw", "raw x", GREY, "--"))
MATRICES = ("A-4x4 U=2", "B-4x4 U=2", "C-4x4 U=3", "D-4x4 U=2")


def draw_counts(found: list[dict]) -> Figure:
    """Draw MCC within domains against their number, where nothing is nested and where all is."""
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    titles = {"A": "graph A: sparse, two parents each", "D": "graph D: dense"}
    for ax, (graph, title) in zip(figure.subplots(1, 2, sharey=True), titles.items(), strict=True):
        rows = [of for of in found if _swept(of["row"], graph)]
        rows.sort(key=lambda of: ROWS[of["row"]]["n_domains"])
        for name, label, colour, style in LINES:
            _curve(ax, [of for of in rows if of[name]], name, label, colour, style)
        ax.axvline(9 if graph == "D" else 1, color=GREY, linewidth=0.8, linestyle=":")
        ax.set(ylim=(0.5, 1.01), xlim=(0.8, 12.5), xticks=(2, 3, 5, 9, 12))
        _plain(ax, title, "domains (dotted: enough by theory)", "MCC within domains" if graph == "A" else "")
    ax.legend(frameon=False, fontsize=8, labelcolor=GREY, loc="lower right")
    return figure


def _swept(row: str, graph: str) -> bool:
    return row.startswith(f"{graph}-4x4 U=") and row.removeprefix(f"{graph}-4x4 U=").isdecimal()


def _curve(ax: Axes, rows: list[dict], name: str, label: str, colour: str, style: str) -> None:
    """Draw the mean over seeds, and from the worst to the best."""
    at = [ROWS[of["row"]]["n_domains"] for of in rows]
    means = [float(np.mean(of[name])) for of in rows]
    ax.plot(at, means, style, color=colour, linewidth=1.6, marker="o", markersize=4, label=label)
    ax.vlines(at, [min(of[name]) for of in rows], [max(of[name]) for of in rows], color=colour, alpha=0.5)


def draw_entanglement(found: list[dict]) -> Figure:
    """Draw which latents may be mixed by theory, and how estimates correlate with them, graph by graph."""
    rows = [of for name in MATRICES for of in found if of["row"] == name]
    figure = Figure(figsize=(2.1 * len(rows) + 0.6, 4.4), layout="constrained")
    panels = figure.subplots(2, len(rows), squeeze=False)
    for above, below, of in zip(*panels, rows, strict=True):
        n, U = len(of["may_depend"]), ROWS[of["row"]]["n_domains"]
        first = of is rows[0]
        level = np.array(of["may_depend"]) + np.array(of["contained"])  # 1: told apart by changes
        above.imshow(
            level, cmap=matplotlib.colors.ListedColormap(["#00000000", ORANGE, BLUE]), vmin=0, vmax=2
        )
        _plain(above, f"graph {of['row'][0]}, {U} domains", "", "predicted: latents" if first else "")
        below.imshow(of["correlation"], cmap="Blues", vmin=0, vmax=1)
        for (i, j), value in np.ndenumerate(np.array(of["correlation"])):
            ink = "white" if value > 0.6 else GREY
            below.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color=ink)
        _plain(below, "", "estimates", "observed: latents" if first else "")
        for ax in (above, below):
            names = [f"z{i}" for i in range(n)]
            ax.set(xticks=range(n), yticks=range(n), xticklabels=names, yticklabels=names)
    return figure


def _plain(ax: Axes, title: str, across: str, up: str) -> None:
    ax.set_title(title, color=GREY, fontsize=10)
    ax.set_xlabel(across, color=GREY, fontsize=9)
    ax.set_ylabel(up, color=GREY, fontsize=9)
    ax.tick_params(colors=GREY, length=0, labelsize=8)
    for spine in ax.spines.values():
        spine.set_color(GREY)


def _main() -> None:
    matplotlib.rcParams.update({"svg.hashsalt": "unmix", "svg.fonttype": "none"})
    found = summary(json.loads(STORED.read_text(encoding="utf-8")))
    pictures = {"domains_counts": draw_counts(found), "domains_entanglement": draw_entanglement(found)}
    for name, figure in pictures.items():
        figure.savefig(HERE / f"{name}.svg", transparent=True, metadata={"Date": None})


if __name__ == "__main__":
    _main()
