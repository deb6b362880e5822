"""The arrays and the settings of sparse autoencoders: in the units of the data, and checked."""

from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from sklearn.utils import check_random_state

from unmix.objectives import SPARSE_ACTIVATIONS, SparseCoder

from ._sae_training import Scale, place_of


def seed_of(model: Any) -> int:
    """Draw the seed of a fit."""
    return int(check_random_state(model.random_state).randint(2**31 - 1))


def arrays_of(coder: SparseCoder, scale: Scale) -> dict[str, Any]:
    """Return the arrays of a trained coder in the units of the data."""
    unit, found = (
        np.float32(scale.spread),
        {k: v.detach().float().cpu().numpy() for k, v in coder.named_parameters()},
    )
    kind = coder.recipe.activation
    threshold: Any = None
    if kind == "batch_topk":
        threshold = float(coder.threshold) * scale.spread
    if kind == "jumprelu":
        threshold = np.exp(found["log_threshold"]) * unit
    return {
        "dictionary_": found["decoder"],
        "encoder_weight_": found["encoder"],
        "encoder_bias_": found["encoder_bias"] * unit,
        "bias_": (found["bias"].astype(np.float64) * scale.spread + scale.mean).astype(np.float32),
        "threshold_": threshold,
        "mean_": scale.mean,
        "scale_": scale.spread,
    }


def remember(model: Any, arrays: dict[str, Any], n_seen: int) -> None:
    """Keep fitted arrays."""
    for name, value in arrays.items():
        setattr(model, name, value)
    model.n_tokens_seen_ = n_seen


@torch.no_grad()
def put_back(coder: SparseCoder, model: Any, scale: Scale) -> None:
    """Give a coder the arrays of a fitted model."""
    unit = scale.spread
    values = {
        "decoder": model.dictionary_,
        "encoder": model.encoder_weight_,
        "encoder_bias": model.encoder_bias_ / unit,
        "bias": (model.bias_ - scale.mean) / unit,
    }
    if coder.recipe.activation == "jumprelu":
        values["log_threshold"] = np.log(np.maximum(model.threshold_ / unit, 1e-6))
    for name, value in values.items():
        getattr(coder, name).copy_(torch.as_tensor(np.asarray(value)))
    if coder.recipe.activation == "batch_topk":
        coder.threshold.fill_(float(model.threshold_) / unit)


def check_sparse_settings(model: Any) -> None:
    """Check settings before any work is done."""
    for name in ("n_components", "k", "max_iter", "batch_size"):
        value = getattr(model, name)
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(f"`{name}` must be an integer of at least 1, got {value!r}.")
    if model.activation not in SPARSE_ACTIVATIONS:
        raise ValueError(f"`activation` must be one of {SPARSE_ACTIVATIONS}, got {model.activation!r}.")
    if model.activation != "relu" and model.k > model.n_components:
        raise ValueError(
            f"`k` must be at most n_components={model.n_components}, got {model.k}. Ask for fewer features."
        )
    if model.precision not in ("auto", "float32", "bf16"):
        raise ValueError(f"`precision` must be 'auto', 'float32' or 'bf16', got {model.precision!r}.")
    for name, least in (("auxiliary", 0), ("sparsity", 0), ("dead_after", 0), ("lr", None)):
        value = getattr(model, name)
        free = value is None and name in ("dead_after", "lr")
        if not free and not (_is_number(value) and (value > 0 if least is None else value >= least)):
            bound = "above 0" if least is None else "of at least 0"
            raise ValueError(f"`{name}` must be a finite number {bound}, got {value!r}.")
    ends = model.prefixes or ()
    if not all(isinstance(n, int | np.integer) and 0 < n <= model.n_components for n in ends):
        raise ValueError(
            f"`prefixes` must be integers from 1 to n_components={model.n_components}, got {ends!r}."
        )
    place_of(model)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))
