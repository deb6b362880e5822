"""Fifty and a hundred latents of degenerate mixtures, ten times the paper's base.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, has ten, and fifty at most, where its second stage
takes two days. The published mixing is nearly linear, so that the second stage works on raw x.
"""

from typing import Any

from ...engine import Cell
from .._grid import grid
from ..pdgmm._common import BOTH, SECOND, draw, judge, model_of, references, settings
from ._common import SECONDS, timed

WORLDS = {f"n = {n}": {"n_latents": n} for n in (50, 100)}

CELLS = (
    *(Cell(BOTH, column, settings=settings(BOTH, world)) for column, world in WORLDS.items()),
    *(
        Cell(row, column, settings=settings(row, world), **SECONDS)
        for row in (BOTH, SECOND)
        for column, world in WORLDS.items()
    ),
    *references(WORLDS.items(), "mcc"),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return (*grid(method, WORLDS.items(), "mcc"), *grid(method, WORLDS.items(), "seconds", better="lower"))


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit with one start, and score on fresh samples."""
    data, fresh = draw(cell, seed, budget)
    one = {"n_restarts": 1}
    return timed(lambda: judge(cell, fresh, seed, model_of(cell, data, seed, budget, **one)))
