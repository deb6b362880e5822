"""Recovery of degenerate mixtures, setting by setting (Tables 1 and 3, D.3, D.6).

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218. R² and MCC of the first stage, MCC of both, VaDE on
the code of the first stage; the same fits on independent latents (D.3). Without its constraint the second
stage leaves the code where it is, so that "without sparsity" (D.6) is the white code of the first. Where
latents are rotated, a sparse basis is that before the rotation: a row of its own scores against it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from unmix.metrics import mcc

from .._cell import Cell
from .._summary import RAW, ROTATION
from ._common import (
    BOTH,
    FIRST,
    FRESH,
    SECOND,
    SETTINGS,
    codes,
    draw,
    independent,
    judge,
    model_of,
    own,
    settings,
    vade_codes,
)
from ._paper import published


def _cells(name: str, world: dict[str, Any]) -> Iterator[Cell]:
    both, first, second = (settings(method, world) for method in (BOTH, FIRST, SECOND))
    yield Cell(FIRST, name, value="r2", settings=first, **published(name, "r2 first"))
    yield Cell(FIRST, name, settings=first, **published(name, "mcc first"))
    yield Cell("without sparsity", name, settings=first, **published(name, "no l1"))
    yield Cell("VaDE", name, value="mcc of VaDE", settings=first, **published(name, "vade"))
    yield Cell(BOTH, name, settings=both, **published(name, "mcc"))
    yield Cell(BOTH, name, value="r2", settings=both)
    apart = published(name, "independent")
    yield Cell(f"{BOTH}, independent latents", name, value="mcc of independent", settings=both, **apart)
    if world.get("theta"):
        yield Cell(f"{BOTH}, before the rotation", name, value="mcc of unrotated", settings=both)
    yield Cell(SECOND, name, settings=second)
    for row in (RAW, ROTATION):
        for value in ("mcc", "r2"):
            yield Cell(row, name, value=value, settings=settings(row, world))


CELLS = tuple(cell for name, world in SETTINGS.items() for cell in _cells(name, world))


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return own(method, SETTINGS.items(), "mcc", "r2")


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit once, and take every score that the fit allows."""
    data, fresh = draw(cell, seed, budget)
    model = model_of(cell, data, seed, budget)
    code = codes(cell, fresh, seed, model)
    unrotated = np.asarray(fresh.unrotated)
    found = judge(cell, fresh, seed, model) | {"mcc of unrotated": mcc(unrotated, code)}
    method = cell.settings["method"]
    if method == FIRST:
        vade = vade_codes(codes(cell, data, seed, model), code, seed, budget)
        return found | {"mcc of VaDE": mcc(fresh.z, vade)}
    if method == BOTH:
        alone = independent(data, FRESH[budget], seed)
        found["mcc of independent"] = mcc(alone.z, codes(cell, alone, seed, model))
    return found
