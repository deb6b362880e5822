"""Twenty slots of three latents that share half of their variables, ten times the smallest study of slots.

Matthes, Han and Shen (2026), arXiv:2509.22196, has two, three and five slots.
"""

from dataclasses import replace
from typing import Any

from ...engine import RAW, ROTATION, Cell
from ..mechanistic import _common as slots
from ..mechanistic._common import CONTRASTS, SEARCH, SIS, TRUTH
from ._common import SECONDS, size, timed

N_SLOTS, COLUMN = 20, "overlap 50%, K = 20"
METHODS = (SEARCH, *CONTRASTS)


def _cells(row: str, method: str) -> tuple[Cell, ...]:
    timing = () if row in (TRUTH, RAW, ROTATION) else (SECONDS,)
    return tuple(
        Cell(row, COLUMN, settings={"method": method, "n_slots": N_SLOTS}, **score)
        for score in ({"value": SIS}, *timing)
    )


CELLS = tuple(cell for row in (*METHODS, TRUTH, RAW, ROTATION) for cell in _cells(row, row))


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return _cells(method.partition(":")[2], method)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw slots, fit, and score codes of unseen samples."""
    world = {"n_slots": size(cell.settings["n_slots"], budget), "overlap": 0.5}
    settings = {"method": cell.settings["method"], "world": world}
    return timed(lambda: slots.run(replace(cell, settings=settings), seed, budget))
