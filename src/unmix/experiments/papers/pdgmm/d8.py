"""More latents asked for than there are (D.8).

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix D.8: ten latents, twelve to twenty codes.
Standard deviations are not known to us.
"""

from typing import Any

from ...engine import Cell
from ._common import BOTH, draw, judge, model_of, references, settings

SOURCE = "arXiv:2604.13218, appendix D.8"
PAPER = {12: (0.91, 0.96), 14: (0.89, 0.96), 16: (0.88, 0.93), 18: (0.88, 0.96), 20: (0.83, 0.96)}

CELLS = (
    *(
        Cell(
            BOTH,
            f"{n_hat} codes",
            value=value,
            paper=paper,
            source=SOURCE,
            settings=settings(BOTH, {}, n_components=n_hat),
        )
        for n_hat, papers in PAPER.items()
        for value, paper in zip(("r2", "mcc"), papers, strict=True)
    ),
    *references((("any", {}),), "r2", "mcc"),
)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit with codes in excess; those that never vary take no part in R²."""
    data, fresh = draw(cell, seed, budget)
    asked = {name: cell.settings[name] for name in ("n_components",) if name in cell.settings}
    return judge(cell, fresh, seed, model_of(cell, data, seed, budget, **asked))
