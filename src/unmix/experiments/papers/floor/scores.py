"""Every score beside its floor and its null: the truth, raw x, a rotation of the truth, and shuffled samples.

A rotation of the truth knows everything and identifies nothing; shuffled samples know nothing. A score that
does not tell the three apart is no evidence of identification. Codes of diverse dictionary learning, Zheng et
al. (2026), arXiv:2604.17568, stand beside them, on five latents in ten observed variables.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from unmix import metrics
from unmix.data import LatentDataset, sparse_mixing

from ...engine import RAW, ROTATION, Cell, codes_of, make_method
from .._references import rotated
from ..ddl._common import DEFAULT, make

TRUTH, NULL = "true latents", "shuffled truth"
LAWS = ("normal", "uniform", "dependent")
N_LATENTS, N_ROTATIONS = 5, 3
FITTED = {"smoke": 300, "laptop": 5000, "full": 10_000}
SCORED = {"smoke": 200, "laptop": 1000, "full": 1000}
SCORES: dict[str, Callable[..., Any]] = {
    "mcc": metrics.mcc,
    "MCC, Spearman": partial(metrics.mcc, method="spearman"),
    "MCC, broken line": partial(metrics.mcc, method="nonlinear"),
    "r2": metrics.r2,
    "R², kernel": partial(metrics.r2, probe="kernel"),
    "MIG": metrics.mig,
    "SAP": metrics.sap,
    "IRS": metrics.irs,
    "FactorVAE": partial(metrics.factor_vae_score, n_train=1000, n_eval=1000),
    "BetaVAE": partial(metrics.beta_vae_score, n_train=1000, n_eval=1000),
    "SIS": metrics.slot_identifiability,
}
# several numbers each; forests, since they need no more than scikit-learn
MANY: dict[str, Callable[..., Any]] = {
    "DCI": partial(metrics.dci, probe="forest"),
    "InfoMEC": metrics.infomec,
}
PARTS = {
    "DCI": ("disentanglement", "completeness", "informativeness"),
    "InfoMEC": ("modularity", "explicitness", "compactness"),
}
VALUES = (*SCORES, *(f"{name} {part}" for name, parts in PARTS.items() for part in parts))


def _cells(row: str, method: str) -> tuple[Cell, ...]:
    return tuple(
        Cell(row, f"{law} latents", value=value, settings={"method": method, "latents": law})
        for law in LAWS
        for value in VALUES
    )


CELLS = tuple(cell for row in (TRUTH, DEFAULT, RAW, ROTATION, NULL) for cell in _cells(row, row))


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return _cells(method.partition(":")[2], method)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Take every score of one kind of code; that of rotations is a mean."""
    n_fit, n = FITTED[budget], SCORED[budget]
    law = cell.settings["latents"]
    data = sparse_mixing(n_fit + n, n_latents=N_LATENTS, latents=law, random_state=seed)
    truth = data.z[:n]
    found = [scores(truth, code) for code in _codes(cell.settings["method"], data, n, seed, budget)]
    return {name: float(np.mean([one[name] for one in found])) for name in VALUES}


def scores(z: np.ndarray, code: np.ndarray) -> dict[str, float]:
    """Take every score."""
    found = {name: float(score(z, code)) for name, score in SCORES.items()}
    for name, score in MANY.items():
        several = score(z, code)
        found |= {f"{name} {part}": getattr(several, part) for part in PARTS[name]}
    return found


def _codes(method: str, data: LatentDataset, n: int, seed: int, budget: str) -> list[np.ndarray]:
    z, x = data.z[:n], data.x[:n]
    if method == ROTATION:
        white = (z - z.mean(0)) / z.std(0)
        return [rotated(white, seed * N_ROTATIONS + k) for k in range(N_ROTATIONS)]
    if method == NULL:
        return [np.random.default_rng(seed).permutation(z)]
    if method in (TRUTH, RAW):
        return [z if method == TRUTH else x]
    if ":" in method:
        return [codes_of(make_method(method, N_LATENTS, seed), data.x[n:], x)]
    return [codes_of(make({"method": method, "n": N_LATENTS}, seed, budget), data.x[n:], x)]
