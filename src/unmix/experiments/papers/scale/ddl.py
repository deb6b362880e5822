"""Thirty and fifty latents in twice as many observed variables, ten times those of diverse dictionaries.

Zheng et al. (2026), arXiv:2604.17568, has three to ten latents. Structures are random diverse ones with two
parents for each observed variable.
"""

from typing import Any

from unmix.data import LatentDataset, sparse_mixing
from unmix.estimators import DiverseDictionaryLearning
from unmix.metrics import mcc, rotation_floor

from ...engine import RAW, ROTATION, Cell, codes_of
from .._references import is_reference, reference_codes
from ..ddl._common import DEFAULT, PUBLISHED, make
from ._common import SECONDS, size, timed

SIZES = (30, 50)
SAMPLES = {"smoke": 300, "laptop": 5000, "full": 10_000}
PASSES = {"smoke": 2, "laptop": 20, "full": 200}


def _cells(row: str, method: str) -> tuple[Cell, ...]:
    scores: tuple[dict[str, Any], ...] = ({},) if row in (RAW, ROTATION) else ({}, SECONDS)
    return tuple(
        Cell(row, f"n = {n}", settings={"method": method, "n": n}, **score) for n in SIZES for score in scores
    )


CELLS = tuple(cell for row in (DEFAULT, PUBLISHED, RAW, ROTATION) for cell in _cells(row, row))


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return _cells(method.partition(":")[2], method)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw, fit with one start, and match codes to latents."""
    n = size(cell.settings["n"], budget)
    data = sparse_mixing(SAMPLES[budget], n_latents=n, random_state=seed)
    if cell.settings["method"] == ROTATION:
        return {"mcc": rotation_floor(data.z, random_state=seed)}
    return timed(lambda: {"mcc": mcc(data.z, _codes(cell, data, n, seed, budget))})


def _codes(cell: Cell, data: LatentDataset, n: int, seed: int, budget: str) -> Any:
    if is_reference(cell.settings):
        return reference_codes(cell.settings["method"], data.z, data.x, seed)
    model = make({**cell.settings, "n": n}, seed, budget)
    if isinstance(model, DiverseDictionaryLearning):
        model.set_params(n_restarts=1, max_iter=PASSES[budget])
    return codes_of(model, data.x)
