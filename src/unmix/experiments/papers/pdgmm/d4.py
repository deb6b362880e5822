"""The cost of more latents (D.4): seconds of the second stage, and what both stages reach.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix D.4. The paper's time is that of its second
stage, epochs times seconds of an epoch, on a machine of its own.
"""

import time
from collections.abc import Iterator
from typing import Any

from ...engine import Cell
from .._grid import grid
from ._common import BOTH, SECOND, draw, judge, model_of, references, settings

SOURCE = "arXiv:2604.13218, appendix D.4: epochs times seconds of an epoch"
# latents: thousands of epochs, seconds of a thousand
COST = {5: (2.5, 13.4), 10: (20, 20.2), 20: (125, 45.6), 40: (300, 145.4), 50: (800, 219.7)}
WORLDS = tuple((f"n = {n}", {"n_latents": n}) for n in COST)


def _cells(n: int) -> Iterator[Cell]:
    column, world = f"n = {n}", {"n_latents": n}
    thousands, seconds = COST[n]
    timed: dict[str, Any] = {"value": "seconds", "better": "lower"}
    paper: dict[str, Any] = {"paper": thousands * seconds, "precision": 0.05 * thousands, "source": SOURCE}
    yield Cell(SECOND, column, settings=settings(SECOND, world), **timed, **paper)
    yield Cell(BOTH, column, settings=settings(BOTH, world), **timed)
    yield Cell(BOTH, column, settings=settings(BOTH, world))


CELLS = (*(cell for n in COST for cell in _cells(n)), *references(WORLDS, "mcc"))


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return grid(method, WORLDS, "mcc")


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Time the fit alone."""
    data, fresh = draw(cell, seed, budget)
    start = time.perf_counter()
    model = model_of(cell, data, seed, budget)
    seconds = time.perf_counter() - start
    return judge(cell, fresh, seed, model) | {"seconds": seconds}
