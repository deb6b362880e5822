"""Draw the pictures of the page on domains from what was measured: python docs/img/draw_domains.py.

Reads benchmarks/results/domains.json, as `benchmarks/domains.py` writes it.
"""

import json
import sys

import matplotlib
import numpy as np
from ink import BLUE, GREY, ORANGE, ROOT, curve, plain, save
from matplotlib.figure import Figure

sys.path.append(str(ROOT / "benchmarks"))
from domains import ROWS, summary  # the benchmark's own reading of its results

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
            curve(ax, {ROWS[of["row"]]["n_domains"]: of[name] for of in rows}, label, colour, style)
        ax.axvline(9 if graph == "D" else 1, color=GREY, linewidth=0.8, linestyle=":")
        ax.set(ylim=(0.5, 1.01), xlim=(0.8, 12.5), xticks=(2, 3, 5, 9, 12))
        plain(
            ax,
            title,
            "domains (dotted: enough by theory)",
            "MCC within domains" if graph == "A" else "",
            size=10,
        )
    ax.legend(frameon=False, fontsize=8, labelcolor=GREY, loc="lower right")
    return figure


def _swept(row: str, graph: str) -> bool:
    return row.startswith(f"{graph}-4x4 U=") and row.removeprefix(f"{graph}-4x4 U=").isdecimal()


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
        plain(above, f"graph {of['row'][0]}, {U} domains", "", "predicted: latents" if first else "", size=10)
        below.imshow(of["correlation"], cmap="Blues", vmin=0, vmax=1)
        for (i, j), value in np.ndenumerate(np.array(of["correlation"])):
            ink = "white" if value > 0.6 else GREY
            below.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color=ink)
        plain(below, "", "estimates", "observed: latents" if first else "", size=10)
        for ax in (above, below):
            names = [f"z{i}" for i in range(n)]
            ax.set(xticks=range(n), yticks=range(n), xticklabels=names, yticklabels=names)
    return figure


if __name__ == "__main__":
    stored = ROOT / "benchmarks" / "results" / "domains.json"
    found = summary(json.loads(stored.read_text(encoding="utf-8")))
    save({"domains_counts": draw_counts(found), "domains_entanglement": draw_entanglement(found)})
