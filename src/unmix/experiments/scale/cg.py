"""Forty latents in four domains, ten times those of the synthetic study of domains.

Li et al. (2025), arXiv:2503.00639; four latents there, we believe.
"""

from typing import Any

from unmix.data import multi_domain
from unmix.metrics import mcc, rotation_floor

from .._cell import Cell
from .._references import is_reference
from .._summary import RAW, ROTATION
from ..cg._common import BOTH, CHANGES, IDENTIFIABLE, POOLED, WITHIN, codes, make
from ._common import SECONDS, size, timed

N, DOMAINS, COLUMN = 40, 4, "n = 40, graph A"
SAMPLES = {"smoke": 200, "laptop": 8000, "full": 40_000}

CELLS = tuple(
    Cell(row, COLUMN, settings={"method": row, "n": N}, **score)
    for row in (BOTH, CHANGES, IDENTIFIABLE, RAW, ROTATION)
    for score in (
        {"value": WITHIN},
        {"value": POOLED},
        *((SECONDS,) if row not in (RAW, ROTATION) else ()),
    )
)


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
        if is_reference(cell.settings):
            code = fresh.x
        else:
            code = codes(make(method, data, seed, budget).set_params(n_restarts=1), data, fresh)
        return {WITHIN: mcc(fresh.z, code, within=fresh.u), POOLED: mcc(fresh.z, code)}

    return timed(scores)
