"""Misspecified worlds (E.1): noise that is not Gaussian, mixings that are not piecewise affine.

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix E.1. MCC of both stages.

A sigmoid mixing is no harder than the others but for its scale. Each sigmoid shrinks the spread about four
times and bends less than the one before: at ten layers x has a spread of 2e-6 about 0.4, and is affine in the
latents up to an R² of 0.98. Methods that standardise x in double precision, as ours do, do not notice; a
network that reconstructs x as it stands has nothing to learn from. So numbers above the published ones there
are no better unmixing.
"""

from ...engine import Cell
from .._grid import grid
from ._common import BOTH, SETTINGS, references, run, settings

__all__ = ["CELLS", "run", "with_method"]

SOURCE = "arXiv:2604.13218, appendix E.1"
KINDS = {
    "exponential noise": {"scm_noise": "exponential"},
    "Gumbel noise": {"scm_noise": "gumbel"},
    "smooth mixing": {"activation": "smooth"},
    "sigmoid mixing": {"activation": "sigmoid"},
}
# setting: mean and standard deviation for each kind, in their order
PAPER = {
    "n = 5": ((0.92, 0.06), (0.95, 0.01), (0.97, 0.01), (0.36, 0.02)),
    "base": ((0.96, 0.01), (0.97, 0.01), (0.98, 0.01), (0.32, 0.06)),
    "n = 20": ((0.94, 0.02), (0.95, 0.02), (0.94, 0.09), (0.29, 0.04)),
    "k = 0": ((0.95, 0.01), (0.97, 0.01), (0.95, 0.08), (0.37, 0.06)),
    "k = 2": ((0.93, 0.04), (0.96, 0.02), (0.97, 0.01), (0.29, 0.06)),
    "k = 3": ((0.91, 0.04), (0.91, 0.06), (0.93, 0.03), (0.36, 0.09)),
    "m = 3": ((0.98, 0.01), (0.99, 0.01), (0.99, 0.00), (0.60, 0.03)),
    "m = 20": ((0.91, 0.04), (0.94, 0.02), (0.97, 0.01), (0.30, 0.08)),
    "1 active": ((0.66, 0.08), (0.59, 0.07), (0.70, 0.07), (0.36, 0.01)),
    "75% active": ((0.92, 0.04), (0.94, 0.04), (0.95, 0.03), (0.32, 0.07)),
}
WORLDS = {
    f"{kind}, {name}": (SETTINGS[name] | change, papers[k])
    for name, papers in PAPER.items()
    for k, (kind, change) in enumerate(KINDS.items())
}

CELLS = (
    *(
        Cell(BOTH, column, paper=mean, spread=spread, source=SOURCE, settings=settings(BOTH, world))
        for column, (world, (mean, spread)) in WORLDS.items()
    ),
    *references(((column, world) for column, (world, _) in WORLDS.items()), "mcc"),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return grid(method, ((column, world) for column, (world, _) in WORLDS.items()), "mcc")
