"""Sparse mixings that the defaults were not chosen on: more parents, other units, few rows, strong bends.

Beyond the papers. Mixings are ours, of three families (hidden units that saturate, swing or bend once), one
for each seed in turn. "Defaults of 0.1" are the settings that were shipped first, `effort="plain"`. "Started
at the truth" is what the objective keeps of a fit that begins there: the ceiling of any search. "Told the
truth" is what a network of the same kind reads off the observations after it was shown the latents: the
ceiling of any method. No published number.
The method is that of arXiv:2604.17568.
"""

from typing import Any

import numpy as np

from unmix.data import LatentDataset
from unmix.estimators import DiverseDictionaryLearning
from unmix.metrics import mcc, rotation_floor

from ...engine import RAW, ROTATION, Cell, make_method
from .._grid import grid
from .._references import reference_codes
from ..ddl._common import NETWORKS
from ._ceiling import from_truth
from ._common import BEFORE, DEFAULT, KEPT, OBJECTIVE, QUICK, THOROUGH, TOLD, cells, drawn
from ._common import BUDGETS as BUDGETS
from ._draws import sparse

N, EFFORTS = "number of latents", {DEFAULT: "usual", BEFORE: "plain", THOROUGH: "thorough"}
_MANY = {"rows": 10_000}
WORLDS: dict[str, dict[str, Any]] = {
    "5 in 10, three parents": _MANY | {"parents": 3},
    "5 in 15, three parents, tanh": _MANY | {"d": 15, "parents": 3, "family": "tanh"},
    "8 in 16, sine": _MANY | {"n": 8, "d": 16, "family": "sine"},
    "10 in 20, sine": _MANY | {"n": 10, "d": 20, "family": "sine"},
    "5 in 10, skewed units": _MANY | {"units": "skewed"},
    "5 in 10, 500 rows": {"rows": 500},
    "5 in 10, 2,000 rows": {"rows": 2000},
    "5 in 10, noise 0.3": _MANY | {"noise": 0.3},
    "5 in 10, one latent too few": _MANY | {"ask": -1},
    "5 in 10, number not told": _MANY | {"ask": "auto"},
    "5 in 5, laplace": _MANY | {"n": 5, "d": 5, "law": "laplace"},
    "8 in 8, uniform": _MANY | {"n": 8, "d": 8, "law": "uniform"},
    "6 in 6, gamma": _MANY | {"n": 6, "d": 6, "law": "gamma"},
    "6 in 6, normal": _MANY | {"n": 6, "d": 6},
    "5 in 10, bent twice as much": _MANY | {"bend": 1.4},
    "4 in 8, nested and dependent": _MANY | {"n": 4, "d": 8, "nested": True, "law": "dependent"},
    "5 in 10, weak edges": _MANY | {"weakest": 0.1},
}
# where the same is done as before, so that fits have the same bits: square and Gaussian, or hardly bent
SAME = ("6 in 6, normal", "4 in 8, nested and dependent")
CHANGED = tuple(name for name in WORLDS if name not in SAME)
HARD = (*list(WORLDS)[:8], "5 in 10, bent twice as much")
CELLS = (
    *cells(WORLDS, (DEFAULT,), "mcc"),
    *grid(KEPT, WORLDS.items(), "mcc", TOLD),
    *(
        cell
        for method in (DEFAULT, KEPT)
        for cell in grid(method, WORLDS.items(), OBJECTIVE, better="lower", always=False)
    ),
    *grid(BEFORE, ((name, WORLDS[name]) for name in CHANGED), "mcc"),
    *grid(THOROUGH, ((name, WORLDS[name]) for name in HARD), "mcc"),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return grid(method, WORLDS.items(), "mcc")


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw a world, fit, and match codes to latents; a floor is the mean over many rotations."""
    method, world = cell.settings["method"], dict(cell.settings["world"])
    ask = world.pop("ask", 0)
    data = drawn(sparse, world, seed, budget)
    if method == ROTATION:
        return {"mcc": rotation_floor(data.z, random_state=seed)}
    if method == RAW:
        return {"mcc": mcc(data.z, reference_codes(RAW, data.z, data.x, seed))}
    if method == KEPT:
        return _ceilings(data, ask, seed, budget)
    n = ask if ask == "auto" else data.z.shape[1] + ask
    model = make_method(method, n, seed) if ":" in method else _made(n, EFFORTS[method], seed, budget)
    codes = np.asarray((model.fit(data.x) or model).transform(data.x), dtype=float)
    return {"mcc": mcc(data.z, codes), N: codes.shape[1], **_objective(model)}


def _objective(model: Any) -> dict[str, float]:
    return {OBJECTIVE: min(model.restarts_)} if hasattr(model, "restarts_") else {}


def _made(n: int | str, effort: str, seed: int, budget: str) -> DiverseDictionaryLearning:
    networks = NETWORKS[budget] | QUICK[budget]
    return DiverseDictionaryLearning(n, effort=effort, random_state=seed, **networks)


def _ceilings(data: LatentDataset, ask: int | str, seed: int, budget: str) -> dict[str, Any]:
    """Start at the truth with the default terms, and score what was told and what is kept."""
    n = data.z.shape[1] + (0 if isinstance(ask, str) else ask)
    kept = from_truth(_made(n, "usual", seed, budget), data.x, data.z[:, :n], seed)
    return {"mcc": mcc(data.z, kept.codes), TOLD: mcc(data.z, kept.told), OBJECTIVE: kept.objective}
