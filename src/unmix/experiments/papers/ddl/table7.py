"""Dependency sparsity at twice the resolution, for FactorVAE on cars (Table 7).

Zheng et al. (2026), arXiv:2604.17568, Table 7: Cars3D at 64 and, with dependency sparsity, 128 pixels. Ours
is a twin, another set of images, rendered at either size, with a quarter of the side at the other budgets.
All else is as in Table 1.
"""

from ._pictures import BUDGETS, PLAIN, SPARSE, SPARSE_LATENT, cells, references, run

__all__ = ["BUDGETS", "CELLS", "run"]

SOURCE = "arXiv:2604.17568, Table 7"
TWIN, LARGE = "Cars3D twin", 128
CELLS = (
    *cells(PLAIN, TWIN, (0.708, 0.026, 0.135, 0.030), source=SOURCE),
    *cells(SPARSE_LATENT, TWIN, (0.501, 0.434, 0.113, 0.069), source=SOURCE),
    *cells(SPARSE, TWIN, (0.752, 0.040, 0.144, 0.053), source=SOURCE),
    *references(TWIN),
    *cells(SPARSE, TWIN, (0.723, 0.023, 0.141, 0.004), source=SOURCE, size=LARGE),
    *references(TWIN, LARGE),
)
