"""Genericity violated (E.2): components that agree where they meet.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix E.2, after Example E.2. Latents are
independent and inactive at their exact mean, so that Assumption 3.4 fails. Standard deviations are not
known to us.
"""

from ...engine import Cell
from .._grid import grid
from ._common import BOTH, references, run, settings

__all__ = ["CELLS", "run", "with_method"]

SOURCE = "arXiv:2604.13218, appendix E.2"
PAPER = {2: (0.87, 0.92), 5: (0.70, 0.63), 10: (0.64, 0.47)}
WORLDS = {n: {"n_latents": n, "components": "equal", "graph_degree": 0} for n in PAPER}

CELLS = (
    *(
        Cell(BOTH, f"n = {n}", value=value, paper=paper, source=SOURCE, settings=settings(BOTH, WORLDS[n]))
        for n, papers in PAPER.items()
        for value, paper in zip(("r2", "mcc"), papers, strict=True)
    ),
    *references(((f"n = {n}", world) for n, world in WORLDS.items()), "r2", "mcc"),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return grid(method, ((f"n = {n}", world) for n, world in WORLDS.items()), "r2", "mcc")
