"""What the tables share: worlds with domains, methods by name, and scores within domains and over all.

The paper's synthetic data, networks and numbers are not known to us, so that there is nothing to compare
with: graphs are ours, named A (no children inside others), B (some), C (nested) and D (dense). Means that
differ between domains inflate a score over all domains, which is why the one within domains comes first.
"""

from collections.abc import Iterable
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from unmix.data import LatentDataset, multi_domain
from unmix.estimators import CGVAE, IVAE, BetaVAE, DiverseDictionaryLearning
from unmix.metrics import mcc, rotation_floor
from unmix.penalties import dependency_sparsity

from ...engine import RAW, ROTATION, Cell, make_method
from .._grid import grid
from .._references import is_reference
from ..ddl._common import NETWORKS

BOTH, PUBLISHED, CHANGES = "CG-VAE", "CG-VAE, bound and L1 norm", "CG-VAE without sparsity"
SPARSITY, IDENTIFIABLE, PLAIN = "sparsity alone", "iVAE", "beta-VAE"
METHODS = (BOTH, PUBLISHED, CHANGES, SPARSITY, IDENTIFIABLE, PLAIN)
WITHIN, POOLED = "MCC within domains", "MCC over all domains"
PER_DOMAIN = {"smoke": 60, "laptop": 4000, "full": 10_000}
FRESH = {"smoke": 200, "laptop": 6000, "full": 6000}
PASSES = {"smoke": 1, "laptop": 100, "full": 100}  # at most: `max_steps` may end them before
RESTARTS = {"smoke": 1, "laptop": 8, "full": 8}
# methods that are not told the domains converge more slowly, and are given more passes
ALONE_PASSES = {"smoke": 1, "laptop": 60, "full": 200}
# Equation 9: forward differences and the L1 norm; its weight is in the middle of the published grid
LOSS = partial(dependency_sparsity, form="l1", step=0.01, normalize="std")


def cells(worlds: Iterable[dict[str, Any]], methods: Iterable[str] = METHODS) -> tuple[Cell, ...]:
    """Return the cells of these methods and of the references, for each world and both scores."""
    return tuple(cell for method in (*methods, RAW, ROTATION) for cell in own(method, worlds))


def column(world: dict[str, Any]) -> str:
    """Name a world: domains first, then what else it is made of."""
    change = f", {world['changes']} alone" if "changes" in world else ""
    law = f", {world['latents']} latents" if "latents" in world else ""
    return f"{world['n_domains']} domains, graph {world['graph']}{change}{law}"


def own(method: str, worlds: Iterable[dict[str, Any]]) -> tuple[Cell, ...]:
    """Return the cells of a user's method, which is told the domains if its `fit` takes `domains`."""
    return grid(method, ((column(world), world) for world in worlds), WITHIN, POOLED)


def draw(cell: Cell, seed: int, budget: str) -> tuple[LatentDataset, LatentDataset]:
    """Draw domains to fit on, and fresh samples of the same world."""
    world = dict(cell.settings["world"])
    data = multi_domain(PER_DOMAIN[budget] * world["n_domains"], random_state=seed, **world)
    return data, data.world.sample(FRESH[budget], random_state=1_000_000 + seed)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw domains, fit, and match codes of fresh samples to latents; a floor is a mean over rotations."""
    method = cell.settings["method"]
    data, fresh = draw(cell, seed, budget)
    if method == ROTATION:
        inside = fresh.world.sources.within(fresh.z, fresh.u)
        return {
            WITHIN: rotation_floor(inside, random_state=seed),
            POOLED: rotation_floor(fresh.z, random_state=seed),
        }
    code = fresh.x if is_reference(cell.settings) else codes(make(method, data, seed, budget), data, fresh)
    return scores(fresh, code)


def scores(fresh: LatentDataset, code: np.ndarray) -> dict[str, float]:
    """Score codes within domains and over all of them."""
    return {WITHIN: mcc(fresh.z, code, within=fresh.u), POOLED: mcc(fresh.z, code)}


def make(method: str, data: LatentDataset, seed: int, budget: str) -> Any:
    """Make the estimator that a cell names."""
    n = data.z.shape[1]
    if ":" in method:
        return make_method(method, n, seed)
    common: dict[str, Any] = {"max_iter": PASSES[budget], "random_state": seed}
    alone: dict[str, Any] = {"max_iter": ALONE_PASSES[budget], "random_state": seed}
    several = RESTARTS[budget]
    return {
        BOTH: lambda: CGVAE(n, n_restarts=several, **common),
        PUBLISHED: lambda: CGVAE(n, objective="bound", penalty=LOSS, weight=0.05, n_restarts=1, **common),
        CHANGES: lambda: CGVAE(n, weight=0.0, n_restarts=1, **common),
        SPARSITY: lambda: DiverseDictionaryLearning(
            n, n_restarts=max(1, several // 2), **alone | NETWORKS[budget]
        ),
        IDENTIFIABLE: lambda: IVAE(n, **common),
        PLAIN: lambda: BetaVAE(n, **alone),
    }[method]()


def codes(model: Any, data: LatentDataset, fresh: LatentDataset) -> np.ndarray:
    """Fit on samples and return codes of fresh ones, with domains wherever the model takes them."""
    fitted = model.fit(data.x, **_told(model.fit, data.u)) or model
    return np.asarray(fitted.transform(fresh.x, **_told(fitted.transform, fresh.u)), dtype=float)


def _told(method: Any, u: Any) -> dict[str, Any]:
    return {"domains": u} if "domains" in signature(method).parameters else {}
