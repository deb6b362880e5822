"""The verdict, latent by latent: a card for each, and the evidence beside what noise would give."""

from typing import Any

import numpy as np

from ._material import Material
from ._order import order_of
from ._words import hat, listing

VERDICTS = {"yes": ("good", "trusted"), "not checked": ("open", "not checked"), "no": ("stop", "not trusted")}
MAX_COLUMNS = 12  # units in the table of evidence; each card has its own weakest link


def trust_words(material: Material) -> dict[str, Any]:
    """Return one card per unit and the table of evidence; nothing where there is no verdict."""
    found = material.trust
    if found is None:
        return {"units": [], "evidence": None}
    cards = [_card(material, k) for k in _order(material)]
    return {"units": cards, "evidence": None if found.kind == "none" else _evidence(found)}


def _order(material: Material) -> list[int]:
    """Return the units, those of trusted and strong latents first; slots as they are."""
    found = material.trust
    if found.noun == "slot":
        return list(range(len(found.units)))
    place = {j: rank for rank, j in enumerate(order_of(material))}
    return sorted(range(len(found.units)), key=lambda k: place.get(found.units[k][0], k))


def unit_name(found: Any, k: int) -> str:
    """Name a latent, or a slot."""
    return f"slot {k}" if found.noun == "slot" else hat(found.units[k][0])


def _card(material: Material, k: int) -> dict[str, Any]:
    found = material.trust
    tone, word = VERDICTS[found.verdicts[k]]
    weak = found.weakest[k]
    return {
        "name": unit_name(found, k),
        "tone": tone,
        "word": word,
        "probability": f"{found.probability[k]:.2f}",
        "percent": _percent(found.probability[k]),
        "threshold": _percent(found.threshold),
        "link": weak.name,
        "weakest": f"{weak.words[k][:1].upper()}{weak.words[k][1:]}.",
        "holds": listing(map(hat, found.units[k])) if found.noun == "slot" else "",
        "truth": "; ".join(filter(None, (counterpart(material, j) for j in found.units[k]))),
    }


def _percent(fraction: float) -> float:
    return round(100 * float(fraction), 1)


def counterpart(material: Material, j: int) -> str:
    """Name the true latent that an estimated one was matched to, where the truth is known."""
    matching = material.matching
    if matching is None or j not in matching.order:
        return ""
    true = matching.order.index(j)
    return f"z{true}, correlation {matching.correlation[true, j]:.3f}"


def _evidence(found: Any) -> dict[str, Any]:
    """Return a row per item with a cell per unit; units that all have the same share one cell."""
    n = min(len(found.units), MAX_COLUMNS)
    held = found.chain.factors(found.parts)
    return {
        "units": [unit_name(found, k) for k in range(n)],
        "left_out": len(found.units) - n,
        "rows": [
            _row(each, held[found.part_of(each)], n, found.threshold)
            | {"gaussian": found.gaussian(each.name)}
            for each in found.evidence
        ],
        "surrogate": bool(found.surrogate),
        "rest": f"{found.chain.rest:.2f}",
    }


def _row(item: Any, held: np.ndarray, n: int, threshold: float) -> dict[str, Any]:
    cells = [_cell(item, held, k, threshold) for k in range(n)]
    same = all(cell == cells[0] for cell in cells)
    return {
        "name": item.name,
        "cells": cells[:1] if same else cells,
        "span": n if same else 1,
        "words": list(dict.fromkeys(item.words)),
    }


def _cell(item: Any, held: np.ndarray, k: int, threshold: float) -> dict[str, str]:
    if np.isnan(item.strength[k]):
        return {"measured": "not checked", "null": "", "tone": "open", "holds": ""}
    share, (measured, null) = float(held[k]), item.figures(k)
    return {
        "measured": measured,
        "null": null,
        "tone": "good" if share >= threshold else "care" if share >= 0.5 else "stop",
        "holds": f"{share:.0%}",
    }
