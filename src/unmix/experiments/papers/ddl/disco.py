"""Dependency sparsity beside latent sparsity and none, for DisCo on images (Table 1).

Zheng et al. (2026), arXiv:2604.17568, Table 1, the rows of DisCo: FactorVAE score and DCI disentanglement.
Sets are twins, another set of images each; that of dSprites is ours. The generator is a GAN in the manner of
StyleGAN2, trained on the same images first; dependency sparsity is that of secants between images that are
rendered anyway. Trainings are shorter than published. Weights are ours and were set before any run. All
else is as for FactorVAE in `ddl.table1`.
"""

from .._pictures.twins import TWINS
from ._generators import BUDGETS, DEPENDENCY, DISCO, LATENT, NONE, cells, references, run

__all__ = ["BUDGETS", "CELLS", "run"]

PAPER = {
    (NONE, "Shapes3D twin"): (0.852, 0.037, 0.710, 0.020),
    (NONE, "Cars3D twin"): (0.727, 0.106, 0.319, 0.031),
    (NONE, "MPI3D twin"): (0.396, 0.023, 0.306, 0.079),
    (LATENT, "Shapes3D twin"): (0.864, 0.007, 0.707, 0.024),
    (LATENT, "Cars3D twin"): (0.761, 0.148, 0.294, 0.023),
    (LATENT, "MPI3D twin"): (0.308, 0.031, 0.314, 0.050),
    (DEPENDENCY, "Shapes3D twin"): (0.868, 0.017, 0.712, 0.018),
    (DEPENDENCY, "Cars3D twin"): (0.789, 0.029, 0.320, 0.003),
    (DEPENDENCY, "MPI3D twin"): (0.410, 0.122, 0.324, 0.059),
}

CELLS = tuple(
    cell
    for twin in TWINS
    for part in (
        *(cells(DISCO, kind, twin, PAPER.get((kind, twin), ())) for kind in (NONE, DEPENDENCY, LATENT)),
        references(twin),
    )
    for cell in part
)
