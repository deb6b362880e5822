"""Blocks of latents that are always active together (E.5): R² within and across blocks.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix E.5. The paper's R² lie between .84 and .96
within blocks and do not exceed .05 across; the middle of each range is compared with, to the precision of
its half width. Across blocks the largest entry counts.
"""

from typing import Any

import numpy as np

from unmix.metrics import block_r2, match_components

from .._cell import Cell
from ._common import BOTH, SECOND, codes, draw, model_of, references, settings

SOURCE = "arXiv:2604.13218, appendix E.5, a range"
BLOCKS = ((2, 2, 2, 2, 2), (1, 1, 1, 3, 4))
TRUTH = "true latents"  # what dependence between blocks alone explains
WORLDS = {", ".join(map(str, sizes)): {"blocks": sizes} for sizes in BLOCKS}
OWN: dict[str, Any] = {"value": "R² own block", "paper": 0.90, "precision": 0.06, "source": SOURCE}
OTHER: dict[str, Any] = {
    "value": "R² other block",
    "paper": 0.025,
    "precision": 0.025,
    "source": SOURCE,
    "better": "lower",
}

CELLS = (
    *(
        Cell(row, column, settings=settings(row, world), **score)
        for column, world in WORLDS.items()
        for row in (BOTH, SECOND)
        for score in (OWN, OTHER)
    ),
    *(
        Cell(TRUTH, column, value=score["value"], settings=settings(TRUTH, world))
        for column, world in WORLDS.items()
        for score in (OWN, OTHER)
    ),
    *references(WORLDS.items(), OWN["value"]),
    *references(WORLDS.items(), OTHER["value"], better="lower"),
)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit, give each block the codes of its latents, and predict block from block."""
    data, fresh = draw(cell, seed, budget)
    if cell.settings["method"] == TRUTH:
        code = fresh.z
    else:
        code = codes(cell, fresh, seed, model_of(cell, data, seed, budget))
    order = np.array(match_components(fresh.z, code).order)
    blocks = np.split(np.arange(len(order)), np.cumsum(cell.settings["world"]["blocks"])[:-1])
    shares = block_r2(
        fresh.z, code, blocks=blocks, code_blocks=[order[block] for block in blocks], probe="linear"
    )
    across = shares[~np.eye(len(blocks), dtype=bool)]
    return {OWN["value"]: float(np.diag(shares).mean()), OTHER["value"]: float(across.max())}
