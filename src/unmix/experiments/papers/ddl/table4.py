"""Dependency sparsity beside OroJAR and the Hessian penalty (Table 4).

Zheng et al. (2026), arXiv:2604.17568, Table 4. MCC, mean and standard deviation.
"""

from ...engine import Cell
from ._common import DEFAULT, PUBLISHED, cells, own, references, run

__all__ = ["CELLS", "run", "with_method"]

SIZES = (3, 4, 5)
SOURCE = "arXiv:2604.17568, Table 4"
OURS = ((3, 0.8258, 0.0085), (4, 0.8449, 0.0043), (5, 0.8048, 0.0080))
OROJAR = ((3, 0.7288, 0.0280), (4, 0.6301, 0.0810), (5, 0.5119, 0.1482))
HESSIAN = ((3, 0.8257, 0.0240), (4, 0.8352, 0.0396), (5, 0.7789, 0.0174))

CELLS = (
    *cells(PUBLISHED, OURS, source=SOURCE),
    *cells(DEFAULT, OURS, source=SOURCE),
    *cells("OroJAR", OROJAR, source=SOURCE),
    *cells("Hessian penalty", HESSIAN, source=SOURCE),
    *references(SIZES),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return own(method, SIZES)
