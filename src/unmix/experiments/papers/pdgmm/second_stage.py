"""The second stage by itself: sparse bases of codes that are affine in the latents.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, whose second stage is given such codes where its first
succeeds. Codes are an orthonormal image of the latents (they are made white, so that any other is the same),
with noise where a column says so. Scores are against the latents before their rotation. The ceiling is the
correlation of latents with their best linear estimates. No published number.
"""

from typing import Any

import numpy as np

from unmix.data import LatentDataset
from unmix.metrics import match_components, mcc, rotation_floor

from ...engine import RAW, ROTATION, Cell
from .._grid import grid
from ._common import SECOND, codes, draw, model_of

CEILING = "best linear estimates"
ROWS_FOUND, ACTIVITY = "share of rows found", "share of activity right"
CHANGES: dict[str, dict[str, Any]] = {
    **{f"n = {n}": {"n_latents": n} for n in (5, 10, 20, 40, 50, 100)},
    **{f"k = {k}": {"graph_degree": k} for k in (0, 2, 3)},
    **{f"delta = {d}": {"delta": float(d)} for d in (1, 2, 3)},
    **{f"theta = {t}": {"theta": float(t)} for t in (15, 30, 45)},
    "1 active": {"mask_size": 1},
    "75% active": {"mask_size": 0.75},
    "75% active, k = 3": {"mask_size": 0.75, "graph_degree": 3},
    "noise 0.25": {"noise": 0.25},
    "noise 0.25, delta = 2": {"noise": 0.25, "delta": 2.0},
    "noise 0.25, n = 20": {"noise": 0.25, "n_latents": 20},
}
WORLDS = {name: {"profile": "linear", **changes} for name, changes in CHANGES.items()}
VALUES = {SECOND: ("mcc", ROWS_FOUND, ACTIVITY), CEILING: ("mcc",), RAW: ("mcc",), ROTATION: ("mcc",)}

CELLS = tuple(cell for row, values in VALUES.items() for cell in grid(row, WORLDS.items(), *values))


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return grid(method, WORLDS.items(), "mcc")


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit to codes, and score fresh ones of the same world."""
    data, fresh = draw(cell, seed, budget)
    method, z = cell.settings["method"], np.asarray(fresh.unrotated)
    if method == ROTATION:
        return {"mcc": rotation_floor(z, random_state=seed)}
    if method == CEILING:
        return {"mcc": _ceiling(z, fresh.x)}
    model = model_of(cell, data, seed, budget)
    z_hat = codes(cell, fresh, seed, model)
    found = {"mcc": mcc(z, z_hat)}
    return found | (_shares(model, fresh, z_hat) if method == SECOND else {})


def _ceiling(z: np.ndarray, x: np.ndarray) -> float:
    """Return the mean correlation of latents with their best linear estimates."""
    centred = x - x.mean(0)
    best = centred @ np.linalg.lstsq(centred, z - z.mean(0), rcond=None)[0]
    return float(np.mean([np.corrcoef(*pair)[0, 1] for pair in zip(best.T, z.T, strict=True)]))


def _shares(model: Any, fresh: LatentDataset, z_hat: np.ndarray) -> dict[str, float]:
    """Return how many rows stand out, and how often a latent is rightly called active or at rest."""
    order = list(match_components(np.asarray(fresh.unrotated), z_hat).order)
    active = np.asarray(fresh.masks)[np.asarray(fresh.labels)]
    right = model.activity(fresh.x)[:, order] == active
    return {ROWS_FOUND: model.n_found_ / len(order), ACTIVITY: float(right.mean())}
