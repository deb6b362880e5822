"""What the tables share: slots, methods by name, and the slot identifiability score of their codes.

Slots have three latents and move twenty observed variables each, as those of Brady et al. (2023),
arXiv:2305.14229; how the paper lets them overlap is not known, here each shares rows with the next. Published
numbers are not known either, so that there is nothing to compare with. Raw x has more columns than there are
latents: its leading principal components are taken, in turn.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from unmix.data import LatentDataset, slots
from unmix.estimators import SlotAutoencoder
from unmix.metrics import rotation_floor, slot_identifiability
from unmix.penalties import compositional_contrast

from ...engine import RAW, ROTATION, Cell, codes_of, make_method
from .._grid import grid

SEARCH, COUNTING, NOTHING = "unmix default, search and counting", "counting alone", "reconstruction alone"
AFTER, PATIENT = "search and contrast", "contrast, weight 1, ten times the steps"
CONTRASTS = {f"contrast, weight {weight:g}": weight for weight in (0.01, 1.0)}
METHODS = (SEARCH, *CONTRASTS)
TRUTH, SIS = "true latents", "SIS"
SAMPLES = {"smoke": 200, "laptop": 10_000, "full": 80_000}
SCORED = {"smoke": 100, "laptop": 2000, "full": 2000}
PASSES = {"smoke": 2, "laptop": 30, "full": 100}
# slots of a single latent are quickly searched; the others are those of the paper
LAYOUT: dict[str, dict[str, Any]] = {"smoke": {"sizes": 1, "n_rows": 10}, "laptop": {}, "full": {}}
# as published: from random networks, with the penalty from the first step on
AS_PUBLISHED: dict[str, Any] = {"search": False}


def cells(worlds: Iterable[dict[str, Any]], methods: Iterable[str] = METHODS) -> tuple[Cell, ...]:
    """Return the cells of these methods, of the truth and of what learned nothing, for each world."""
    return tuple(cell for method in (*methods, TRUTH, RAW, ROTATION) for cell in own(method, worlds))


def column(world: dict[str, Any]) -> str:
    """Name a world: overlap first, then the number of slots and what else differs."""
    other = "".join(f", {world[name]}" for name in ("mixing", "latents") if name in world)
    return f"overlap {world['overlap']:.0%}, K = {world['n_slots']}{other}"


def own(method: str, worlds: Iterable[dict[str, Any]]) -> tuple[Cell, ...]:
    """Return the cells of a user's method; its codes are slots in turn."""
    return grid(method, ((column(world), world) for world in worlds), SIS)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw slots, fit, and score codes of unseen samples; a floor is the mean over rotations."""
    world, method = cell.settings["world"], cell.settings["method"]
    n = SAMPLES[budget]
    data = slots(n + SCORED[budget], random_state=seed, **world, **LAYOUT[budget])
    score = partial(slot_identifiability, n_slots=world["n_slots"], n_samples=SCORED[budget])
    truth = data.z[n:]
    if method == ROTATION:
        return {SIS: rotation_floor(truth, metric=score, n_draws=5, random_state=seed)}
    return {SIS: score(truth, codes(method, data, n, seed, budget))}


def codes(method: str, data: LatentDataset, n: int, seed: int, budget: str) -> np.ndarray:
    """Return codes of the samples from n on, by a method that saw those before."""
    if method == TRUTH:
        return data.z[n:]
    if method == RAW:
        return leading(data.x, data.z.shape[1])[n:]
    return codes_of(make(method, data, seed, budget), data.x[:n], data.x[n:])


def leading(x: np.ndarray, n: int) -> np.ndarray:
    """Return n principal components of standardised data, the largest first."""
    white = (x - x.mean(0)) / x.std(0)
    return white @ np.linalg.svd(white, full_matrices=False)[2][:n].T


def make(method: str, data: LatentDataset, seed: int, budget: str) -> Any:
    """Make the estimator that a cell names."""
    n = data.z.shape[1]
    if ":" in method:
        return make_method(method, n, seed)
    changes: dict[str, Any] = {
        SEARCH: {},
        AFTER: {"penalty": compositional_contrast},
        COUNTING: AS_PUBLISHED,
        NOTHING: AS_PUBLISHED | {"weight": 0.0},
        PATIENT: AS_PUBLISHED | {"penalty": compositional_contrast, "weight": 1.0},
        **{
            name: AS_PUBLISHED | {"penalty": compositional_contrast, "weight": weight}
            for name, weight in CONTRASTS.items()
        },
    }[method]
    n_slots, passes = len(data.partition or ()), PASSES[budget] * (10 if method == PATIENT else 1)
    return SlotAutoencoder(n, slots=n_slots, max_iter=passes, random_state=seed, **changes)
