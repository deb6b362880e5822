"""Linear and affine changes of a code: sparse ones, and how networks start at them."""

from ._affine import Affine, affine, start_at, whitening
from ._linear import (
    change_coordinates,
    distinct_bases,
    has_linear_coordinates,
    principal,
    rebase,
    sparse_bases,
    start_linear,
)

__all__ = [
    "change_coordinates",
    "Affine",
    "affine",
    "distinct_bases",
    "has_linear_coordinates",
    "principal",
    "rebase",
    "sparse_bases",
    "start_at",
    "start_linear",
    "whitening",
]
