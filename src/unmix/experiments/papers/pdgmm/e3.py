"""No common basis (E.3): every other component is sparse in another basis.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix E.3. What the four columns vary is not
readable in our copy; the degree k of the causal graph is taken. Standard deviations are not known to us.
"""

from ...engine import Cell
from .._grid import grid
from ._common import BOTH, references, run, settings

__all__ = ["CELLS", "run", "with_method"]

SOURCE = "arXiv:2604.13218, appendix E.3, columns 0 to 3"
PAPER = (0.83, 0.82, 0.84, 0.85)
WORLDS = {f"k = {k}": {"components": "two bases", "graph_degree": k} for k in range(4)}

CELLS = (
    *(
        Cell(BOTH, column, value="r2", paper=paper, source=SOURCE, settings=settings(BOTH, world))
        for (column, world), paper in zip(WORLDS.items(), PAPER, strict=True)
    ),
    *(Cell(BOTH, column, settings=settings(BOTH, world)) for column, world in WORLDS.items()),
    *references(WORLDS.items(), "r2", "mcc"),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return grid(method, WORLDS.items(), "r2", "mcc")
