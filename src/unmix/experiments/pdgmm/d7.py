"""Mixtures that are not degenerate (D.7): R² where affine recovery is all that can be asked for.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix D.7. The table's head says MCC and its text
the measure of affine recovery, which is R² and is what is taken here.
"""

from typing import Any

from .._cell import Cell
from ._common import (
    BOTH,
    FIRST,
    SETTINGS,
    codes,
    draw,
    judge,
    model_of,
    own,
    references,
    scores,
    settings,
    vade_codes,
)
from ._paper import PAPER, published

WORLDS = {name: world | {"components": "full"} for name, world in SETTINGS.items() if "d7" in PAPER[name]}

CELLS = (
    *(
        Cell(row, name, value=value, settings=settings(FIRST, world), **published(name, column))
        for name, world in WORLDS.items()
        for row, value, column in ((FIRST, "r2", "d7"), ("VaDE", "r2 of VaDE", "d7 vade"))
    ),
    *(Cell(BOTH, name, value="r2", settings=settings(BOTH, world)) for name, world in WORLDS.items()),
    *references(WORLDS.items(), "r2"),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return own(method, WORLDS.items(), "r2")


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit the first stage, and VaDE on its code."""
    data, fresh = draw(cell, seed, budget)
    model = model_of(cell, data, seed, budget)
    code = codes(cell, fresh, seed, model)
    if cell.settings["method"] != FIRST:
        return judge(cell, fresh, seed, model)
    vade = vade_codes(codes(cell, data, seed, model), code, seed, budget)
    return scores(fresh.z, code) | {"r2 of VaDE": scores(fresh.z, vade)["r2"]}
