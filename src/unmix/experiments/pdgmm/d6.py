"""An oracle that is told the component of every sample (D.6).

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix D.6; the oracle is that of Xu et al. (2024),
arXiv:2403.08335. The other half of D.6, both stages without sparsity, shares the fits of Table 1 and stands
there.
"""

from .._cell import Cell
from ._common import ORACLE, SETTINGS, references, run, settings
from ._paper import published

__all__ = ["CELLS", "run"]

CELLS = (
    *(
        Cell(ORACLE, name, settings=settings(ORACLE, world), **published(name, "oracle"))
        for name, world in SETTINGS.items()
    ),
    *references(SETTINGS.items(), "mcc"),
)
