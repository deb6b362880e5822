"""`explain`: one answer from all that is known."""

from ._explain import explain
from ._explanation import Explanation
from ._reading import Reading, Unused, resampled_structures

__all__ = [
    "explain",
    "Explanation",
    "Reading",
    "resampled_structures",
    "Unused",
]
