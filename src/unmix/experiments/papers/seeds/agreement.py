"""Do runs agree, and is what they agree on the truth? Three seeds of each method on the same samples.

Agreement needs no ground truth: the mean correlation of matched codes of two runs, and the unsupervised
disentanglement ranking of Duan et al. (2020), arXiv:1905.12614. The last score is that of the runs against
the truth, which shows where agreement can be believed. Raw x and the truth stand beside their own rotations.
"""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from unmix.data import LatentDataset, degenerate_mixture, multi_domain, sparse_mixing
from unmix.estimators import CGVAE, IVAE, PDGMM, Autoencoder, BetaVAE, SparseBasis
from unmix.metrics import mcc, udr

from ...engine import RAW, ROTATION, Cell, make_method
from .._references import rotated
from ..cg._common import codes
from ..ddl._common import DEFAULT, make

BETWEEN, RANKING, AGAINST = "MCC between runs", "UDR", "MCC with the truth"
N_RUNS, N = 3, 5
SAMPLES = {"smoke": 300, "laptop": 5000, "full": 10_000}
PASSES = {"smoke": 1, "laptop": 60, "full": 200}
FEW = {"smoke": 1, "laptop": 4, "full": 8}
WORLDS: dict[str, Callable[..., LatentDataset]] = {
    "sparse mixing": sparse_mixing,
    "dense mixing": lambda n, **more: sparse_mixing(n, profile="dense", **more),
    "degenerate mixture": degenerate_mixture,
    "four domains": lambda n, **more: multi_domain(n, n_domains=4, **more),
}
PLAIN = ("Autoencoder", "BetaVAE")
METHODS = {
    "sparse mixing": (DEFAULT, *PLAIN),
    "dense mixing": (DEFAULT, *PLAIN),
    "degenerate mixture": ("PDGMM", "SparseBasis", *PLAIN),
    "four domains": ("CGVAE", "IVAE", *PLAIN),
}


def _cells(row: str, method: str, world: str) -> tuple[Cell, ...]:
    return tuple(
        Cell(row, world, value=value, settings={"method": method, "world": world})
        for value in (BETWEEN, RANKING, AGAINST)
    )


CELLS = tuple(
    cell
    for world, methods in METHODS.items()
    for method in (*methods, RAW, ROTATION)
    for cell in _cells(method, method, world)
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return tuple(cell for world in WORLDS for cell in _cells(method.partition(":")[2], method, world))


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit with three seeds, and compare the runs with each other and with the truth."""
    data = WORLDS[cell.settings["world"]](SAMPLES[budget], n_latents=N, random_state=seed)
    runs = _runs(cell.settings["method"], data, seed, budget)
    return {
        BETWEEN: float(np.mean([mcc(a, b) for a, b in combinations(runs, 2)])),
        RANKING: udr(runs),
        AGAINST: float(np.mean([mcc(data.z, code) for code in runs])),
    }


def _runs(method: str, data: LatentDataset, seed: int, budget: str) -> list[np.ndarray]:
    own = [N_RUNS * seed + k for k in range(N_RUNS)]
    if method in (RAW, ROTATION):
        plain = data.x if method == RAW else data.z
        return [rotated((plain - plain.mean(0)) / plain.std(0), k) for k in own]
    return [codes(_model(method, k, budget), data, data) for k in own]


def _model(method: str, seed: int, budget: str) -> Any:
    if ":" in method:
        return make_method(method, N, seed)
    if method == DEFAULT:
        return make({"method": method, "n": N}, seed, budget)
    if method == "SparseBasis":
        return SparseBasis(random_state=seed)
    classes: dict[str, Any] = {
        "Autoencoder": Autoencoder,
        "BetaVAE": BetaVAE,
        "PDGMM": PDGMM,
        "CGVAE": CGVAE,
        "IVAE": IVAE,
    }
    n_restarts = 1 if method in (*PLAIN, "IVAE") else FEW[budget]
    return classes[method](N, max_iter=PASSES[budget], n_restarts=n_restarts, random_state=seed)
