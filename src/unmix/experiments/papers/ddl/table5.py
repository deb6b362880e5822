"""Dependency sparsity with observation noise, and on dense structures (Table 5).

Zheng et al. (2026), arXiv:2604.17568, Table 5. The paper's "Base" is its own method on data whose structure
is dense, which identify nothing. The paper does not give the noise: here 0.1 standard deviations.
"""

from typing import Any

from ...engine import Cell
from ._common import DEFAULT, NOISE, PUBLISHED, cells, named, own, references, run
from .table4 import OURS, SIZES

__all__ = ["CELLS", "run", "with_method"]

SOURCE = "arXiv:2604.17568, Table 5"
DATA: dict[str, dict[str, Any]] = {"": {}, ", noise": {"noise": NOISE}, ", dense": {"structure": "dense"}}
PAPER = {
    "": OURS,
    ", noise": ((3, 0.8210, 0.0088), (4, 0.8381, 0.0093), (5, 0.7944, 0.0134)),
    ", dense": ((3, 0.3814, 0.0369), (4, 0.5467, 0.0326), (5, 0.4576, 0.1075)),
}


def _rows(data, settings):
    methods = (cells(method, PAPER[data], source=SOURCE, **settings) for method in (PUBLISHED, DEFAULT))
    return named(data, (cell for row in (*methods, references(SIZES, **settings)) for cell in row))


CELLS = tuple(cell for data, settings in DATA.items() for cell in _rows(data, settings))


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return tuple(cell for d, settings in DATA.items() for cell in named(d, own(method, SIZES, **settings)))
