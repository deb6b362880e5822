"""An oracle that is told the component of every sample (D.6).

Xu, Lachapelle and Magliacane (2026), arXiv:2604.13218, appendix D.6; the oracle is that of Xu et al. (2024),
arXiv:2403.08335. The other half of D.6, both stages without sparsity, shares the fits of Table 1 and stands
there.
"""

from typing import Any

from unmix.data import LatentDataset
from unmix.estimators import LabelledSparseAutoencoder

from ...engine import Cell
from ._common import SETTINGS, draw, judge, model_of, references, settings
from ._paper import published

ORACLE = "oracle that knows the components"
SIZES: dict[str, dict[str, Any]] = {
    "smoke": {"max_iter": 2},
    "laptop": {"max_iter": 250, "batch_size": 512},
    "full": {},
}

CELLS = (
    *(
        Cell(ORACLE, name, settings=settings(ORACLE, world), **published(name, "oracle"))
        for name, world in SETTINGS.items()
    ),
    *references(SETTINGS.items(), "mcc"),
)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit and score on fresh samples; the oracle alone sees labels."""
    data, fresh = draw(cell, seed, budget)
    told = cell.settings["method"] == ORACLE
    model = _oracle(data, seed, budget) if told else model_of(cell, data, seed, budget)
    return judge(cell, fresh, seed, model)


def _oracle(data: LatentDataset, seed: int, budget: str) -> LabelledSparseAutoencoder:
    oracle = LabelledSparseAutoencoder(data.z.shape[1], random_state=seed, **SIZES[budget])
    return oracle.fit(data.x, data.labels)
