"""Forty latents in four domains, ten times those of the synthetic study of domains.

Li et al. (2025), arXiv:2503.00639; four latents there, we believe.
"""

from typing import Any

from unmix.data import LatentDataset, multi_domain
from unmix.metrics import mcc, rotation_floor

from ...engine import RAW, ROTATION, Cell
from .._references import is_reference
from ..cg._common import BOTH, CHANGES, IDENTIFIABLE, POOLED, WITHIN, codes, make
from ._common import SECONDS, size, timed

N, DOMAINS, COLUMN = 40, 4, "n = 40, graph A"
SAMPLES = {"smoke": 200, "laptop": 8000, "full": 40_000}


def _cells(row: str, method: str) -> tuple[Cell, ...]:
    scores: tuple[dict[str, Any], ...] = ({"value": WITHIN}, {"value": POOLED})
    timing = () if row in (RAW, ROTATION) else (SECONDS,)
    return tuple(
        Cell(row, COLUMN, settings={"method": method, "n": N}, **score) for score in (*scores, *timing)
    )


CELLS = tuple(cell for row in (BOTH, CHANGES, IDENTIFIABLE, RAW, ROTATION) for cell in _cells(row, row))


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return _cells(method.partition(":")[2], method)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw domains, fit with one start, and match codes of fresh samples to latents."""
    n, method = size(cell.settings["n"], budget), cell.settings["method"]
    data = multi_domain(SAMPLES[budget], n_latents=n, n_domains=DOMAINS, random_state=seed)
    fresh = data.world.sample(SAMPLES[budget] // 2, random_state=1_000_000 + seed)
    if method == ROTATION:
        inside = fresh.world.sources.within(fresh.z, fresh.u)
        floors = {WITHIN: inside, POOLED: fresh.z}
        return {name: rotation_floor(z, random_state=seed) for name, z in floors.items()}

    def scores() -> dict[str, float]:
        code = (
            fresh.x if is_reference(cell.settings) else codes(_model(method, data, seed, budget), data, fresh)
        )
        return {WITHIN: mcc(fresh.z, code, within=fresh.u), POOLED: mcc(fresh.z, code)}

    return timed(scores)


def _model(method: str, data: LatentDataset, seed: int, budget: str) -> Any:
    model = make(method, data, seed, budget)
    return model if ":" in method else model.set_params(n_restarts=1)
