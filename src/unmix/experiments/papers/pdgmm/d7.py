"""Mixtures that are not degenerate (D.7): R² where affine recovery is all that can be asked for.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix D.7. The table's head says MCC and its text
the measure of affine recovery, which is R² and is what is taken here.
"""

from typing import Any

from ...engine import Cell
from .._grid import grid
from ._common import (
    BOTH,
    FIRST,
    SETTINGS,
    VADES,
    codes,
    draw,
    judge,
    model_of,
    of,
    references,
    scores,
    settings,
    vade_scores,
    white_codes,
)
from ._paper import PAPER, published

WORLDS = {name: world | {"components": "full"} for name, world in SETTINGS.items() if "d7" in PAPER[name]}

CELLS = (
    *(
        Cell(row, name, value=f"r2 of {row}", settings=settings(BOTH, world), **published(name, column))
        for name, world in WORLDS.items()
        for row, column in ((FIRST, "d7"), *((vade, "d7 vade") for vade in VADES))
    ),
    *(Cell(BOTH, name, value="r2", settings=settings(BOTH, world)) for name, world in WORLDS.items()),
    *references(WORLDS.items(), "r2"),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return grid(method, WORLDS.items(), "r2")


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit both stages, and VaDE on the code of the first."""
    data, fresh = draw(cell, seed, budget)
    model = model_of(cell, data, seed, budget)
    found = judge(cell, fresh, seed, model)
    if cell.settings["method"] != BOTH:
        return found
    first, fresh_first = white_codes(*(codes(cell, part, seed, model) for part in (data, fresh)))
    found |= of("first stage", scores(fresh.z, fresh_first))
    return found | vade_scores(fresh.z, first, fresh_first, seed, budget)
