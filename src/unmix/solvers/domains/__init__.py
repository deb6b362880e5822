"""Coordinates whose laws change between domains: linear starts, joint diagonalisers, hops."""

from ._hops import hops
from ._starts import can_start, linear_starts, rebase_domains, start_at_basis

__all__ = [
    "can_start",
    "hops",
    "linear_starts",
    "rebase_domains",
    "start_at_basis",
]
