"""How often a verdict on a feature of a sparse autoencoder is right, on planted dictionaries of all kinds.

As `trust.calibration`: each run draws a world of one family, fits the sparse autoencoder that a user would
try, takes every link of its argument at full effort, and says which atoms are right: those with a cosine
above .95 with a true atom, each of which can be claimed once. `python -m
unmix.experiments.papers.trust.planted` judges each family by a chain that has not seen it, and stores the
coefficients. The truth is looked at last. For what calibrated means see Guo et al. (2017), arXiv:1706.04599.
"""

import zlib
from typing import Any

from unmix.evidence import Case, argument_for

from ...engine import Cell
from ..sae._planted import right_atoms
from ._worlds_dictionary import PLANTED

RIGHT, UNITS = "share that is right", "number judged"
FAMILIES = {family.name: family for family in PLANTED}
_SPREAD, _SMALL = 100_000, 400

CELLS = tuple(
    Cell(family.name, "dictionary", value=value, settings={"family": family.name})
    for family in PLANTED
    for value in (RIGHT, UNITS)
)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw a world, fit, take every link, and score."""
    family, smoke = FAMILIES[cell.settings["family"]], budget == "smoke"
    own = seed * _SPREAD + zlib.crc32(family.name.encode()) % _SPREAD
    world, shape = family.world(own, _SMALL if smoke else None)
    model = family.model(shape, seed)
    if smoke:
        model.set_params(max_iter=2)
    model.fit(world.x)
    case = Case(model, world.x.astype(float), effort="full", random_state=seed)
    links = tuple(argument_for(model).links(case))
    right = right_atoms(model.dictionary_, world.atoms)
    found = {f"right|{unit}": float(value) for unit, value in enumerate(right)}
    for each in links:
        place = f"{each.effort}|{each.name}"
        found |= {f"{place}|{unit}": round(float(value), 4) for unit, value in enumerate(each.strength)}
    return found | {RIGHT: float(right.mean()), UNITS: float(len(right))}
