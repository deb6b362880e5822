"""Without sparsity, and with known components (D.6).

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix D.6. Without the constraint the second
stage leaves the code where it is, so that its row is the white code of the first stage; the oracle is told
the component of every sample (Xu et al. 2024, arXiv:2403.08335).
"""

from .._cell import Cell
from ._common import BOTH, FIRST, ORACLE, SETTINGS, references, run, settings
from ._paper import published

__all__ = ["CELLS", "run"]

WITHOUT = "without sparsity"

CELLS = (
    *(
        Cell(row, name, settings=settings(method, world), **published(name, column))
        for name, world in SETTINGS.items()
        for row, method, column in (
            (WITHOUT, FIRST, "no l1"),
            (ORACLE, ORACLE, "oracle"),
            (BOTH, BOTH, "mcc"),
        )
    ),
    *references(SETTINGS.items(), "mcc"),
)
