"""Linear and affine changes of a code: sparse ones, and how networks start at them."""

from ._affine import Affine, affine, start_at, whitening
from ._bends import follows, is_bent
from ._independent import independent_basis
from ._linear import (
    change_coordinates,
    distinct_bases,
    has_linear_coordinates,
    principal,
    rebase,
    sparse_bases,
    start_linear,
)
from ._tangents import along, sparse_steps
from ._units import KNOTS, better_units, left_by, normal_scores

__all__ = [
    "along",
    "follows",
    "is_bent",
    "sparse_steps",
    "better_units",
    "independent_basis",
    "KNOTS",
    "left_by",
    "normal_scores",
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
