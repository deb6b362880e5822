"""Trees on held-out plates, before and after independent components (the protocol of Tables 3 and 4).

Nelson et al. (2026), arXiv:2603.11970, Section 4.4: embeddings of cells as they are, white, their independent
components, and a random rotation of them; gradient-boosted trees tell treated wells from controls on plates
that they have not seen. The paper's embeddings may not be passed on, so that plates are synthetic: 32
independent Laplace factors, of which 12 shift from plate to plate and 2 with the treatment. All components and
rotations are fitted without labels. Trees are not invariant under rotations, which is why one can help at all.
Two rows more are ours: components weighted by what batch leaves of them on controls, and plates anchored at
their controls. Published values are for other data, so that there is nothing to compare with.
"""

from typing import Any

import numpy as np

from unmix.deconfound import METHODS, Design, held_out_aurocs

from ...engine import RAW, ROTATION, Cell
from .._references import rotated

METHODS_BY_ROW = {
    RAW: "base",
    "PCA": "pca",
    "PCA + ICA": "pca+ica",
    "PCA + random rotation": "pca+random",
    "ICA weighted (ours)": "ica-weighted",
    "anchored (ours)": "anchored",
}
ROWS = (*METHODS_BY_ROW, ROTATION)
VALUES = {"AUROC": "auroc", "concentration": "concentration", "Hoyer sparsity": "hoyer"}
PLATES = {"smoke": 20, "laptop": 100, "full": 100}
CONTROLS, TREATED = 64, 16
N_FACTORS, SHIFTED = 32, slice(8, 20)

CELLS = tuple(
    Cell(row, column, value=f"{column} of {row}", settings={"world": "plates"})
    for row in ROWS
    for column in VALUES
)


def plates(n_plates: int, seed: int) -> tuple[np.ndarray, np.ndarray, Design]:
    """Draw wells of plates: X = S A^T, with factors S that shift from plate to plate; return X, S and who is where.

    >>> x, factors, where = plates(3, seed=0)
    >>> x.shape, factors.shape, int(where.control.sum())
    ((240, 32), (240, 32), 192)
    """
    rng = np.random.default_rng(seed)
    plate = np.repeat(np.arange(n_plates), CONTROLS + TREATED)
    treated = np.tile(np.arange(CONTROLS + TREATED) >= CONTROLS, n_plates)
    factors = rng.laplace(scale=0.5**0.5, size=(len(plate), N_FACTORS))  # unit variance
    factors[:, SHIFTED] += rng.laplace(size=(n_plates, SHIFTED.stop - SHIFTED.start))[plate]
    factors[treated, :2] += [1.0, -0.7]
    mixing = rng.normal(size=(N_FACTORS, N_FACTORS)) * np.exp(0.7 * rng.normal(size=N_FACTORS))
    names = tuple(map(str, range(n_plates)))
    return factors @ mixing.T, factors, Design(plate, names, plate, names, ~treated, given=True)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Adjust one set of plates in every way, and score each by trees on plates held out."""
    x, factors, where = plates(PLATES[budget], seed)
    tables = {row: METHODS[name](x, where, random_state=seed) for row, name in METHODS_BY_ROW.items()}
    tables[ROTATION] = rotated((factors - factors.mean(0)) / factors.std(0), seed)
    folds = held_out_aurocs(tables, ~where.control, where.batch, random_state=seed)
    return {
        f"{column} of {row}": float(np.nanmean([getattr(fold, key) for fold in folds if fold.method == row]))
        for row in ROWS
        for column, key in VALUES.items()
    }
