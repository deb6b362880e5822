"""What the tables share: the names of their rows, sizes of budgets, and the cells of a world."""

from collections.abc import Iterable, Mapping
from typing import Any

from ...engine import RAW, ROTATION, Cell
from .._grid import grid

DEFAULT, BEFORE, THOROUGH = "unmix default", "defaults of 0.1", "unmix, thorough"
KEPT, TOLD = "started at the truth", "told the truth"
OBJECTIVE = "objective"  # lower at the truth than where a search ends: the search fails, else the objective
BUDGETS = ("smoke", "laptop")
FEW = 300  # rows at the smallest budget
# what the smallest budget does instead of the defaults, which are those of the estimators elsewhere
QUICK: dict[str, dict[str, Any]] = {"smoke": {"max_iter": 2, "n_restarts": 1}, "laptop": {}}


def cells(worlds: Mapping[str, Any], methods: Iterable[str], *values: str) -> tuple[Cell, ...]:
    """Return the cells of these methods and of what learned nothing, in each world."""
    return tuple(
        cell for method in (*methods, RAW, ROTATION) for cell in grid(method, worlds.items(), *values)
    )


def drawn(draw: Any, world: Mapping[str, Any], seed: int, budget: str, **small: Any) -> Any:
    """Draw a world of a cell; at the smallest budget with few rows, and whatever else is to be small."""
    arguments = dict(world)
    rows = arguments.pop("rows")
    if budget == "smoke":
        return draw(min(rows, FEW), seed, **arguments | small)
    return draw(rows, seed, **arguments)
