"""Degenerate mixtures behind two and three layers that bend more than the published mixing does.

After Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, whose mixing is nearly linear: there a sparse
basis of raw x does most of the work, here it does not. Twice as many restarts as elsewhere. No published
number.
"""

from typing import Any

from ...engine import Cell
from .._grid import grid
from ._common import BOTH, draw, judge, model_of, references

WORLDS = {f"{m} layers": {"profile": "hard", "n_layers": m} for m in (2, 3)}
SCORES = ("mcc", "r2")
STARTS = {"smoke": 1, "laptop": 4, "full": 8}

CELLS = (*grid(BOTH, WORLDS.items(), *SCORES), *references(WORLDS.items(), *SCORES))


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return grid(method, WORLDS.items(), *SCORES)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit with more starts, and score on fresh samples."""
    data, fresh = draw(cell, seed, budget)
    return judge(cell, fresh, seed, model_of(cell, data, seed, budget, n_restarts=STARTS[budget]))
