"""Independent components in passes over blocks of rows: sums, whitening, rotations, reliability."""

from ._blocks import block_rows
from ._linear_part import linear_part
from ._reliability import Shape, labeller, stability
from ._rotations import Goal, Solution, fixed_point, polar, quasi_newton
from ._sums import CONTRASTS
from ._white import HELD, RTOL, Spread, White, Whitening, shape_of_codes, spread_of, white_rows, whitening_of

__all__ = [
    "CONTRASTS",
    "HELD",
    "RTOL",
    "block_rows",
    "fixed_point",
    "Goal",
    "labeller",
    "linear_part",
    "polar",
    "quasi_newton",
    "Shape",
    "shape_of_codes",
    "Solution",
    "Spread",
    "spread_of",
    "stability",
    "White",
    "white_rows",
    "Whitening",
    "whitening_of",
]
