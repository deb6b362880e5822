"""Which features come back from another seed: against width, active features and tokens.

Two sparse autoencoders that differ in their seed alone are fitted over the same passes of the same tokens and
compared on tokens held out: by atoms, and by codes. Beside them stand random atoms in the directions of the
data, the same two before training, and the share of dead features. With `--data` activations of a language
model (`site.safetensors`, inputs of a feed-forward block); without, planted ones. Song et al. (2025),
arXiv:2505.20254, report a mean cosine of assigned atoms of .80 for TopK on Pythia-160M, without a floor.
"""

from typing import Any

import numpy as np

from unmix.estimators import SparseAutoencoder, fit_many, untrained_dictionary
from unmix.metrics import replicate_features

from ...engine import Cell, Place
from ._common import data_name, site

__all__ = ["BUDGETS", "CELLS", "data_name", "run"]

BUDGETS = ("smoke", "laptop", "gpu")
# width over the number of variables, active features, share of the tokens
SETTINGS: dict[str, tuple[float, int, float]] = {
    "as it is: 8 d, k = 32": (8, 32, 1.0),
    "narrow: 2 d": (2, 32, 1.0),
    "wide: 16 d": (16, 32, 1.0),
    "k = 8": (8, 8, 1.0),
    "k = 128": (8, 128, 1.0),
    "a quarter of the tokens": (8, 32, 0.25),
    "a sixteenth of the tokens": (8, 32, 0.0625),
}
VALUES = {
    "alone": "alone, by atoms",
    "subspace": "as part of a subspace, by atoms",
    "codes": "alone, by codes",
    "best": "nearest atom, mean cosine",
    "random": "the same, random atoms",
    "untrained": "the same, untrained",
    "dead": "dead features",
    "explained": "variance explained",
}
# rows planted, passes that see all tokens, batch; k at the small sizes
SIZES: dict[str, tuple[int, int, int]] = {
    "smoke": (600, 2, 100),
    "laptop": (8000, 30, 512),
    "gpu": (40_000, 40, 2048),
}

CELLS = tuple(
    Cell(row, words, value=value, settings={"row": row})
    for row in SETTINGS
    for value, words in VALUES.items()
)


def run(
    cell: Cell, seed: int, budget: str, data: str | None = None, place: Place | None = None
) -> dict[str, Any]:
    """Fit two seeds, and compare them on tokens held out."""
    n, passes, batch = SIZES[budget]
    width, k, share = SETTINGS[cell.settings["row"]]
    found = site(data, seed, n_planted=n, d=12 if budget == "smoke" else 24)
    train = found.train[: max(2 * batch, int(share * len(found.train)))]
    k = k if data is not None else max(1, k // 8)  # rows that were planted have four atoms each
    where = place or Place("cpu")
    models = [
        SparseAutoencoder(
            int(width * train.shape[1]),
            k=k,
            max_iter=max(1, round(passes / share)) if len(train) < len(found.train) else passes,
            batch_size=batch,
            lr=5e-4 if data is not None else 5e-3,
            device="auto" if place is None else where.device,
            random_state=100 + 2 * seed + each,
        )
        for each in range(2)
    ]
    with where.training():
        fit_many(models, train)
        codes = [model.transform(found.held) for model in models]
    return compared(models, codes, found.held, train)


def compared(models: list[Any], codes: list[Any], held: np.ndarray, train: np.ndarray) -> dict[str, float]:
    """Return the shares of features that come back, and what stands beside them."""
    result = replicate_features(
        [model.dictionary_ for model in models],
        codes,
        covariance=np.cov(train[:20_000].T),
        untrained=[untrained_dictionary(model) for model in models],
    )
    level = result.levels[0].best
    by_codes = result.codes.runs[0].status if result.codes is not None else np.zeros(1)
    return {
        "alone": float((result.atoms[0].status == "alone").mean()),
        "subspace": float((result.atoms[0].status == "subspace").mean()),
        "codes": float((by_codes == "alone").mean()),
        "best": level["trained"],
        "random": level["random"],
        "untrained": level["untrained"],
        "dead": _dead(codes[0]),
        "explained": models[0].score(held),
    }


def _dead(codes: Any) -> float:
    return float((np.diff(codes.tocsc().indptr) == 0).mean())
