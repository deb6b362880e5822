"""Slots of unequal size, behind three layers, and slots that depend on each other.

Beyond the papers. Mixings are ours: each slot goes through layers of its own, of three families, one for each
seed in turn, and what slots share they add to. The score is SIS, of which true latents have less than 1 where
slots depend on each other. "Started at the truth" is what the objective keeps of a fit that begins there: the
ceiling of any search. "Defaults of 0.1" are fits from one start, `effort="plain"`, which count slots that are
not told by what is alike. No published number.
The method is that of arXiv:2509.22196.
"""

import math
from functools import partial
from typing import Any

import numpy as np

from unmix.data import LatentDataset
from unmix.estimators import SlotAutoencoder
from unmix.metrics import rotation_floor, slot_identifiability

from ...engine import RAW, ROTATION, Cell, codes_of, make_method
from .._grid import grid
from ..mechanistic._common import SIS, TRUTH, leading
from ._ceiling import slots_from_truth
from ._common import BEFORE, DEFAULT, KEPT, OBJECTIVE, QUICK, cells, drawn
from ._common import BUDGETS as BUDGETS
from ._draws import slots

UNTOLD, UNTOLD_BEFORE = "unmix default, slots not told", "defaults of 0.1, slots not told"
SCORED = {"smoke": 100, "laptop": 2000}
_MANY = {"rows": 12_000}
_SMALL: dict[str, Any] = {"sizes": (1, 2), "width": 8}
WORLDS: dict[str, dict[str, Any]] = {
    "sizes 2, 4 and 6": _MANY | {"sizes": [2, 4, 6]},
    "three layers": _MANY | {"sizes": [3, 3, 3], "n_layers": 3},
    "dependent, K = 3": _MANY | {"sizes": [3, 3, 3], "shared": 0.4},
    "dependent, K = 5": _MANY | {"sizes": [3] * 5, "shared": 0.4},
}
CHANGED = ("sizes 2, 4 and 6",)  # elsewhere fits have the same bits as before
CELLS = (
    *cells(WORLDS, (DEFAULT, UNTOLD, UNTOLD_BEFORE, KEPT, TRUTH), SIS),
    *(cell for method in (DEFAULT, KEPT) for cell in grid(method, WORLDS.items(), OBJECTIVE, better="lower")),
    *grid(BEFORE, ((name, WORLDS[name]) for name in CHANGED), SIS),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method; its codes are slots in turn, as large as the true ones."""
    return grid(method, WORLDS.items(), SIS)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw slots, fit, and score codes of unseen samples; a floor is the mean over rotations."""
    data = drawn(slots, cell.settings["world"], seed, budget, **_SMALL)
    n, truth = len(data.x) - SCORED[budget], partition_of(data)
    unseen = data.z[n:]
    if cell.settings["method"] == ROTATION:
        score = partial(scored, truth=truth, found=truth)
        return {SIS: rotation_floor(unseen, metric=score, n_draws=5, random_state=seed)}
    codes, found, more = _codes(cell.settings["method"], data, n, seed, budget)
    return {SIS: scored(unseen, codes, truth=truth, found=found), **more}


def partition_of(data: LatentDataset) -> list[list[int]]:
    """Return the latents of each true slot."""
    own = data.hidden["slot"]
    return [np.flatnonzero(own == k).tolist() for k in range(own.max() + 1)]


def scored(z: np.ndarray, codes: np.ndarray, *, truth: list[list[int]], found: list[list[int]]) -> float:
    """Return SIS of slots of any size: columns are repeated until all slots have as many.

    The kernel of the score looks at mean squared distances, which repeating columns does not change.
    """
    return slot_identifiability(_repeated(z, truth), _repeated(codes, found))


def _repeated(values: np.ndarray, partition: list[list[int]]) -> np.ndarray:
    size = math.lcm(*map(len, partition))
    return np.stack([np.tile(values[:, slot], size // len(slot)) for slot in partition], axis=1)


def _codes(
    method: str, data: LatentDataset, n: int, seed: int, budget: str
) -> tuple[np.ndarray, list[list[int]], dict[str, float]]:
    """Return codes of the samples from n on, their slots, and the objective where there is one to compare."""
    truth, n_latents = partition_of(data), data.z.shape[1]
    if method == TRUTH:
        return data.z[n:], truth, {}
    if method == RAW:
        return leading(data.x, n_latents)[n:], truth, {}
    if ":" in method:
        return codes_of(make_method(method, n_latents, seed), data.x[:n], data.x[n:]), truth, {}
    told = None if method in (UNTOLD, UNTOLD_BEFORE) else truth
    effort = "plain" if method in (BEFORE, UNTOLD_BEFORE) else "usual"
    own: dict[str, Any] = {"slots": told, "effort": effort, **QUICK[budget]}
    model = SlotAutoencoder(n_latents, random_state=seed, **own)
    if method == KEPT:
        kept = slots_from_truth(model, data.x, data.hidden["slot"], data.z, seed, n_fit=n)
        return kept.codes[n:], truth, {OBJECTIVE: kept.objective}
    codes = codes_of(model, data.x[:n], data.x[n:])
    return codes, [list(slot) for slot in model.partition_], {OBJECTIVE: min(model.restarts_)}
