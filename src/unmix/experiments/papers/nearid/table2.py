"""Autoencoders, their independent components and six other models on images (Table 2).

Nelson et al. (2026), arXiv:2603.11970, Table 2: InfoM, InfoE and InfoC of codes, twice as many as factors.
Sets are twins of Shapes3D, MPI3D, Cars3D and dSprites, another set of images each; the paper's are Shapes3D,
MPI3D, Falcor3D and Isaac3D, and its mean over these has no counterpart but ours over ours. Trainings are
shorter than its 200,000 updates, with a learning rate that falls. The paper chooses weight decay and
checkpoint by InfoM, that is by looking at factors: such a choice, of the weight decay and of a training of
half or of all updates, is a row of its own. Ours is the largest weight decay that reconstructs within 1 dB of
the best. ICA is fitted to the codes of all images and drops directions that are not used. Beside them stand
principal components of pixels after the same ICA, a rotation of the truth, and noise, whose InfoM alone is
above one half. The paper took four rows from Hsu et al. (2023), arXiv:2305.18378. The linear part of a code
are its directions that pixels tell linearly, to which ICA is fitted in turn: a code has more directions than
its factors need, and networks fill them with bent functions of several factors. Ten levels round components
to ten values each, as many as codes of QLAE have.
"""

from ...engine import Cell
from .._pictures.models import AE, HSU
from .._pictures.scores import MORE, PARTS, REFERENCES
from .._pictures.twins import OTHER, TWINS
from ._pictures import BY_FACTORS, BY_FACTORS_ICA, COMPONENTS, ICA, OF_ICA, OF_LEVELS, OF_PART, run

__all__ = ["BUDGETS", "CELLS", "run"]

BUDGETS = ("smoke", "laptop", "gpu")
SOURCE = "arXiv:2603.11970, Table 2"
PAPER = {
    ("AE", "Shapes3D twin"): (0.34, 0.99, 0.16),
    ("AE", "MPI3D twin"): (0.42, 0.40, 0.31),
    ("beta-VAE", "Shapes3D twin"): (0.59, 0.99, 0.49),
    ("beta-VAE", "MPI3D twin"): (0.45, 0.71, 0.51),
    ("beta-TCVAE", "Shapes3D twin"): (0.61, 0.82, 0.62),
    ("beta-TCVAE", "MPI3D twin"): (0.51, 0.60, 0.57),
    ("BioAE", "Shapes3D twin"): (0.56, 0.98, 0.44),
    ("BioAE", "MPI3D twin"): (0.45, 0.66, 0.36),
    (ICA, "Shapes3D twin"): (0.79, 0.99, 0.52),
    (ICA, "MPI3D twin"): (0.44, 0.66, 0.31),
}
# over the paper's four sets, two of which have no twin here
PAPER_MEAN = {
    "AE": (0.39, 0.76, 0.25),
    "beta-VAE": (0.59, 0.81, 0.55),
    "beta-TCVAE": (0.58, 0.72, 0.59),
    "BioAE": (0.54, 0.75, 0.36),
    ICA: (0.65, 0.83, 0.40),
}
CHOSEN, PART, LEVELS = ", chosen by factors", ", linear part", ", linear part, ten levels"
LARGE = ", published networks"


def _cells(row: str, model: str, twin: str, suffix: str = "", more: tuple[str, ...] = ()) -> tuple[Cell, ...]:
    known = PAPER.get((row.removesuffix(LARGE).partition(",")[0], twin), ())
    paper = dict(zip(PARTS, known, strict=False))
    settings = {"task": "scores", "model": model, "twin": twin}
    return tuple(
        Cell(
            row,
            twin,
            paper=paper.get(value),
            source=SOURCE if value in paper else "",
            value=value + suffix,
            always=value != "InfoC",  # undefined where a single latent is used
            other=OTHER if value in paper else "",
            settings=settings | ({"networks": "published"} if row.endswith(LARGE) else {}),
        )
        for value in (*PARTS, *more)
    )


def _of_twin(twin: str) -> tuple[Cell, ...]:
    rest = [model for model in HSU if model != AE]
    return (
        *_cells(AE, AE, twin, more=MORE),
        *_cells(AE + CHOSEN, AE, twin, BY_FACTORS),
        *(cell for model in rest for cell in _cells(model, model, twin, more=MORE)),
        *_cells(ICA, AE, twin, OF_ICA, more=MORE),
        *_cells(ICA + CHOSEN, AE, twin, BY_FACTORS_ICA),
        *_cells(AE + LARGE, AE, twin, more=MORE),
        *_cells("QLAE" + LARGE, "QLAE", twin, more=MORE),
        *_cells(ICA + LARGE, AE, twin, OF_ICA, more=MORE),
        *_cells(ICA + CHOSEN + LARGE, AE, twin, BY_FACTORS_ICA),
        *_cells(ICA + PART + LARGE, AE, twin, OF_PART, more=(*MORE, COMPONENTS)),
        *_cells(ICA + LEVELS + LARGE, AE, twin, OF_LEVELS, more=MORE),
        *(cell for row in REFERENCES for cell in _cells(row, row, twin, more=MORE)),
        *(cell for row in REFERENCES for cell in _cells(row + LEVELS, row, twin, OF_LEVELS)),
    )


CELLS = tuple(cell for twin in TWINS for cell in _of_twin(twin))
