"""Slots that share observed variables: identifiability against overlap, two, three and five slots.

Matthes, Han and Shen (2026), arXiv:2509.22196, the synthetic study: compositional contrast with both weights
(the paper's proxy), ours, and the search for slots. Only slots without overlap meet Type D; Type S allows up
to 80% here. The paper says that scores fall with overlap; its numbers are not known to us.
"""

from ...engine import Cell
from ._common import cells, own, run

__all__ = ["CELLS", "run", "with_method"]

WORLDS = tuple({"n_slots": k, "overlap": o} for k in (2, 3, 5) for o in (0.0, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9))
CELLS = cells(WORLDS)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return own(method, WORLDS)
