"""Degenerate mixtures behind three layers that bend hard, and latents that rest only nearly at one value.

Beyond the papers. Latents are independent, each rests in half of the samples, and layers are rotations with
slopes of 1 and 0.2. "Started at the truth" is what the objective keeps of a fit that begins there, "told the
truth" what a network reads off the observations after it was shown the latents. "Said" is the share of runs
that say that latents have no value of rest, not all of them, or rest near it only. No published number.
The method is that of arXiv:2604.13218.
"""

from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from unmix.estimators import PDGMM
from unmix.metrics import mcc, rotation_floor

from ...engine import RAW, ROTATION, Cell, codes_of, make_method
from .._grid import grid
from ._ceiling import mixture_from_truth, read_off
from ._common import BUDGETS as BUDGETS
from ._common import DEFAULT, KEPT, OBJECTIVE, QUICK, TOLD, cells, drawn
from ._draws import mixture

SAID = "share of runs that say so"
_STEPS = {"smoke": 20, "laptop": 3000}
_MANY = {"rows": 10_000}
WORLDS: dict[str, dict[str, Any]] = {
    "three hard layers": _MANY | {"n_layers": 3},
    "two layers, resting within 0.1": _MANY | {"n_layers": 2, "soft": 0.1},
    "two layers, resting within 0.3": _MANY | {"n_layers": 2, "soft": 0.3},
}
CELLS = (
    *cells(WORLDS, (DEFAULT, KEPT, TOLD), "mcc"),
    *grid(DEFAULT, WORLDS.items(), SAID),
    *(cell for method in (DEFAULT, KEPT) for cell in grid(method, WORLDS.items(), OBJECTIVE, better="lower")),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return grid(method, WORLDS.items(), "mcc")


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw a mixture, fit, and match codes to latents."""
    method = cell.settings["method"]
    data = drawn(mixture, cell.settings["world"], seed, budget)
    if method == ROTATION:
        return {"mcc": rotation_floor(data.z, random_state=seed)}
    if method == RAW:
        return {"mcc": mcc(data.z, data.x)}
    if method == TOLD:
        return {"mcc": mcc(data.z, read_off(data.x, data.z, seed, _STEPS[budget]))}
    if ":" in method:
        return {"mcc": mcc(data.z, codes_of(make_method(method, data.z.shape[1], seed), data.x))}
    model = PDGMM(data.z.shape[1], random_state=seed, **QUICK[budget])
    if method == KEPT:
        kept = mixture_from_truth(model, data.x, data.z, seed)
        return {"mcc": mcc(data.z, kept.codes), OBJECTIVE: kept.objective}
    with catch_warnings():
        simplefilter("ignore")  # what is wrong is counted instead
        codes = np.asarray(model.fit(data.x).transform(data.x), dtype=float)
    said = float(any("value" in flag for flag in model.flags_))  # of rest
    return {"mcc": mcc(data.z, codes), SAID: said, OBJECTIVE: min(model.restarts_)}
