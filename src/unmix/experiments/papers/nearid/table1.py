"""Up to which map two trainings agree (the protocol of Table 1), for our own models.

Nelson et al. (2026), arXiv:2603.11970, Table 1 and Section 4.2. The paper's pairs are large pretrained
models; here each method is trained twice with different seeds on the same samples, so that there is nothing
to compare with. Errors are mean distances over the diameter of the second run; efficiency is the share of
the way from signed permutation to rotation that ICA covers. In the paper: Pythia .219, .150, .131, .202 and
25%; MAE .197, .109, .036, .145 and 59%; CheXpert .218, .104, .048, .175 and 38%; ResNet-18 .382, .206,
.175, .312 and 40%.
"""

from typing import Any

import numpy as np

from unmix.data import sparse_mixing
from unmix.estimators import Autoencoder, BetaVAE, DiverseDictionaryLearning, FastICA
from unmix.metrics import align

from ...engine import RAW, ROTATION, Cell, codes_of, make_method
from .._references import rotated

MAPS = ("permutation", "rigid", "linear", "ica")
METHODS = {
    "Autoencoder": Autoencoder,
    "BetaVAE": BetaVAE,
    "FastICA": FastICA,
    "DiverseDictionaryLearning": DiverseDictionaryLearning,
}
LATENTS = ("normal", "laplace")
SAMPLES = {"smoke": 400, "laptop": 5000, "full": 10_000}
PASSES = {"smoke": 3, "laptop": 100, "full": 200}
RESTARTS = {"smoke": 1, "laptop": 4, "full": 8}
N_LATENTS = 5


def _cells(row, method):
    return tuple(
        Cell(
            row,
            f"{latents} latents",
            value=value,
            better="higher" if value == "efficiency" else "lower",
            always=value != "efficiency",  # runs that agree up to order and sign leave nothing to cover
            settings={"method": method, "latents": latents},
        )
        for latents in LATENTS
        for value in (*MAPS, "efficiency")
    )


CELLS = tuple(cell for name in (*METHODS, RAW, ROTATION) for cell in _cells(name, name))


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return _cells(method.partition(":")[2], method)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Train twice, and see how far the two agree."""
    data = sparse_mixing(
        SAMPLES[budget], n_latents=N_LATENTS, latents=cell.settings["latents"], random_state=seed
    )
    found = align(*_pair(cell.settings["method"], data, seed, budget))
    return {name: getattr(found, name) for name in (*MAPS, "efficiency")}


def _pair(method, data, seed, budget):
    """Return the codes of two trainings; references are turned by a random rotation instead."""
    if method in (RAW, ROTATION):
        codes = data.x if method == RAW else data.z
        return codes, rotated(np.asarray(codes), seed)
    return [codes_of(_model(method, 2 * seed + k, budget), data.x) for k in (0, 1)]


def _model(method, seed, budget):
    if ":" in method:
        return make_method(method, N_LATENTS, seed)
    model = METHODS[method](N_LATENTS, random_state=seed)
    sizes = {"max_iter": PASSES[budget], "n_restarts": RESTARTS[budget]}
    return model if method == "FastICA" else model.set_params(**sizes)
