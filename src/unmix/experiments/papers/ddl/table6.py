"""The weight of dependency sparsity (Table 6).

Zheng et al. (2026), arXiv:2604.17568, Table 6. The weight is that of the L1 norm of the decoder's Jacobian.
"""

from ._common import PUBLISHED, cells, references, run
from .table4 import SIZES

__all__ = ["CELLS", "run"]

SOURCE = "arXiv:2604.17568, Table 6"
PAPER = {
    0.0: ((3, 0.6789, 0.0364), (4, 0.7317, 0.1092), (5, 0.6989, 0.0133)),
    0.001: ((3, 0.7313, 0.0242), (4, 0.7294, 0.0147), (5, 0.7513, 0.0007)),
    0.005: ((3, 0.7765, 0.0363), (4, 0.7826, 0.0244), (5, 0.7681, 0.0455)),
    0.01: ((3, 0.8145, 0.0221), (4, 0.8032, 0.0327), (5, 0.7979, 0.0421)),
    0.03: ((3, 0.8268, 0.0268), (4, 0.8232, 0.0187), (5, 0.8101, 0.0112)),
    0.05: ((3, 0.8256, 0.0088), (4, 0.8420, 0.0401), (5, 0.8099, 0.0296)),
}

CELLS = (
    *(
        cell
        for weight, papers in PAPER.items()
        for cell in cells(PUBLISHED, papers, row=f"weight {weight:g}", source=SOURCE, weight=weight)
    ),
    *references(SIZES),
)
