"""Independent components in passes over blocks of rows: sums, whitening, rotations, reliability."""

from ._blocks import block_rows
from ._distinct import distinct
from ._reliability import Shape, labeller, stability
from ._rotations import Goal, Solution, fixed_point, polar, quasi_newton
from ._sums import CONTRASTS
from ._white import HELD, RTOL, Spread, White, Whitening, shape_of_codes, spread_of, white_rows, whitening_of

__all__ = [
    "CONTRASTS",
    "distinct",
    "HELD",
    "RTOL",
    "block_rows",
    "fixed_point",
    "Goal",
    "labeller",
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
