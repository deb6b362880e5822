"""Degenerate mixtures behind two and three layers that bend more than the published mixing does.

After Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, whose mixing is nearly linear: there a sparse
basis of raw x does most of the work, here it does not. Twice as many restarts as elsewhere. "Started at the
truth" is what the objective keeps of a fit that begins there, on the samples of the fit. No published number.
"""

from typing import Any

from unmix.estimators import PDGMM
from unmix.metrics import mcc

from ...engine import Cell
from .._grid import grid
from ..worlds._ceiling import mixture_from_truth
from ..worlds._common import KEPT, OBJECTIVE
from ._common import BOTH, PDGMM_SIZES, draw, judge, model_of, references

WORLDS = {f"{m} layers": {"profile": "hard", "n_layers": m} for m in (2, 3)}
SCORES = ("mcc", "r2")
STARTS = {"smoke": 1, "laptop": 4, "full": 8}

CELLS = (
    *grid(BOTH, WORLDS.items(), *SCORES),
    *grid(KEPT, WORLDS.items(), "mcc"),
    *(cell for method in (BOTH, KEPT) for cell in grid(method, WORLDS.items(), OBJECTIVE, better="lower")),
    *references(WORLDS.items(), *SCORES),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return grid(method, WORLDS.items(), *SCORES)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit with more starts, and score on fresh samples."""
    data, fresh = draw(cell, seed, budget)
    if cell.settings["method"] == KEPT:
        model = PDGMM(data.z.shape[1], random_state=seed, **PDGMM_SIZES[budget])
        kept = mixture_from_truth(model, data.x, data.z, seed)
        return {"mcc": mcc(data.z, kept.codes), OBJECTIVE: kept.objective}
    model = model_of(cell, data, seed, budget, n_restarts=STARTS[budget])
    objective = {OBJECTIVE: min(model.restarts_)} if isinstance(model, PDGMM) else {}
    return objective | judge(cell, fresh, seed, model)
