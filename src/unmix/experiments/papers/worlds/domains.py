"""Latents that change between domains, behind layers as in iVAE's data and behind nested sparse mixings.

Beyond the papers. Sources and mixings are ours, of three families, one for each seed in turn. Scores are
taken within domains. "Started at the truth" is what the objective keeps of a fit that begins there, "told the
truth" what a network of the same kind reads off the observations after it was shown the latents: the ceilings
of any search and of any method, the first under a law of independent latents. With the correlated prior
latents may depend on each other within domains, in the same way in all; the default asks whether they do.
"Defaults of 0.1" are `effort="plain"`: they saw the principal components everywhere and took Adam's steps. No
published number.
The method is that of arXiv:2503.00639.
"""

from typing import Any

import numpy as np

from unmix.data import LatentDataset
from unmix.estimators import CGVAE, IVAE
from unmix.metrics import mcc, rotation_floor

from ...engine import RAW, ROTATION, Cell, make_method
from .._grid import grid
from ..cg._common import codes
from ._ceiling import domains_from_truth, read_off
from ._common import BEFORE, DEFAULT, KEPT, OBJECTIVE, QUICK, TOLD, cells, drawn
from ._common import BUDGETS as BUDGETS
from ._draws import domains

IDENTIFIABLE, CORRELATED = "iVAE", 'prior="correlated"'
_OPTIONS: dict[str, dict[str, Any]] = {
    CORRELATED: {"prior": "correlated"},
    BEFORE: {"effort": "plain"},
}
_STEPS = {"smoke": 20, "laptop": 3000}
WORLDS: dict[str, dict[str, Any]] = {
    "5 domains, 3 layers": {"rows": 10_000, "n_layers": 3},
    "40 domains, 3 layers": {"rows": 40_000, "n_layers": 3, "n_domains": 40},
    "5 domains, dependent within": {"rows": 12_000, "n": 4, "d": 8, "shared": 0.3},
    "5 domains, nested": {"rows": 12_000, "n": 4, "d": 8, "nested": True},
    "3 domains, nested": {"rows": 12_000, "n": 4, "d": 8, "nested": True, "n_domains": 3},
}
DEPENDENT = ("5 domains, dependent within", "5 domains, nested")  # and one of independent latents
CELLS = (
    *cells(WORLDS, (DEFAULT, IDENTIFIABLE, KEPT, TOLD), "mcc"),
    *grid(CORRELATED, ((name, WORLDS[name]) for name in DEPENDENT), "mcc"),
    *(cell for method in (DEFAULT, KEPT) for cell in grid(method, WORLDS.items(), OBJECTIVE, better="lower")),
    *grid(BEFORE, WORLDS.items(), "mcc"),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method, which is told the domains if its `fit` takes `domains`."""
    return grid(method, WORLDS.items(), "mcc")


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw domains, fit, and match codes to latents within them."""
    method = cell.settings["method"]
    data = drawn(domains, cell.settings["world"], seed, budget, n_domains=3)
    if method == ROTATION:
        return {"mcc": rotation_floor(_within(data), random_state=seed)}
    found, more = _codes(method, data, seed, budget)
    return {"mcc": mcc(data.z, found, within=data.u), **more}


def _codes(method: str, data: LatentDataset, seed: int, budget: str) -> tuple[np.ndarray, dict[str, float]]:
    """Return codes, and the objective where there is one to compare."""
    n, quick = data.z.shape[1], QUICK[budget]
    if method == RAW:
        return data.x, {}
    if method == TOLD:
        return read_off(data.x, data.z, seed, _STEPS[budget]), {}
    if ":" in method:
        return codes(make_method(method, n, seed), data, data), {}
    if method == IDENTIFIABLE:
        one = {name: value for name, value in quick.items() if name != "n_restarts"}
        return codes(IVAE(n, random_state=seed, **one), data, data), {}
    model = CGVAE(n, random_state=seed, **quick | _OPTIONS.get(method, {}))
    if method == KEPT:
        kept = domains_from_truth(model, data.x, np.asarray(data.u), data.z, seed)
        return kept.codes, {OBJECTIVE: kept.objective}
    return codes(model, data, data), {OBJECTIVE: min(model.restarts_)}


def _within(data: LatentDataset) -> np.ndarray:
    """Return latents of mean 0 and variance 1 in each domain."""
    inside = np.empty_like(data.z)
    for domain in np.unique(np.asarray(data.u)):
        own = data.u == domain
        inside[own] = (data.z[own] - data.z[own].mean(0)) / data.z[own].std(0)
    return inside
