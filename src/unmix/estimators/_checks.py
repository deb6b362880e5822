"""What an estimator asks of its settings, before any work is done."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from ._number import is_auto


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
