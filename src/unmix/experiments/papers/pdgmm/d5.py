"""Sensitivity to the settings of training (D.5).

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix D.5. The learning rate is that of the
paper's second stage there and of our first stage here, whose second has none. The bound of its
constraint has a table of its own. The weight of our likelihood is varied without published numbers.
"""

from typing import Any

from ...engine import Cell
from ._common import BOTH, draw, judge, model_of, references, settings

SOURCE = "arXiv:2604.13218, appendix D.5, learning rate of the second stage"
RATES = {1e-2: (0.25, 0.03), 1e-3: (0.53, 0.08), 1e-4: (0.97, 0.01), 1e-5: (0.92, 0.02)}
WEIGHTS = (0.001, 0.01, 0.03, 0.1, 1.0)

CELLS = (
    *(
        Cell(
            BOTH,
            f"learning rate {rate:g}",
            paper=mean,
            spread=spread,
            source=SOURCE,
            settings=settings(BOTH, {}, lr=rate),
        )
        for rate, (mean, spread) in RATES.items()
    ),
    *(Cell(BOTH, f"weight {weight:g}", settings=settings(BOTH, {}, weight=weight)) for weight in WEIGHTS),
    *references((("any", {}),), "mcc"),
)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit with one setting changed."""
    data, fresh = draw(cell, seed, budget)
    changes = {name: cell.settings[name] for name in ("lr", "weight") if name in cell.settings}
    return judge(cell, fresh, seed, model_of(cell, data, seed, budget, **changes))
