"""What the tables share: data, methods by name, and the mean correlation of their codes.

The paper observes as many variables as there are latents, and does not say which structures it draws, which
noise it adds or how its networks look. Here structures are random diverse ones with two parents for each
observed variable; the generator admits no dominant matching of observed variables to latents, which would
let raw x score as well as any method.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from unmix.data import LatentDataset, sparse_mixing
from unmix.estimators import DiverseDictionaryLearning
from unmix.metrics import mcc, rotation_floor
from unmix.nn import mlp
from unmix.penalties import dependency_sparsity, hessian_penalty, orojar

from ...engine import RAW, ROTATION, Cell, codes_of, make_method
from .._references import is_reference, reference_codes

PUBLISHED, DEFAULT = "L1, as published", "unmix default"
FREE = "L1, codes may correlate"  # as published, and without the term of correlations that is ours
BEGUN = "L1, codes begin at x"  # the same, from networks that copy
SAMPLES = {"smoke": 300, "laptop": 10_000, "full": 10_000}
PASSES = {"smoke": 3, "laptop": 100, "full": 200}
RESTARTS = {"smoke": 1, "laptop": 4, "full": 8}
# at the smallest budget networks without a linear part, for which no informed starts are searched
NETWORKS: dict[str, dict[str, Any]] = {"smoke": {"encoder": mlp, "decoder": mlp}, "laptop": {}, "full": {}}
TAUGHT = {"smoke": 20, "laptop": 1500, "full": 1500}
NOISE = 0.1
# the paper gives no weights for the other two; these are in the middle of the ranges of their own papers
PENALTIES: dict[str, tuple[Any, float]] = {
    PUBLISHED: (dependency_sparsity, 0.05),
    FREE: (dependency_sparsity, 0.05),
    BEGUN: (dependency_sparsity, 0.05),
    "OroJAR": (orojar, 1e-4),
    "Hessian penalty": (partial(hessian_penalty, step=0.1), 1e-2),
}


def cells(
    method: str, papers: Iterable[tuple[int, Any, Any]], *, row: str = "", source: str = "", **settings
):
    """Return the cells of a row: (n, paper's mean, paper's spread) for each number of latents."""
    return tuple(
        Cell(
            row or method,
            f"n = {n}",
            paper=paper,
            spread=spread,
            source=source,
            settings={"method": method, "n": n, **settings},
        )
        for n, paper, spread in papers
    )


def references(sizes: Iterable[int], **settings: Any) -> tuple[Cell, ...]:
    """Return the cells of the rows that learned nothing."""
    unknown = [(n, None, None) for n in sizes]
    return (*cells(RAW, unknown, **settings), *cells(ROTATION, unknown, **settings))


def named(data: str, made: Iterable[Cell]) -> tuple[Cell, ...]:
    """Say in the column which data a cell is about, so that each score stands beside its references."""
    return tuple(replace(cell, column=cell.column + data) for cell in made)


def own(method: str, sizes: Iterable[int], **settings: Any) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return cells(method, [(n, None, None) for n in sizes], row=method.partition(":")[2], **settings)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw data, fit, and match codes to latents; a floor is the mean over many rotations."""
    data = draw(cell.settings, seed, budget)
    if cell.settings["method"] == ROTATION:
        return {"mcc": rotation_floor(data.z, random_state=seed)}
    return {"mcc": mcc(data.z, codes(cell.settings, data, seed, budget))}


def draw(settings: Any, seed: int, budget: str) -> LatentDataset:
    """Draw the data of a cell; `structure` is "diverse" or, for the paper's Base, "dense"."""
    n, dense = settings["n"], settings.get("structure") == "dense"
    return sparse_mixing(
        SAMPLES[budget],
        n_latents=n,
        n_observed=n,
        profile="dense" if dense else "square",
        noise=settings.get("noise", 0.0),
        random_state=seed,
    )


def codes(settings: Any, data: LatentDataset, seed: int, budget: str) -> np.ndarray:
    """Return the codes of the method that a cell names."""
    if is_reference(settings):
        return reference_codes(settings["method"], data.z, data.x, seed)
    return codes_of(make(settings, seed, budget), data.x)


def make(settings: Any, seed: int, budget: str) -> Any:
    """Make the estimator that a cell names."""
    method, n = settings["method"], settings["n"]
    if ":" in method:
        return make_method(method, n, seed)
    common: dict[str, Any] = {"max_iter": PASSES[budget], "random_state": seed}
    if method == DEFAULT:
        return DiverseDictionaryLearning(n, n_restarts=RESTARTS[budget], **common | NETWORKS[budget])
    penalty, weight = PENALTIES[method]
    network = partial(copying, n_steps=TAUGHT[budget]) if method == BEGUN else mlp
    return DiverseDictionaryLearning(
        n,
        penalty=penalty,
        weight=settings.get("weight", weight),
        beta=0.05,
        decorrelation=0.0 if method in (FREE, BEGUN) else None,
        encoder=network,
        decoder=network,
        n_restarts=1,
        lr=4e-3,
        **common,
    )


def copying(n_in: int, n_out: int, *, n_steps: int) -> nn.Module:
    """Return a perceptron that was taught to copy; further outputs are logarithms of small variances."""
    network, small = mlp(n_in, n_out), torch.full((500, n_out - n_in), -4.0)
    optimiser = torch.optim.Adam(network.parameters(), 4e-3)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, n_steps)
    for _ in range(n_steps):
        x = torch.randn(500, n_in)
        error = (network(x) - torch.cat([x, small], 1)).square().mean()
        optimiser.zero_grad()
        error.backward()
        optimiser.step()
        rate.step()
    return network
