"""Two balls whose x and y rest each for itself (D.11): then single coordinates can be known.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix D.11: a matrix of R² of each code given each
coordinate. The mean of the four that belong together and the largest of the others are compared with.
"""

from typing import Any

from ...engine import RAW, ROTATION, Cell, Place
from ._balls import (
    ANOTHER,
    BUDGETS,
    METHODS,
    POINTS,
    codes_of,
    coordinate_scores,
    explained_positions,
)

__all__ = ["BUDGETS", "CELLS", "run"]

SOURCE = "arXiv:2604.13218, appendix D.11"
OWN, OTHER, ALL = "R² own coordinate", "R² other coordinate", "R² all positions"
FIRST = "R² own coordinate of the first stage"
PAPER = {OWN: (0.98 + 0.95 + 0.97 + 0.99) / 4, OTHER: 0.03}
AT = "two balls, x and y apart"


def _cells(method: str) -> tuple[Cell, ...]:
    settings = {"method": method, "n_balls": 2, "together": False}
    values = (OWN, OTHER, ALL, *(() if method in (RAW, ROTATION) else (FIRST,)))
    return tuple(
        Cell(
            method,
            AT,
            value=value,
            paper=PAPER.get(value) if method == POINTS else None,
            source=SOURCE,
            better="lower" if value == OTHER else "higher",
            other=ANOTHER if method == POINTS and value in PAPER else "",
            settings=settings,
        )
        for value in values
    )


CELLS = tuple(cell for method in METHODS for cell in _cells(method))


def run(cell: Cell, seed: int, budget: str, place: Place | None = None) -> dict[str, Any]:
    """Fit both stages, and score what each found on scenes that neither has seen."""
    found = codes_of(dict(cell.settings), seed, budget, place or Place())
    own, other = coordinate_scores(found["positions"], found["code"])
    first = {FIRST: coordinate_scores(found["positions"], found["first"])[0]} if "first" in found else {}
    return {OWN: own, OTHER: other, ALL: explained_positions(found["positions"], found["code"])} | first
