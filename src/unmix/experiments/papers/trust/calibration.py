"""How often a verdict of trust is right: strengths of all links beside the truth, family by family.

Each run draws a world of one family, fits the estimator that a user would try, takes every link of its
argument at full effort, and says which latents are right. From these strengths chains are calibrated on all
families but one and judged on that one, see `unmix.experiments.papers.trust.judgement`. The truth is looked
at last, and only to score. For what calibrated means see Guo et al. (2017), arXiv:1706.04599.
"""

import zlib
from typing import Any

import numpy as np

from unmix.data import LatentDataset
from unmix.evidence import Case, argument_for, units_of

from ...engine import Cell
from . import _worlds_domains, _worlds_linear, _worlds_mixture, _worlds_slots, _worlds_sparse
from ._family import Family

RIGHT, UNITS = "share that is right", "number judged"
KINDS = (_worlds_sparse, _worlds_mixture, _worlds_domains, _worlds_slots, _worlds_linear)
FAMILIES: dict[str, Family] = {family.name: family for kind in KINDS for family in kind.FAMILIES}
SMALL, QUICKLY = 200, {"max_iter": 2, "n_restarts": 1}
_SPREAD = 100_000

CELLS = tuple(
    Cell(family.name, family.kind, value=value, settings={"family": family.name})
    for family in FAMILIES.values()
    for value in (RIGHT, UNITS)
)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw a world, fit, take every link, and score."""
    family = FAMILIES[cell.settings["family"]]
    smoke = budget == "smoke"
    data = family.draw(SMALL if smoke else family.n_samples, _seed(family, seed))
    model = family.model(data, seed)
    if smoke:
        own = model.get_params(deep=False).keys()
        model.set_params(**{name: value for name, value in QUICKLY.items() if name in own})
    return measured(family, data, model, seed)


def _seed(family: Family, seed: int) -> int:
    """Return a seed of the family's own, so that families do not share worlds."""
    return seed * _SPREAD + zlib.crc32(family.name.encode()) % _SPREAD


def measured(family: Family, data: LatentDataset, model: Any, seed: int) -> dict[str, float]:
    """Return the strength of each link for each unit, and whether the unit is right.

    Keys are "effort|link|unit", and "right|unit".
    """
    labels = data.u if family.labelled else None
    model = model.fit(data.x) if labels is None else model.fit(data.x, labels)
    case = Case(model, data.x, domains=labels, effort="full", random_state=seed)
    links = tuple(argument_for(model).links(case))
    right = np.asarray(family.right(data, model.transform(data.x), units_of(model, case.codes.shape[1])))
    found = {f"right|{unit}": float(value) for unit, value in enumerate(right)}
    for each in links:
        place = f"{each.effort}|{each.name}"
        found |= {f"{place}|{unit}": float(value) for unit, value in enumerate(each.strength)}
    return found | {RIGHT: float(right.mean()), UNITS: float(len(right))}
