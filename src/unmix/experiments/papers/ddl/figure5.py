"""Diverse against dense structures, three to ten latents (Figure 5).

Zheng et al. (2026), arXiv:2604.17568, Figure 5. The paper's numbers were read off a bar chart, so that they
are known to about 0.05. Both kinds of structure have the same family of mixings here, which the paper does
not say of its own. Fits of square data have a term of ours that keeps codes from correlating; "L1, codes may
correlate" is without it, as the published objective is, and "L1, codes begin at x" the same from networks
that copy, since codes that a random start switches off stay off.
"""

from dataclasses import replace
from typing import Any

from ...engine import Cell
from ._common import BEGUN, DEFAULT, FREE, PUBLISHED, cells, named, own, references, run

__all__ = ["CELLS", "run", "with_method"]

SOURCE = "arXiv:2604.17568, Figure 5, read off the chart"
SIZES = tuple(range(3, 11))
DIVERSE = (0.83, 0.85, 0.82, 0.86, 0.71, 0.73, 0.82, 0.84)
DENSE = (0.39, 0.56, 0.46, 0.54, 0.31, 0.31, 0.31, 0.32)


def _rows(
    label: str, means: tuple[float, ...], rows: tuple[str, ...] = (PUBLISHED, DEFAULT), **settings: Any
) -> tuple[Cell, ...]:
    papers = [(n, mean, None) for n, mean in zip(SIZES, means, strict=True)]
    methods = (cells(method, papers, source=SOURCE, **settings) for method in rows)
    made = (cell for row in (*methods, references(SIZES, **settings)) for cell in row)
    return tuple(replace(cell, precision=0.05) for cell in named(label, made))


CELLS = (*_rows("", DIVERSE, (PUBLISHED, FREE, BEGUN, DEFAULT)), *_rows(", dense", DENSE, structure="dense"))


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method, on diverse structures."""
    return own(method, SIZES)
