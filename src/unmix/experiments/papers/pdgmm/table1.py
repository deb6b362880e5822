"""Recovery of degenerate mixtures, setting by setting (Tables 1 and 3, D.3, D.6).

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218. R² and MCC of the first stage, MCC of both, VaDE on
the code of the first stage; the same fits on independent latents (D.3). One fit has all of it: the first
stage is known up to an affine map, and its white code stands for it. Without its constraint the second stage
leaves that code where it is, so that "without sparsity" (D.6) is the same. Where latents are rotated, a
sparse basis is that before the rotation: a row of its own scores against it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from unmix.metrics import mcc

from ...engine import RAW, ROTATION, Cell
from .._grid import grid
from ._common import (
    BOTH,
    FIRST,
    FRESH,
    SECOND,
    SETTINGS,
    VADES,
    codes,
    draw,
    independent,
    judge,
    model_of,
    of,
    scores,
    settings,
    vade_scores,
    white_codes,
)
from ._paper import published


def _cells(name: str, world: dict[str, Any]) -> Iterator[Cell]:
    both, second = settings(BOTH, world), settings(SECOND, world)
    yield Cell(FIRST, name, value="r2 of first stage", settings=both, **published(name, "r2 first"))
    yield Cell(FIRST, name, value="mcc of first stage", settings=both, **published(name, "mcc first"))
    bare = published(name, "no l1")
    yield Cell("without sparsity", name, value="mcc of first stage", settings=both, **bare)
    for row in VADES:
        yield Cell(row, name, value=f"mcc of {row}", settings=both, **published(name, "vade"))
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
    return grid(method, SETTINGS.items(), "mcc", "r2")


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit once, and take every score that the fit allows."""
    data, fresh = draw(cell, seed, budget)
    model = model_of(cell, data, seed, budget)
    code = codes(cell, fresh, seed, model)
    found = judge(cell, fresh, seed, model) | {"mcc of unrotated": mcc(np.asarray(fresh.unrotated), code)}
    if cell.settings["method"] != BOTH:
        return found
    first, fresh_first = white_codes(codes(cell, data, seed, model), code)
    alone = independent(data, FRESH[budget], seed)
    return (
        found
        | of("first stage", scores(fresh.z, fresh_first))
        | vade_scores(fresh.z, first, fresh_first, seed, budget)
        | of("independent", scores(alone.z, codes(cell, alone, seed, model)))
    )
