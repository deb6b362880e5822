"""Blocks of latents that are always active together (E.5): R² within and across blocks.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix E.5. The paper's R² lie between .84 and .96
within blocks and do not exceed .05 across; the middle of each range is compared with, to the precision of
its half width. Across blocks the largest entry counts.
"""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from unmix.metrics import block_r2

from ...engine import Cell
from .._grid import grid
from ._common import BOTH, codes, draw, model_of, references, settings

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
        Cell(BOTH, column, settings=settings(BOTH, world), **score)
        for column, world in WORLDS.items()
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


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return (
        *grid(method, WORLDS.items(), OWN["value"]),
        *grid(method, WORLDS.items(), OTHER["value"], better="lower"),
    )


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit, give each block its codes, and predict block from block."""
    data, fresh = draw(cell, seed, budget)
    if cell.settings["method"] == TRUTH:
        code = fresh.z
    else:
        code = codes(cell, fresh, seed, model_of(cell, data, seed, budget))
    sizes = cell.settings["world"]["blocks"]
    blocks = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    shares = block_r2(
        fresh.z, code, blocks=blocks, code_blocks=_owners(fresh.z, code, blocks), probe="linear"
    )
    across = shares[~np.eye(len(blocks), dtype=bool)]
    return {OWN["value"]: float(np.diag(shares).mean()), OTHER["value"]: float(across.max())}


def _owners(z: np.ndarray, code: np.ndarray, blocks: list[np.ndarray]) -> list[np.ndarray]:
    """Give each block as many codes as it has latents, those that it explains best together."""
    explained = block_r2(code, z, code_blocks=blocks, probe="linear")
    seats = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
    codes_chosen, seats_taken = linear_sum_assignment(-explained[:, seats])
    return [codes_chosen[seats[seats_taken] == k] for k in range(len(blocks))]
