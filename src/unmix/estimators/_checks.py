"""What an estimator asks of its settings, before any work is done."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from ._number import is_auto

_WEIGHTS = ("weight_decay", "kl_weight", "gamma", "negativity", "activity", "quantisation", "commitment")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))


def check_settings(estimator: Any) -> None:
    """Check the settings that every estimator has, and those that some have."""
    settings = estimator.get_params(deep=False)
    for name in ("n_components", "max_iter", "batch_size", "n_restarts"):
        value = settings.get(name, 1)
        if name == "n_components" and is_auto(value):
            continue
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(f"`{name}` must be an integer of at least 1, got {value!r}.")
    for name in ("lr", "beta"):
        value = settings.get(name, 1.0)
        if not _is_number(value) or not value > 0:
            raise ValueError(f"`{name}` must be a finite number above 0, got {value!r}.")
    for name in ("encoder", "decoder", "penalty", "critic"):
        left_out = name == "penalty" and settings.get("penalty_weight") is not None and settings[name] is None
        if name in settings and not left_out and not callable(settings[name]):
            raise TypeError(f"`{name}` must be callable, got {settings[name]!r}. Pass a function.")
    weight = settings.get("weight", 0.0)
    if weight is not None and not callable(weight) and not (_is_number(weight) and weight >= 0):
        raise ValueError(f"`weight` must be a number of at least 0, or a schedule, got {weight!r}.")
    if "penalty_weight" in settings:
        _check_recipe(settings)


def _check_recipe(settings: dict[str, Any]) -> None:
    """Check the settings of estimators that follow a recipe for images."""
    weight = settings["penalty_weight"]
    if not callable(weight) and not (_is_number(weight) and weight >= 0):
        raise ValueError(f"`penalty_weight` must be a number of at least 0, or a schedule, got {weight!r}.")
    steps = settings["max_steps"]
    if steps is not None and (not isinstance(steps, Integral) or isinstance(steps, bool) or steps < 1):
        raise ValueError(f"`max_steps` must be None or an integer of at least 1, got {steps!r}.")
    for name in ("clip_value", "matrix_lr", "critic_lr"):
        value = settings.get(name)
        if value is not None and not (_is_number(value) and value > 0):
            raise ValueError(f"`{name}` must be a number above 0, got {value!r}.")
    for name in _WEIGHTS:
        value = settings.get(name)
        if value is not None and not (_is_number(value) and value >= 0):
            raise ValueError(f"`{name}` must be a number of at least 0, got {value!r}.")
