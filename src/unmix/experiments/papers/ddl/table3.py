"""Dead features of TopK, BatchTopK and Jacobian sparse autoencoders (Table 3).

Zheng et al. (2026), arXiv:2604.17568, Table 3: 439, 207 and 62 of 12,288 features are dead (GPT-2 small,
OpenWebText), by a rule that is not stated. Here features of the inputs and of the outputs of a feed-forward
block are counted apart, with frozen weights, by three rules: never on in any token held out; not on in the
last 20,480 tokens (five batches of 4,096, as in bartbussmann/BatchTopK); not on in any token of training,
which here are far fewer than the 4 million of SAELens and jacobian-saes, seen again and again. TopK and
BatchTopK come with and without the auxiliary term for dead features, as the Jacobian pair has none. Same
tokens, width and k for all, and the variance explained beside each count. With `--data` activations of a
language model (`site.safetensors`); without, planted ones before a random block.
"""

from typing import Any

import numpy as np

from unmix.estimators import JacobianSparseAutoencoder, SparseAutoencoder

from ...engine import Cell, Place
from ..sae._common import Site, data_name, outputs, site

__all__ = ["BUDGETS", "CELLS", "data_name", "run"]

BUDGETS = ("smoke", "laptop", "gpu")
SOURCE, OTHER = "arXiv:2604.17568, Table 3", "another model, other text, far fewer tokens"
FEATURES = 12_288
# row: activation, weight of the auxiliary term, and what the paper counted
METHODS: dict[str, tuple[str, float, int | None]] = {
    "TopK": ("topk", 0.0, 439),
    "TopK, AuxK": ("topk", 1 / 32, None),
    "BatchTopK": ("batch_topk", 0.0, 207),
    "BatchTopK, AuxK": ("batch_topk", 1 / 32, None),
    "JSAE": ("jacobian", 0.0, 62),
}
RULES = {
    "never held out": "never on in tokens held out",
    "not in 20,480": "not on in 20,480 tokens",
    "never trained": "never on in tokens of training",
}
WINDOW = 20_480
# rows planted, variables, width over variables, active, passes, batch
SIZES: dict[str, tuple[int, int, int, int, int, int]] = {
    "smoke": (600, 12, 4, 2, 2, 100),
    "laptop": (8000, 24, 8, 4, 30, 512),
    "gpu": (40_000, 24, 16, 32, 60, 2048),
}


def _cells() -> tuple[Cell, ...]:
    found = []
    for row, (_, _, paper) in METHODS.items():
        shared: dict[str, Any] = {"settings": {"row": row}, "better": "lower"}
        for side in ("input", "output"):
            for rule, words in RULES.items():
                share = None if paper is None else paper / FEATURES
                about: dict[str, Any] = (
                    {"paper": share, "source": SOURCE, "other": OTHER} if share is not None else {}
                )
                found.append(Cell(row, f"{side}: {words}", value=f"{side}, {rule}", **shared, **about))
            found.append(
                Cell(row, f"{side}: variance explained", value=f"{side}, explained", settings={"row": row})
            )
    return tuple(found)


CELLS = _cells()


def run(
    cell: Cell, seed: int, budget: str, data: str | None = None, place: Place | None = None
) -> dict[str, Any]:
    """Fit the dictionaries of one method to both sides of the block, and count."""
    n, d, width, k, passes, batch = SIZES[budget]
    kind, auxiliary, _ = METHODS[cell.settings["row"]]
    found = site(data, seed, n_planted=n, d=d)
    k = k if data is not None else min(k, 4)
    where = place or Place("cpu")
    settings: dict[str, Any] = {
        "k": k,
        "auxiliary": auxiliary,
        "max_iter": passes,
        "batch_size": batch,
        "lr": 5e-4 if data is not None else 5e-3,
        "device": "auto" if place is None else where.device,
        "random_state": 100 + seed,
    }
    m = width * found.train.shape[1]
    with where.training():
        if kind == "jacobian":
            return _pair(JacobianSparseAutoencoder(m, **settings), found)
        made = (SparseAutoencoder(m, activation=kind, **settings) for _ in range(2))
        return _both(list(made), found)


def _both(models: list[SparseAutoencoder], found: Site) -> dict[str, float]:
    """Fit one dictionary to the inputs and one to the outputs."""
    values: dict[str, float] = {}
    for side, model in zip(("input", "output"), models, strict=True):
        train, held = _sides(found, side)
        model.fit(train)
        values |= counted(side, model, train, held)
    return values


def _pair(model: JacobianSparseAutoencoder, found: Site) -> dict[str, float]:
    """Fit the Jacobian pair to the block."""
    model.fit(found.train, mlp=found.block)
    values: dict[str, float] = {}
    for side, part in (("input", model.input), ("output", model.output)):
        values |= counted(side, part, *_sides(found, side))
    return values


def _sides(found: Site, side: str) -> tuple[np.ndarray, np.ndarray]:
    if side == "input":
        return found.train, found.held
    return outputs(found.block, found.train), outputs(found.block, found.held)


def counted(side: str, model: Any, train: np.ndarray, held: np.ndarray) -> dict[str, float]:
    """Count the features that are dead by each rule, as a share, and what is explained of tokens held out."""
    rows = {"never held out": held, "not in 20,480": train[-WINDOW:], "never trained": train}
    shares = {f"{side}, {rule}": _dead(model.transform(some)) for rule, some in rows.items()}
    return shares | {f"{side}, explained": float(model.score(held))}


def _dead(codes: Any) -> float:
    return float((np.diff(codes.tocsc().indptr) == 0).mean())
