"""From a folder of results to one HTML file: the papers' numbers, ours, and a verdict for each."""

import os
from itertools import cycle, product
from pathlib import Path
from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes

from ..experiments import RAW, ROTATION, Line, Store, Table, read_reasons, summarise
from ..plots._style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED
from ._figures import spot, svg
from ._write import SCRIPT, render

_TONES = {"better": "good", "within": "good", "worse": "stop", "failed": "stop", "not judged": "care"}
_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, RED)
_MARKERS = {"o": "-", "s": "-.", "^": ":"}  # another one, with its stroke, when the colours are used up
_SWEEPS = ("cg.domains", "mechanistic.overlap", "mechanistic.ablation")
_SCORES = {"mcc": "MCC", "r2": "R²", "shd": "SHD"}


def results(
    path: str | Path,
    folder: str | os.PathLike[str],
    *,
    title: str = "The papers' tables, and ours",
    notes: str = "",
) -> Path:
    """Write one self-contained HTML page about stored results.

    Every table shows the published number, ours with its spread and its number of seeds, the difference and
    a verdict; failures and files that can't be trusted stay visible. Lines can be sorted and filtered.

    Parameters
    ----------
    path, title, notes
        As for `write`.
    folder : path-like
        As written by `unmix reproduce --out`.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> results(folder + "/results.html", folder)
    Traceback (most recent call last):
    ...
    ValueError: `folder` must hold results of `unmix reproduce`, got none. Run it with --out first.
    """
    store = Store(folder)
    tables = summarise(store.records(), read_reasons(folder))
    if not tables and not store.corrupt:
        raise ValueError(
            "`folder` must hold results of `unmix reproduce`, got none. Run it with --out first."
        )
    return render(
        path,
        "results.html",
        title=title,
        notes=notes,
        facts=_facts(tables),
        tables=[_shown(table) for table in tables],
        corrupt=sorted(store.corrupt.items()),
        scripts=((SCRIPT,), ("results",)),
    )


def _facts(tables: tuple[Table, ...]) -> list[tuple[str, str, str]]:
    def total(verdict: str) -> int:
        return sum(table.count(verdict) for table in tables)

    n_runs = sum(table.n_runs for table in tables)
    return [
        ("Tables", str(len({table.experiment for table in tables})), f"{n_runs:,} runs"),
        ("Better", str(total("better")), "than the paper"),
        ("Within", str(total("within")), "both spreads"),
        ("Worse", str(total("worse")), "than the paper"),
        ("Not judged", str(total("not judged")), "too small a budget, or other data than the paper's"),
        ("Failed", str(total("failed")), "see the tables"),
    ]


def _shown(table: Table) -> dict[str, Any]:
    anchor = "-".join(filter(None, (table.experiment, table.budget, table.data))).replace(".", "-")
    return {
        "anchor": anchor,
        "title": table.title,
        "name": table.experiment,
        "budget": table.budget + (f", data given ({table.data})" if table.data else ""),
        "lines": [_cells(line) for line in table.lines],
        "commands": table.commands,
        "made": "; ".join(("code " + ", ".join(table.codes), *table.machines)),
        "figures": _figures(table, anchor) if _is_drawn(table) else [],
        "n_runs": table.n_runs,
        "judged": {name: n for name in _TONES if (n := table.count(name))},
        "tones": _TONES,
    }


def _is_drawn(table: Table) -> bool:
    """Whether columns are points on an axis: figures of the papers, and sweeps over domains or overlaps."""
    return ".figure" in table.experiment or table.experiment in _SWEEPS


def _cells(line: Line) -> dict[str, Any]:
    return {
        "row": line.row,
        "column": line.column,
        "score": _score(line.value) + (" ↓" if line.better == "lower" else ""),
        "paper": _number(line.paper, line.spread),
        "paper_sort": line.paper,
        "source": line.source,
        "ours": _number(line.ours, line.our_spread),
        "ours_sort": line.ours,
        "n": line.n,
        "difference": "" if line.difference is None else f"{line.difference:+.3f}",
        "difference_sort": line.difference,
        "verdict": line.verdict,
        "tone": _TONES.get(line.verdict, ""),
        "seconds": f"{line.seconds:.1f}",
        "seconds_sort": line.seconds,
        "remarks": [*line.failures, *line.notes],
        "reason": line.reason,
        "failures": line.failures,
        "reference": line.row in (RAW, ROTATION),
    }


def _score(value: str) -> str:
    """Name a score: what stands after "of" says whose it is, which the row says already."""
    name = value.partition(" of ")[0]
    return _SCORES.get(name, name.replace("_", " "))


def _number(mean: float | None, spread: float | None) -> str:
    if mean is None:
        return ""
    digits = 3 if abs(mean) < 100 else 0
    return f"{mean:.{digits}f}" + (f" ± {spread:.{digits}f}" if spread is not None else "")


def _figures(table: Table, anchor: str) -> list[Markup]:
    """Draw each score over the columns, one line for each row, the paper's dashed; other data apart."""
    panels: dict[tuple[str, str], list[Line]] = {}
    for line in table.lines:
        panels.setdefault((line.value.partition(" of ")[0], line.column.partition(", ")[2]), []).append(line)
    return [
        _figure(lines, score, data, f"{anchor}-{k}")
        for k, ((score, data), lines) in enumerate(panels.items())
    ]


def _figure(lines: list[Line], score: str, data: str, name: str) -> Markup:
    columns = list(dict.fromkeys(line.column for line in lines))
    rows = list(dict.fromkeys(line.row for line in lines))

    def draw(ax: Axes) -> None:
        looks = cycle(product(_MARKERS, _COLOURS))
        for row in rows:
            own = [line for line in lines if line.row == row]
            reference = row in (RAW, ROTATION)
            marker, colour = ("", GREY) if reference else next(looks)
            stroke = ":" if row == RAW else _MARKERS.get(marker, "-")
            style = {"color": colour, "linestyle": stroke, "markersize": 4}
            _curve(ax, columns, own, "ours", label=row, marker=marker, **style)
            style["linestyle"] = "--"
            if any(line.paper is not None for line in own):
                _curve(ax, columns, own, "paper", label=f"{row}, paper", marker="x", **style)
        ax.set_xticks(range(len(columns)), [column.partition(", ")[0] for column in columns])
        ax.set_title(data)
        ax.set_ylabel(_score(score))
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))

    return svg(draw, name=name, label=f"{score} {data}".strip(), width=7.0, height=2.9)


def _curve(ax: Axes, columns: list[str], lines: list[Line], which: str, **style: Any) -> None:
    known = [line for line in lines if getattr(line, which) is not None]
    known.sort(key=lambda line: columns.index(line.column))
    spreads = [getattr(line, "our_spread" if which == "ours" else "spread") or 0.0 for line in known]
    places = [columns.index(line.column) for line in known]
    ax.errorbar(
        places, [getattr(line, which) for line in known], yerr=spreads, capsize=2, linewidth=1.2, **style
    )
    for place, line, spread in zip(places, known, spreads, strict=True):
        value = getattr(line, which)
        spot(ax, place, value, f"{style['label']}, {line.column}: {_number(value, spread or None)}")
