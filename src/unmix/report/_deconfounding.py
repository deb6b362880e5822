"""From a comparison of methods to one HTML file: what each gives away of the batch, and what it keeps."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..deconfound import Confounding, Evaluation, Score
from ._write import render

_KEEPS = ("relation_map", "replicate_map", "auroc", "variance_kept")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 560, 340, 46, 44
_STRONG = 0.3  # Cramér's V from which on the page warns


def deconfounding(
    path: str | Path,
    found: Evaluation,
    *,
    confounding: Confounding | None = None,
    components: Sequence[dict[str, Any]] = (),
    method: str = "anchored",
    source: str = "",
    title: str = "What batches do, and what is left without them",
    notes: str = "",
) -> Path:
    """Write one self-contained HTML page about a table with batches.

    Parameters
    ----------
    path, title, notes
        As for `write`.
    found : Evaluation
        As returned by `unmix.deconfound.evaluate`.
    confounding : Confounding, optional
        Of batch and label; by default that of the evaluation.
    components : sequence of dict
        As returned by `Components.listed`.
    method : str
        The method that the adjusted table was made by.
    source : str
        Name of the table.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from unmix.deconfound import evaluate
    >>> rng = np.random.default_rng(0)
    >>> plate = np.repeat(np.arange(10), 40)
    >>> x = rng.normal(size=(400, 5)) + 3 * rng.normal(size=(10, 5))[plate]
    >>> scored = evaluate(x, {"plate": plate}, batch=["plate"], methods=["base", "anchored"])
    >>> page = deconfounding(tempfile.mkdtemp() + "/plates.html", scored)
    >>> "the batch of a control is found" in page.read_text()
    True
    """
    confounded = found.confounding if confounding is None else confounding
    heads, rows = found.lines()
    return render(
        path,
        "deconfounding.html",
        title=title,
        notes=notes,
        source=source,
        tone=_tone(found, confounded, method),
        headline=_headline(found, method),
        confounded=None if confounded is None else str(confounded),
        strong=confounded is not None and confounded.cramers_v > _STRONG,
        remarks=found.notes,
        heads=heads,
        rows=[_row(row, method) for row in rows],
        explained=[line.split(": ", 1) for line in found.legend],
        picture=_picture(found, method),
        components=list(components)[:30],
        n_components=len(components),
        method=method,
        n_rows=f"{found.n_rows:,}",
    )


def _row(cells: list[str], method: str) -> dict[str, Any]:
    """Part the numbers from their intervals."""
    parted = [cell.partition(" [") for cell in cells]
    shown = [{"value": value, "interval": mark.strip() + rest} for value, mark, rest in parted]
    return {"cells": shown, "ours": cells[0] == method, "chance": cells[0] == "chance"}


def _headline(found: Evaluation, method: str) -> str:
    """Say what happened to the leak, and to what is to be kept, beside chance."""
    row = found.scores.get(method, {})
    base = found.scores.get("base", {})
    leak = row.get("leak_held_out") or row.get("leak")
    before = base.get("leak_held_out") or base.get("leak")
    if leak is None or before is None:
        return "Methods compared"
    said = f"By {method}, the batch of a control is found in {leak.value:.0%}, before in {before.value:.0%}"
    return f"{said} (chance {leak.chance:.0%}){_kept(row, base, found)}"


def _kept(row: dict[str, Score], base: dict[str, Score], found: Evaluation) -> str:
    name = _what_is_kept(found)
    if name is None or name == "variance_kept" or name not in row or name not in base:
        return ""
    words = {"relation_map": "relation mAP", "replicate_map": "replicate mAP", "auroc": "AUROC"}
    chance = found.chance(name)
    return f"; {words[name]} {row[name].value:.2f}, before {base[name].value:.2f} (chance {chance:.2f})"


def _tone(found: Evaluation, confounded: Confounding | None, method: str) -> str:
    """Green only where the leak fell, nothing to keep fell below its interval, and labels are spread."""
    row, base, name = found.scores.get(method, {}), found.scores.get("base", {}), _what_is_kept(found)
    if "leak" not in row or "leak" not in base:
        return "open"
    worse = name is not None and name in row and name in base and row[name].value < base[name].low
    less = row["leak"].value < base["leak"].low
    if worse or not less:
        return "stop" if worse else "care"
    return "care" if confounded is not None and confounded.cramers_v > _STRONG else "good"


def _what_is_kept(found: Evaluation) -> str | None:
    return next((name for name in _KEEPS if name in found.columns), None)


def _picture(found: Evaluation, method: str) -> dict[str, Any] | None:
    """Place every method by what it gives away and what it keeps."""
    name, leak = _what_is_kept(found), "leak_held_out" if "leak_held_out" in found.columns else "leak"
    points: dict[tuple[float, float], list[str]] = {}
    for called, row in found.scores.items():
        if name in row and leak in row and np.isfinite(row[name].value) and np.isfinite(row[leak].value):
            points.setdefault((round(row[leak].value, 3), round(row[name].value, 3)), []).append(called)
    if name is None or len(points) < 2:
        return None
    heights = [y for _, y in points]
    bottom = np.floor(min(*heights, 0.8) * 10) / 10
    top = max(np.ceil(max(heights) * 10) / 10, bottom + 0.2)
    drawn = [
        {"x": _x(x), "y": _y(y, bottom, top), "label": " = ".join(called), "ours": method in called}
        for (x, y), called in points.items()
    ]
    return {
        "points": _apart(drawn),
        "width": _WIDTH + 90,
        "height": _HEIGHT,
        "left": _LEFT,
        "base": _HEIGHT - _BOTTOM,
        "x_ticks": [(_x(v / 5), f"{v / 5:.1f}") for v in range(6)],
        "y_ticks": [(_y(v, bottom, top), f"{v:.1f}") for v in np.arange(bottom, top + 0.01, 0.1)],
        "chance": _x(found.chance(leak)),
        "x_name": "batch of controls found by 1-NN (left is better)",
        "y_name": {"auroc": "AUROC", "variance_kept": "variance kept"}.get(
            name, name.replace("_map", " mAP")
        ),
    }


def _x(value: float) -> float:
    return round(_LEFT + value * (_WIDTH - _LEFT), 1)


def _y(value: float, bottom: float, top: float) -> float:
    return round(_HEIGHT - _BOTTOM - (value - bottom) / (top - bottom) * (_HEIGHT - _BOTTOM - 16), 1)


def _apart(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Move labels that would lie on another one, or outside, to the nearest free line."""
    placed: list[tuple[float, float]] = []
    for point in sorted(points, key=lambda point: point["y"]):
        lines = sorted(np.arange(14, _HEIGHT - _BOTTOM - 2, 3.0), key=lambda y: abs(y - point["y"] - 4))
        free = [y for y in lines if not any(abs(y - o) < 12 and abs(point["x"] - x) < 110 for x, o in placed)]
        point["label_y"] = round(float((free or lines)[0]), 1)
        placed.append((point["x"], point["label_y"]))
    return points
