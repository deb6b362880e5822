"""Planted dictionaries: how many atoms are found, trusted, and right.

Rows are sums of 8 of 512 atoms in 128 dimensions with 2% noise (smaller at the smaller budgets), atoms and
rows from generators that share nothing with those of the models. An atom is found where a feature has a
cosine above .95 with it; a feature is right where it is such a one, each atom being claimed once, by the
nearest. The verdicts are those of `unmix.trust` at effort "quick". Beside them the nearest of as many random
atoms, and Gaussian rows of the same covariance, in which there is nothing to find and every trusted feature
is wrong. For when atoms can be found at all see Arora, Ge and Moitra (2014), arXiv:1308.6273.
"""

from typing import Any

import numpy as np

from unmix.estimators import SparseAutoencoder
from unmix.evidence import trust
from unmix.evidence._dictionary import gaussian_like
from unmix.metrics import random_dictionary

from ...engine import Cell, Place
from ._planted import World, atoms_of, found_atoms, right_atoms, rows_of, world_rng

BUDGETS = ("smoke", "laptop", "gpu")
SIZES: dict[str, dict[str, int]] = {
    "smoke": {"n": 600, "d": 12, "m": 18, "k": 2, "passes": 3, "batch": 100},
    "laptop": {"n": 40_000, "d": 64, "m": 160, "k": 4, "passes": 20, "batch": 512},
    "gpu": {"n": 1_000_000, "d": 128, "m": 512, "k": 8, "passes": 16, "batch": 2048},
}
JUDGED = 200_000  # rows that a verdict looks at
VALUES = {
    "found": "atoms found (cosine > .95)",
    "random": "the same by random atoms",
    "trusted": "features trusted",
    "precision": "trusted features that are right",
    "recall": "right features that are trusted",
    "dead": "dead features",
    "explained": "variance explained",
}
# row: activation, features and active ones asked for, over those that there are; whether there is something
WORLDS: dict[str, dict[str, Any]] = {
    "TopK": {"activation": "topk"},
    "BatchTopK": {"activation": "batch_topk"},
    "TopK, twice as many features": {"activation": "topk", "features": 2.0},
    "TopK, half as many features": {"activation": "topk", "features": 0.5},
    "TopK, k twice as large": {"activation": "topk", "active": 2.0},
    "TopK, k half as large": {"activation": "topk", "active": 0.5},
    "TopK on Gaussian rows": {"activation": "topk", "null": True},
}

CELLS = tuple(
    Cell(row, words, value=value, settings={"row": row}, always=value not in ("precision", "recall"))
    for row in WORLDS
    for value, words in VALUES.items()
)


def run(cell: Cell, seed: int, budget: str, place: Place | None = None) -> dict[str, Any]:
    """Plant, fit, judge, and then look at the truth."""
    size, asked = SIZES[budget], WORLDS[cell.settings["row"]]
    world = planted(size, seed, null=asked.get("null", False))
    m, k = round(asked.get("features", 1.0) * size["m"]), round(asked.get("active", 1.0) * size["k"])
    model = SparseAutoencoder(
        m,
        k=k,
        activation=asked["activation"],
        max_iter=size["passes"],
        batch_size=size["batch"],
        lr=4e-3,
        device="auto" if place is None else place.device,
        random_state=seed,
    )
    with (place or Place("cpu")).training():
        model.fit(world.x)
        verdict = trust(model, world.x[:JUDGED], random_state=seed)
    return scored(model, world, verdict.trusted, size["n"])


def planted(size: dict[str, int], seed: int, *, null: bool) -> World:
    """Draw rows with known atoms, or Gaussian rows of the same covariance, which have none."""
    rng = world_rng(seed, 3)
    atoms = atoms_of(size["m"], size["d"], rng)
    x = rows_of(atoms, size["n"], size["k"], rng)
    if not null:
        return World(x, atoms)
    return World(gaussian_like(x, rng).astype(np.float32), np.zeros((0, size["d"])))


def scored(model: Any, world: World, trusted: np.ndarray, n_rows: int) -> dict[str, float]:
    """Return the shares; what is trusted and right has no share where nothing is trusted, or right."""
    right = right_atoms(model.dictionary_, world.atoms)
    chance = random_dictionary(len(right), np.cov(world.x[:50_000].T), random_state=n_rows)
    found = {
        "found": found_atoms(model.dictionary_, world.atoms) if len(world.atoms) else 0.0,
        "random": found_atoms(chance, world.atoms) if len(world.atoms) else 0.0,
        "trusted": float(trusted.mean()),
        "dead": float((model.firing_ == 0).mean()),
        "explained": model.score(world.x[:JUDGED]),
    }
    return found | {"precision": _share(right[trusted]), "recall": _share(trusted[right])}


def _share(those: np.ndarray) -> float:
    return float(those.mean()) if len(those) else float("nan")
