"""Pictures of balls that rest (D.10): two, four and six of them, R² of codes ball by ball.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix D.10. The published numbers are means over
the balls of its table. Raw x are the leading principal components of the pixels, as many as there are codes.
"""

from typing import Any

import numpy as np

from ...engine import RAW, ROTATION, Cell, Place
from ._balls import (
    ANOTHER,
    BUDGETS,
    METHODS,
    POINTS,
    ball_scores,
    codes_of,
    explained_positions,
)

__all__ = ["BUDGETS", "CELLS", "run"]

SOURCE = "arXiv:2604.13218, appendix D.10"
PAPER = {
    2: (0.958, 0.914),
    4: (0.953, 0.853, 0.932, 0.880),
    6: (0.743, 0.105, 0.293, 0.407, 0.474, 0.595),
}
MEAN, WORST, ALL = "R² per ball", "R² per ball of the worst", "R² all positions"
FIRST = "R² per ball of the first stage"


def _cells(method: str, n_balls: int) -> tuple[Cell, ...]:
    settings = {"method": method, "n_balls": n_balls, "together": True}
    values = (MEAN, WORST, ALL, *(() if method in (RAW, ROTATION) else (FIRST,)))
    published = {MEAN: float(np.mean(PAPER[n_balls])), WORST: min(PAPER[n_balls])}
    return tuple(
        Cell(
            method,
            f"{n_balls} balls",
            value=value,
            paper=published.get(value) if method == POINTS else None,
            source=SOURCE,
            precision=0.0005,
            other=ANOTHER if method == POINTS and value in published else "",
            settings=settings,
        )
        for value in values
    )


CELLS = tuple(cell for n_balls in PAPER for method in METHODS for cell in _cells(method, n_balls))


def run(cell: Cell, seed: int, budget: str, place: Place | None = None) -> dict[str, Any]:
    """Fit both stages, and score what each found on scenes that neither has seen."""
    found = codes_of(dict(cell.settings), seed, budget, place or Place())
    each = ball_scores(found["positions"], found["code"])
    first = {FIRST: float(ball_scores(found["positions"], found["first"]).mean())} if "first" in found else {}
    explained = explained_positions(found["positions"], found["code"])
    return {MEAN: float(each.mean()), WORST: float(each.min()), ALL: explained} | first
