"""Slots of latents that move few observed variables: the search, and where training starts."""

from ._search import sparsest_slots
from ._starts import find_slots, rebase_slots, start_additive, start_in_unions

__all__ = [
    "find_slots",
    "rebase_slots",
    "sparsest_slots",
    "start_additive",
    "start_in_unions",
]
