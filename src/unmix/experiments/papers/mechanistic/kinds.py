"""Slots whose effects add up, interact, or whose latents depend on each other, at half overlap.

Matthes, Han and Shen (2026), arXiv:2509.22196: effects that add up meet Type H₂, products of pairs Type H₃;
the law of the latents does not matter. No published number is known to us.
"""

from typing import Any

from ...engine import Cell
from ._common import cells, own, run

__all__ = ["CELLS", "run", "with_method"]

KINDS: tuple[dict[str, Any], ...] = (
    {"mixing": "additive"},
    {"mixing": "interacting"},
    {"latents": "dependent"},
    {"latents": "reweighted"},
)
WORLDS = tuple({"n_slots": 3, "overlap": 0.5, **kind} for kind in KINDS)
CELLS = cells(WORLDS)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return own(method, WORLDS)
