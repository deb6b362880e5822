"""What the tables share: worlds by name, methods by name, and scores on fresh samples.

The paper trains on fresh samples in every step; here samples are drawn once, and scores are taken on
others. Its mixing is nearly linear, so that raw x and a sparse basis of raw x (no first stage at all) stand
beside all methods.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from unmix.data import LatentDataset, LinearSCM, degenerate_mixture
from unmix.estimators import PDGMM, SparseBasis, VaDE
from unmix.metrics import mcc, r2, rotation_floor

from ...engine import RAW, ROTATION, Cell, make_method
from .._grid import grid
from .._references import is_reference, reference_codes

BOTH, FIRST, SECOND = "both stages", "first stage", "second stage alone, on raw x"
# the recipe ends in a sigmoid, which has no values outside (0, 1): most of a code
VADES = {"VaDE": "sigmoid", "VaDE, linear output": "linear"}
SETTINGS: dict[str, dict[str, Any]] = {
    "n = 5": {"n_latents": 5},
    "base": {},
    "n = 20": {"n_latents": 20},
    "n = 40": {"n_latents": 40},
    **{f"k = {k}": {"graph_degree": k} for k in (0, 2, 3)},
    **{f"m = {m}": {"n_layers": m} for m in (3, 20)},
    "1 active": {"mask_size": 1},
    "75% active": {"mask_size": 0.75},
    **{f"delta = {d}": {"delta": float(d)} for d in (1, 2, 3)},
    **{f"theta = {t}": {"theta": float(t)} for t in (15, 30, 45)},
}
SAMPLES = {"smoke": 400, "laptop": 6144, "full": 100_000}
FRESH = {"smoke": 400, "laptop": 5000, "full": 5000}
PDGMM_SIZES: dict[str, dict[str, Any]] = {
    "smoke": {"max_iter": 2, "n_restarts": 1},
    "laptop": {"max_iter": 20, "n_restarts": 2},
    "full": {"max_iter": 6, "n_restarts": 4},
}
VADE_SIZES: dict[str, dict[str, Any]] = {
    "smoke": {"max_iter": 1},
    "laptop": {"max_iter": 15, "batch_size": 512, "lr": 1e-3},
    "full": {},
}


def settings(method: str, world: Any, **more: Any) -> dict[str, Any]:
    """Return the settings of a cell: a method, and the arguments of `degenerate_mixture`."""
    return {"method": method, "world": dict(world), **more}


def references(columns: Iterable[tuple[str, Any]], *values: str, **cell: Any) -> tuple[Cell, ...]:
    """Return the cells of the rows without a first stage, for each of these values."""
    rows = (SECOND, RAW, ROTATION)
    return tuple(made for at in columns for row in rows for made in grid(row, (at,), *values, **cell))


def draw(cell: Cell, seed: int, budget: str) -> tuple[LatentDataset, LatentDataset]:
    """Draw samples to fit on and fresh ones of the same world."""
    world = _shrunk(cell.settings["world"]) if budget == "smoke" else cell.settings["world"]
    data = degenerate_mixture(SAMPLES[budget], random_state=seed, **world)
    return data, data.world.sample(FRESH[budget], random_state=1_000_000 + seed)


def _shrunk(world: Any) -> dict[str, Any]:
    """Leave five latents of a world, or as few as a graph of its degree allows."""
    if "blocks" in world:
        return dict(world)
    least = max(5, 2 * world.get("graph_degree", 1) + 1)
    return world | {"n_latents": min(least, world.get("n_latents", least))}


def fitted(method: str, data: LatentDataset, seed: int, budget: str, **changes: Any) -> Any:
    """Fit a method to the observations."""
    n = data.z.shape[1]
    sizes = PDGMM_SIZES[budget] | changes
    if ":" in method:
        own = make_method(method, n, seed)
        return own.fit(data.x) or own
    if method == SECOND:
        return SparseBasis(random_state=seed).fit(data.x)
    n_components = sizes.pop("n_components", n)
    return PDGMM(n_components, random_state=seed, **sizes).fit(data.x)


def codes(cell: Cell, fresh: LatentDataset, seed: int, model: Any) -> np.ndarray:
    """Return codes of fresh samples: the model's, or those of a reference where there is no model."""
    if model is None:
        return reference_codes(cell.settings["method"], fresh.z, fresh.x, seed)
    return np.asarray(model.transform(fresh.x), dtype=float).reshape(len(fresh.x), -1)


def model_of(cell: Cell, data: LatentDataset, seed: int, budget: str, **changes: Any) -> Any:
    """Fit the method of a cell; None for a reference."""
    if is_reference(cell.settings):
        return None
    return fitted(cell.settings["method"], data, seed, budget, **changes)


def white_codes(code: np.ndarray, fresh: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the code of the first stage, and that of fresh samples, from those of both.

    The first stage knows its code up to an affine map, so that the fit of both stages has it as well: here
    white, along the principal axes.
    """
    moving = np.ptp(code, axis=0) > 0
    white = PCA(whiten=True).fit(code[:, moving])
    return white.transform(code[:, moving]), white.transform(fresh[:, moving])


def vade_scores(
    z: np.ndarray, code: np.ndarray, fresh: np.ndarray, seed: int, budget: str
) -> dict[str, float]:
    """Fit VaDE to the code of a first stage, with either output, and score codes of fresh samples."""
    found: dict[str, float] = {}
    for name, output in VADES.items():
        model = VaDE(code.shape[1], output=output, random_state=seed, **VADE_SIZES[budget]).fit(code)
        found |= of(name, scores(z, np.asarray(model.transform(fresh), dtype=float)))
    return found


def of(part: str, found: dict[str, float]) -> dict[str, float]:
    """Name scores after the part of a fit that they judge."""
    return {f"{score} of {part}": number for score, number in found.items()}


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit and score on fresh samples."""
    data, fresh = draw(cell, seed, budget)
    return judge(cell, fresh, seed, model_of(cell, data, seed, budget))


def judge(cell: Cell, fresh: LatentDataset, seed: int, model: Any) -> dict[str, Any]:
    """Score a model, or a reference; its floor of MCC is the mean over many rotations."""
    found = scores(fresh.z, codes(cell, fresh, seed, model))
    if cell.settings["method"] == ROTATION:
        found["mcc"] = rotation_floor(fresh.z, random_state=seed)
    return found


def scores(z: np.ndarray, z_hat: np.ndarray) -> dict[str, float]:
    """Return MCC, and R² of the codes given the latents as in appendix D.1; constant codes are left out."""
    moving = z_hat[:, np.ptp(z_hat, axis=0) > 0]
    return {"mcc": mcc(z, z_hat), "r2": r2(moving, z) if moving.size else 0.0}


def independent(data: LatentDataset, n_samples: int, seed: int) -> LatentDataset:
    """Draw from the same world with all causal effects removed (appendix D.3)."""
    scm = data.world.scms[0]
    alone = replace(data.world, scms=(LinearSCM(np.zeros_like(scm.weights), scm.noise),))
    return alone.sample(n_samples, random_state=2_000_000 + seed)


def unmasked(data: LatentDataset, n_samples: int, seed: int) -> LatentDataset:
    """Draw from the same world with all latents active (appendix D.9)."""
    always = replace(data.world, masks=np.ones_like(data.world.masks))
    return always.sample(n_samples, random_state=3_000_000 + seed)
