"""The causal graph that the PC algorithm finds on codes (D.9); needs causal-learn.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix D.9. Structural Hamming distance between the
class of graphs found on codes of samples without masks and that of the causal model; the level of the tests
is 0.01, ours, as the paper's is not known. Where latents are rotated, the graph is one of those before the
rotation, and so is the truth that codes are matched with.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from unmix.estimators import causal_graph
from unmix.metrics import cpdag, match_components, shd

from ...engine import Cell
from .._grid import grid
from ._common import BOTH, FRESH, SETTINGS, codes, draw, model_of, references, settings, unmasked
from ._paper import PAPER, published

TRUTH = "true latents"
WORLDS = {name: world for name, world in SETTINGS.items() if "shd" in PAPER[name]}
GRAPH: dict[str, Any] = {"better": "lower", "precision": 0.05}


def _cells(name: str, world: dict[str, Any]) -> Iterator[Cell]:
    both = settings(BOTH, world)
    yield Cell(BOTH, name, value="shd", settings=both, **GRAPH, **published(name, "shd"))
    yield Cell(TRUTH, name, value="shd of truth", settings=both, **GRAPH, **published(name, "shd truth"))


CELLS = (
    *(cell for name, world in WORLDS.items() for cell in _cells(name, world)),
    *references(WORLDS.items(), "shd", better="lower"),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return grid(method, WORLDS.items(), "shd", better="lower")


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Compare the graphs found on codes and on the truth with that of the causal model."""
    data, _ = draw(cell, seed, budget)
    model = model_of(cell, data, seed, budget)
    free = unmasked(data, FRESH[budget], seed)
    code = codes(cell, free, seed, model)
    latents = np.asarray(free.unrotated)
    code = code[:, list(match_components(latents, code).order)]
    truth = cpdag(np.asarray(data.graph, dtype=int))
    return {"shd": _distance(truth, code), "shd of truth": _distance(truth, latents)}


def _distance(truth: np.ndarray, z: np.ndarray) -> float | None:
    """Run PC; None where a latent does not vary at all."""
    if (np.ptp(z, axis=0) == 0).any():
        return None
    return shd(truth, causal_graph(z, alpha=0.01))
