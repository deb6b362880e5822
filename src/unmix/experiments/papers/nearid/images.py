"""Up to which map two trainings on the same images agree (the protocol of Table 1).

Nelson et al. (2026), arXiv:2603.11970, Table 1 and Section 4.2. The paper's pairs are large pretrained
models; here models of its Table 2 are trained twice on a twin with different seeds, so that there is nothing
to compare with. Errors are mean distances over the diameter of the second run, efficiency is the share of the
way from signed permutation to rotation that ICA covers. MCC between runs is taken of codes, and of their
independent components. A reference is aligned with a rotation of itself.
"""

from ...engine import Cell
from .._pictures.models import AE
from .._pictures.scores import REFERENCES
from .._pictures.twins import TWINS
from ._pictures import BETWEEN, BETWEEN_ICA, MAPS, run

__all__ = ["BUDGETS", "CELLS", "run"]

BUDGETS = ("smoke", "laptop", "gpu")
MODELS = (AE, "beta-VAE")
HIGHER = ("efficiency", BETWEEN, BETWEEN_ICA)

CELLS = tuple(
    Cell(
        row,
        twin,
        value=value,
        better="higher" if value in HIGHER else "lower",
        always=value != "efficiency",  # runs that agree up to order and sign leave nothing to cover
        settings={"task": "agreement", "model": row, "twin": twin},
    )
    for twin in TWINS
    for row in (*MODELS, *REFERENCES)
    for value in (*MAPS, BETWEEN, BETWEEN_ICA)
)
