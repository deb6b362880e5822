"""Dependency sparsity of EncDiff through the noise that it tells, or through the image left without it.

The paper, Zheng et al. (2026), arXiv:2604.17568, says that the L1 norm is that of the Jacobian, and not of
which function. Both are derivatives of what a U-Net tells of one noisy image by the scalars: of the noise, or
of the image without it, which is the same times the ratio of noise to signal, so that the noisiest times
count most. Two weights each, on the Shapes3D twin; and beside them the published loss, the error of the
noise, where the others lower that of the velocity.
"""

from ._generators import BUDGETS, DEPENDENCY, ENCDIFF, NONE, cells, references, run

__all__ = ["BUDGETS", "CELLS", "run"]

TWIN = "Shapes3D twin"
WEIGHTS = (0.01, 0.1)

CELLS = (
    *cells(ENCDIFF, NONE, TWIN),
    *cells(ENCDIFF, NONE, TWIN, row="EncDiff, error of the noise", target="noise"),
    *(
        cell
        for through in ("noise", "image")
        for weight in WEIGHTS
        for cell in cells(
            ENCDIFF,
            DEPENDENCY,
            TWIN,
            row=f"through {through}, weight {weight}",
            through=through,
            weight=weight,
        )
    ),
    *references(TWIN),
)
