"""The published second stage at the published number of steps (D.4), on raw x.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix D.4. Raw x is nearly an affine image of the
latents there, as the paper's first stage is. Gradients are those of the paper; networks without bends are
computed as the one affine map that they are, which is why a step takes less. Forty and fifty latents take
300,000 and 800,000 steps, days of a core, and are left out. The paper's MCC is that of both its stages.
"""

import time
from collections.abc import Iterator
from typing import Any

from unmix.estimators import SparseBasis

from ...engine import Cell
from ._common import draw, judge, model_of, references, settings
from ._paper import published
from .d4 import COST, SOURCE
from .d5_bounds import PUBLISHED

BUDGETS = ("smoke", "full")
NAMES = {5: "n = 5", 10: "base", 20: "n = 20"}
WORLDS: tuple[tuple[str, dict[str, Any]], ...] = tuple((f"n = {n}", {"n_latents": n}) for n in NAMES)


def _cells(n: int, column: str, world: dict[str, Any]) -> Iterator[Cell]:
    thousands, seconds = COST[n]
    paper: dict[str, Any] = {"paper": thousands * seconds, "precision": 0.05 * thousands, "source": SOURCE}
    own = settings(PUBLISHED, world, steps=int(1000 * thousands))
    yield Cell(PUBLISHED, column, value="seconds", better="lower", settings=own, **paper)
    yield Cell(PUBLISHED, column, settings=own, **published(NAMES[n], "mcc"))


CELLS = (
    *(cell for n, (column, world) in zip(NAMES, WORLDS, strict=True) for cell in _cells(n, column, world)),
    *references(WORLDS, "mcc"),
)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Solve the constrained problem with as many steps as published, and time it."""
    data, fresh = draw(cell, seed, budget)
    if cell.settings["method"] != PUBLISHED:
        return judge(cell, fresh, seed, model_of(cell, data, seed, budget))
    steps = 2 if budget == "smoke" else cell.settings["steps"]
    start = time.perf_counter()
    model = SparseBasis(solver="lagrangian", max_iter=steps, random_state=seed).fit(data.x)
    seconds = time.perf_counter() - start
    return judge(cell, fresh, seed, model) | {"seconds": seconds}
