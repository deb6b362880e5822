"""EncDiff and DisCo with sparsity, on twins of the paper's images.

Zheng et al. (2026), arXiv:2604.17568, Table 1. Cells and scores are those of the rows of FactorVAE; the paper
gives no weights, and ours were set before any run; networks, rate and updates of EncDiff at the budget of a
GPU were chosen after scores of one run with seed 0, which is in no table.
"""

from typing import Any

from ...engine import Cell, Place
from .._pictures.codes import learned
from .._pictures.factor import DEPENDENCY, LATENT, NONE
from .._pictures.generators import DISCO, ENCDIFF, make
from .._pictures.scores import REFERENCES, reference_codes, scores
from .._pictures.twins import OTHER, pictures
from ._pictures import SCORES, STD, VALUES, Paper

BUDGETS = ("smoke", "laptop", "gpu")
LATENTS = 20
WEIGHTS = {
    ENCDIFF: {NONE: 0.0, LATENT: 1e-3, DEPENDENCY: 0.01},
    DISCO: {NONE: 0.0, LATENT: 1e-3, DEPENDENCY: 0.1},
}
NAMES = {NONE: "{}", DEPENDENCY: "{} + dependency sparsity", LATENT: "{} + latent sparsity"}


def cells(
    model: str, penalty: str, twin: str, paper: Paper | tuple[()] = (), *, row: str = "", **changes: Any
) -> tuple[Cell, ...]:
    """Return the cells of a row in the column of a twin: the two published scores, then the others."""
    settings = {"model": model, "penalty": penalty, "weight": WEIGHTS[model][penalty], "latents": LATENTS}
    return _row(row or NAMES[penalty].format(model), twin, settings | {"twin": twin} | changes, paper)


def references(twin: str) -> tuple[Cell, ...]:
    """Return the cells of what learned nothing, with as many codes."""
    return tuple(cell for row in REFERENCES for cell in _row(row, twin, {"model": row, "twin": twin}))


def _row(row: str, twin: str, settings: dict[str, Any], paper: Paper | tuple[()] = ()) -> tuple[Cell, ...]:
    known = dict(zip(SCORES, (paper[:2], paper[2:]), strict=True)) if paper else {}
    return tuple(
        Cell(
            row,
            twin,
            paper=known[value][0] if value in known else None,
            spread=known[value][1] if value in known else None,
            source="arXiv:2604.17568, Table 1" if value in known else "",
            value=value,
            precision=0.0005,
            other=OTHER if value in known else "",
            settings=settings,
        )
        for value in VALUES
    )


def run(cell: Cell, seed: int, budget: str, place: Place) -> dict[str, Any]:
    """Train what a cell names, and score its codes."""
    given = cell.settings
    seen = pictures(given["twin"], budget)
    if given["model"] in REFERENCES:
        codes, told = reference_codes(given["model"], seen, LATENTS, seed, place), {}
    else:
        found = learned(make, dict(given), seed, budget, place)
        codes, told = found.codes, {"PSNR": found.psnr, "seconds of training": found.seconds}
    active = float((codes[seen.scored].std(0, ddof=1) >= STD).sum())
    return told | {"active latents": active} | scores(seen, codes, budget, published=True)
