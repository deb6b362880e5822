"""Latents in two and three times as many observed variables, and in as many; noise and other laws.

Data of our own after Zheng et al. (2026), arXiv:2604.17568, which observes as many variables as there are
latents. Structures have two parents for each observed variable, but for the dense one, which is no sparser
than the triangular alternative and identifies nothing. A structure is exact if no edge is wrong, up to the
order of the latents. No published number.
"""

from typing import Any

from unmix.data import LatentDataset, sparse_mixing
from unmix.metrics import mcc, rotation_floor

from ...engine import RAW, ROTATION, Cell
from .._grid import grid
from .._references import reference_codes
from ._common import DEFAULT, NOISE, SAMPLES, make

EXACT = "share of exact structures"
WORLDS: dict[str, dict[str, Any]] = {
    **{f"{n} in {k * n}": {"n_latents": n, "n_observed": k * n} for n in (5, 10, 20) for k in (2, 3)},
    **{f"{n} in {2 * n}, noise {NOISE}": {"n_latents": n, "noise": NOISE} for n in (5, 10)},
    **{f"5 in 10, {law}": {"n_latents": 5, "latents": law} for law in ("laplace", "uniform", "dependent")},
    "5 in 10, bent twice as much": {"n_latents": 5, "nonlinearity": 1.0},
    "5 in 10, dense": {"n_latents": 5, "profile": "dense"},
    **{f"{n} in {n}": {"n_latents": n, "profile": "square"} for n in range(4, 11)},
}

CELLS = (
    *grid(DEFAULT, WORLDS.items(), "mcc", EXACT),
    *grid(RAW, WORLDS.items(), "mcc"),
    *grid(ROTATION, WORLDS.items(), "mcc"),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return grid(method, WORLDS.items(), "mcc")


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw data, fit, and match codes and structures; a floor is the mean over many rotations."""
    method, data = cell.settings["method"], _draw(cell.settings["world"], seed, budget)
    if method == ROTATION:
        return {"mcc": rotation_floor(data.z, random_state=seed)}
    if method == RAW:
        return {"mcc": mcc(data.z, reference_codes(RAW, data.z, data.x, seed))}
    model = make({"method": method, "n": data.z.shape[1]}, seed, budget)
    found = {"mcc": mcc(data.z, (model.fit(data.x) or model).transform(data.x))}
    if method == DEFAULT:
        found[EXACT] = float(data.mixing.structure.hamming(model.structure_) == 0)
    return found


def _draw(world: Any, seed: int, budget: str) -> LatentDataset:
    small = {"n_latents": 5, "n_observed": None} if budget == "smoke" else {}
    return sparse_mixing(SAMPLES[budget], random_state=seed, **world | small)
