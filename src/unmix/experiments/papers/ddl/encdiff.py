"""Dependency sparsity beside latent sparsity and none, for EncDiff on images (Table 1).

Zheng et al. (2026), arXiv:2604.17568, Table 1, the rows of EncDiff: FactorVAE score and DCI disentanglement.
Sets are twins, another set of images each; that of dSprites is ours. Trainings are minutes instead of a day,
on pixels instead of the latents of a quantised autoencoder, with the error of the velocity. Weights are ours
and were set before any run; networks, rate and updates on a GPU after scores of one run with seed 0. All else
is as for FactorVAE in `ddl.table1`.
"""

from .._pictures.twins import TWINS
from ._generators import BUDGETS, DEPENDENCY, ENCDIFF, LATENT, NONE, cells, references, run

__all__ = ["BUDGETS", "CELLS", "run"]

PAPER = {
    (NONE, "Shapes3D twin"): (0.9999, 0.0001, 0.901, 0.050),
    (NONE, "Cars3D twin"): (0.779, 0.060, 0.250, 0.020),
    (NONE, "MPI3D twin"): (0.868, 0.033, 0.676, 0.018),
    (LATENT, "Shapes3D twin"): (0.967, 0.042, 0.891, 0.057),
    (LATENT, "Cars3D twin"): (0.729, 0.003, 0.241, 0.016),
    (LATENT, "MPI3D twin"): (0.879, 0.015, 0.684, 0.020),
    (DEPENDENCY, "Shapes3D twin"): (1.0000, 0.0000, 0.947, 0.005),
    (DEPENDENCY, "Cars3D twin"): (0.756, 0.041, 0.256, 0.011),
    (DEPENDENCY, "MPI3D twin"): (0.881, 0.024, 0.667, 0.047),
}

CELLS = tuple(
    cell
    for twin in TWINS
    for part in (
        *(cells(ENCDIFF, kind, twin, PAPER.get((kind, twin), ())) for kind in (NONE, DEPENDENCY, LATENT)),
        references(twin),
    )
    for cell in part
)
