"""Dependency sparsity beside OroJAR and the Hessian penalty, for FactorVAE on images (Table 8).

Zheng et al. (2026), arXiv:2604.17568, Table 8: Cars3D and MPI3D. Sets are twins, another set of images each.
OroJAR and the Hessian penalty are sampled by finite differences, as published. All else is as in Table 1.
"""

from ._pictures import BUDGETS, CURVED, ORTHOGONAL, PLAIN, SPARSE, cells, references, run

__all__ = ["BUDGETS", "CELLS", "run"]

SOURCE = "arXiv:2604.17568, Table 8"
PAPER = {
    (PLAIN, "Cars3D twin"): (0.708, 0.026, 0.135, 0.030),
    (PLAIN, "MPI3D twin"): (0.599, 0.064, 0.345, 0.047),
    (SPARSE, "Cars3D twin"): (0.752, 0.040, 0.144, 0.053),
    (SPARSE, "MPI3D twin"): (0.639, 0.084, 0.384, 0.031),
    (ORTHOGONAL, "Cars3D twin"): (0.165, 0.235, 0.030, 0.007),
    (ORTHOGONAL, "MPI3D twin"): (0.499, 0.090, 0.272, 0.054),
    (CURVED, "Cars3D twin"): (0.321, 0.455, 0.082, 0.077),
    (CURVED, "MPI3D twin"): (0.506, 0.056, 0.254, 0.067),
}
TWINS = ("Cars3D twin", "MPI3D twin")

CELLS = tuple(
    cell
    for twin in TWINS
    for part in (
        *(cells(row, twin, PAPER[row, twin], source=SOURCE) for row in (PLAIN, SPARSE, ORTHOGONAL, CURVED)),
        references(twin),
    )
    for cell in part
)
