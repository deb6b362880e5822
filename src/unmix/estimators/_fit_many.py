"""Several sparse autoencoders over the same passes of the same data."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from unmix._group import current, together
from unmix._threads import threads
from unmix._waiting import waiting
from unmix.training import History, play

from . import _dictionary
from ._sae_arrays import check_sparse_settings, seed_of
from ._sae_training import Source, place_of, player_of, run_of, source_of
from ._settings import seed_of_run


@together()
@threads(1)
def fit_many(models: Sequence[Any], X: Any) -> list[Any]:
    """Fit several sparse autoencoders, of any sizes and seeds, over the same passes of the same data.

    Every batch is read once and seen by all; the order of rows is that of the first model's seed.

    Parameters
    ----------
    models : sequence of SparseAutoencoder
        With the same `max_iter`, `batch_size` and `device`.
    X : array-like of shape (n_samples, n_features), path, Rows or ActivationStore

    Returns
    -------
    list
        The models, fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from unmix import SparseAutoencoder
    >>> X = np.random.default_rng(0).laplace(size=(200, 5))
    >>> sizes = [SparseAutoencoder(m, k=2, max_iter=2, batch_size=50, random_state=0) for m in (8, 16)]
    >>> [model.dictionary_.shape for model in fit_many(sizes, X)]
    [(8, 5), (16, 5)]
    """
    models = [models] if hasattr(models, "get_params") else list(models)
    _check_together(models)
    lead = models[0]
    opened = [_dictionary.opened(model, X, reset=True) for model in models]
    rows = opened[0]
    _dictionary.check_enough(rows)
    source, size = source_of(rows), min(lead.batch_size, rows.n_rows)
    n_steps = lead.max_iter * -(-rows.n_rows // size)
    folder = None if lead.checkpoint is None else Path(lead.checkpoint)
    seeds = [seed_of_run(folder, model, seed_of(model)) for model in models]
    objectives = [m._objective(source, n_steps, seed) for m, seed in zip(models, seeds, strict=True)]
    with waiting(
        bool(lead.verbose) and current().first,
        "fit",
        plan=f"{lead.max_iter} passes over {rows.n_rows:,} rows",
    ):
        histories = _trained(models, objectives, source, n_steps, seeds[0])
    for model, objective, history in zip(models, objectives, histories, strict=True):
        model._remember(objective, source, n_steps * size)
        model.history_, model.n_iter_ = history, lead.max_iter
        _dictionary.describe(model, rows)
    return models


def _trained(
    models: list[Any], objectives: list[Any], source: Source, n_steps: int, seed: int
) -> list[History]:
    """Let every model learn from the same batches, and return the course of each."""
    lead, place = models[0], place_of(models[0])
    names = [""] if len(models) == 1 else [str(number) for number in range(len(models))]
    players = [
        player_of(model, name, objective, n_steps, place)
        for model, name, objective in zip(models, names, objectives, strict=True)
    ]
    generator = torch.Generator().manual_seed((seed * 1009 + 1) % 2**63)
    batches = source.batches(min(lead.batch_size, source.rows.n_rows), generator, place)
    history = play(players, batches, run_of(lead, n_steps, lead.checkpoint))
    return [_own_history(history, name) for name in names]


def _own_history(history: History, name: str) -> History:
    prefix = f"{name}/" if name else ""
    terms = {term.removeprefix(prefix): v for term, v in history.terms.items() if term.startswith(prefix)}
    return replace(history, terms=terms)


def _check_together(models: list[Any]) -> None:
    if not models:
        raise ValueError("`models` must hold at least one estimator, got none.")
    for model in models:
        if type(model).__name__ != "SparseAutoencoder":
            raise TypeError(
                f"`models` must hold SparseAutoencoder only, got {type(model).__name__}. Fit others alone."
            )
        check_sparse_settings(model)
    for name in ("max_iter", "batch_size", "device"):
        values = {getattr(model, name) for model in models}
        if len(values) > 1:
            raise ValueError(f"`models` must have the same {name}, got {sorted(map(str, values))}. Set one.")
    if len(models) > 1 and any(model.checkpoint is not None for model in models):
        raise ValueError("`checkpoint` must be None where several models are fitted together. Fit one alone.")
