"""What each latent stands for: a card for each, and tables of groups, variables and other columns."""

from typing import Any

import numpy as np

from ..description import LEVEL, Description, Histogram, Latent
from ._heat import Heat, signed, warm
from ._material import Material
from ._order import order_of
from ._words import hat

MAX_COLUMNS, MAX_ROWS = 16, 40  # of a table: latents, and groups or variables
EACH = 3  # variables of each latent in the table of the strongest
BARS = 5  # variables on a card


def name_words(material: Material) -> dict[str, Any]:
    """Return the descriptions by latent and three tables; nothing where there is nothing to describe."""
    found = material.description
    if found is None:
        return {"about": {}, "heats": [], "nulls": (), "columns_left_out": {}, "described_by": ""}
    order = order_of(material)
    shown = order[:MAX_COLUMNS]
    tables = (_groups(found, shown), _variables(found, shown), _metadata(found, shown))
    return {
        "about": {hat(j): _card(material, found.latents[j]) for j in order},
        "heats": [table for table in tables if table is not None],
        "nulls": found.nulls,
        "columns_left_out": found.relations.left_out,
        "described_by": found.by,
    }


def _card(material: Material, latent: Latent) -> dict[str, Any]:
    largest = max((abs(each.size) for each in latent.variables), default=0.0) or 1.0
    return {
        "label": latent.label,
        "share": f"{latent.share:.0%}",
        "variables": [_bar(each, largest) for each in latent.variables[:BARS]],
        "groups": [_group(each) for each in latent.groups[:4]],
        "related": [{"text": each.short, "detail": _beside(each)} for each in latent.related[:4]],
        "numbered": material.data.ids is None,
        "lowest": latent.lowest,
        "highest": latent.highest,
        "histogram": _rects(latent.histogram),
        "few": latent.few,
        "facts": _facts(material.findings, latent.latent),
    }


def _bar(variable: Any, largest: float) -> dict[str, Any]:
    half = round(50 * min(abs(variable.size) / largest, 1.0), 1)
    return {
        "name": variable.name,
        "size": f"{variable.sign}{abs(variable.size):.2f}",
        "left": round(50 - half, 1) if variable.size < 0 else 50,
        "width": half,
        "tone": "down" if variable.size < 0 else "up",
    }


def _group(group: Any) -> dict[str, str]:
    mixed = "" if np.isnan(group.mixed) else f", a random mix of the latents {group.mixed:.1f}"
    return {"text": f"{group.sign}{group.name} {group.ratio:.1f}×", "detail": f"noise 1.0{mixed}"}


def _beside(relation: Any) -> str:
    return f"noise {relation.floor}" + (f"; most {relation.where}" if relation.where else "")


def _rects(histogram: Histogram) -> list[tuple[int, float, float, str]]:
    """Return left edge, top and height of each bar, in a box 32 wide and 10 high, and what it counts."""
    heights = 10 * histogram.counts / max(int(histogram.counts.max()), 1)
    words = [
        f"{low:.3g} to {high:.3g}: {n:,} rows"
        for low, high, n in zip(histogram.edges, histogram.edges[1:], histogram.counts.tolist(), strict=False)
    ]
    return [
        (k, round(10 - h, 2), round(float(h), 2), words[k]) for k, h in enumerate(heights.tolist()) if h > 0
    ]


def _facts(findings: Any, j: int) -> str:
    """Say what the method itself knows of one latent: its law, or its value of rest."""
    parts, known = [], findings.components
    if known is not None and known.gaussian is not None:
        parts.append("can’t be told from Gaussian" if known.gaussian[j] else "not Gaussian")
        if known.reliability is not None:
            parts.append(f"reliability {known.reliability[j]:.2f} if components are independent")
    if findings.resting is not None and findings.resting.spike_mass is not None:
        clear = "" if findings.resting.found is None or findings.resting.found[j] else ", not clearly"
        parts.append(f"rests at one value in {findings.resting.spike_mass[j]:.0%} of the rows{clear}")
    return "; ".join(parts)


def _groups(found: Description, shown: list[int]) -> Heat | None:
    """Return groups in rows: those that stand out in some latent first, in the order of their words."""
    e = found.enrichment
    if not e.names or not shown:
        return None
    clearest = np.argsort(e.p.min(1), kind="stable")[:MAX_ROWS]
    rows = sorted(int(k) for k in clearest)
    marked = e.p <= LEVEL
    return Heat(
        "Which latent moves which group of variables",
        "Groups are words that the names share, or the sets that were given. Mean size of the loadings in "
        "the group over that of all variables; noise gives 1.0. Bold: beyond chance.",
        tuple(hat(j) for j in shown),
        tuple((e.names[k], f"{e.sizes[k]} variables") for k in rows),
        tuple(tuple(warm(e.ratio[k, j], bool(marked[k, j])) for j in shown) for k in rows),
        len(e.names) - len(rows),
    )


def _variables(found: Description, shown: list[int]) -> Heat | None:
    """Return the strongest variables of each latent, in the order of the latents."""
    order = np.argsort(-np.abs(found.loadings), axis=0, kind="stable")
    rows = list(dict.fromkeys(int(i) for j in shown for i in order[:EACH, j]))[:MAX_ROWS]
    return Heat(
        "Which latent moves which variable",
        f"The {EACH} strongest of each latent: change in standard deviations where the latent rises by one "
        f"of its own, by {found.by}. Blue is up, orange down; the sign of a latent as a whole means nothing.",
        tuple(hat(j) for j in shown),
        tuple((found.names[i], "") for i in rows),
        tuple(tuple(signed(found.loadings[i, j]) for j in shown) for i in rows),
        len(found.names) - len(rows),
    )


def _metadata(found: Description, shown: list[int]) -> Heat | None:
    """Return the other columns of the table in rows."""
    of = [{each.column: each for each in found.relations.of[j]} for j in shown]
    columns = (
        sorted(of[0], key=lambda name: -max(each[name].strength for each in of))[:MAX_ROWS] if of else []
    )
    if not columns:
        return None
    return Heat(
        "What each latent goes with",
        "Categories: share of the latent’s variance between them (eta squared). Two values: AUROC. Numbers: "
        "rank correlation. In small type what 95% of permutations stay below. Bold: beyond chance.",
        tuple(hat(j) for j in shown),
        tuple((name, of[0][name].kind) for name in columns),
        tuple(tuple(_related(each[name]) for each in of) for name in columns),
        len(of[0]) - len(columns),
    )


def _related(relation: Any) -> Any:
    text = relation.short.removeprefix(f"{relation.column} ").removeprefix("AUROC ")
    return warm(1 + 1.5 * max(relation.strength, 0.0), relation.p <= LEVEL, text, relation.floor)
