"""Fitted attributes of estimators without networks, as tensors and JSON."""

from typing import Any

import numpy as np
import torch
from torch import Tensor


def fitted_tensors(estimator: Any) -> dict[str, Tensor]:
    """Return the fitted arrays, by name."""
    return {
        name: torch.from_numpy(np.ascontiguousarray(value).copy())
        for name, value in _fitted(estimator).items()
        if isinstance(value, np.ndarray) and value.dtype != object
    }


def fitted_values(estimator: Any) -> dict[str, Any]:
    """Return the other fitted attributes, ready for JSON; floats as text, so that infinities pass."""
    others = {name: v for name, v in _fitted(estimator).items() if not isinstance(v, np.ndarray)}
    return {name: _packed(value) for name, value in others.items()} | _names(estimator)


def restore_fitted(estimator: Any, values: dict[str, Any], tensors: dict[str, Tensor]) -> Any:
    """Give an unfitted estimator the attributes that were stored."""
    for name, tensor in tensors.items():
        setattr(estimator, name, tensor.numpy())
    for name, packed in values.items():
        setattr(estimator, name, _unpacked(packed))
    return estimator


def _fitted(estimator: Any) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_") and not name.startswith("_")
    }


def _names(estimator: Any) -> dict[str, Any]:
    names = getattr(estimator, "feature_names_in_", None)
    return {} if names is None else {"feature_names_in_": {"objects": [str(name) for name in names]}}


def _packed(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return {"float": repr(float(value))}
    if isinstance(value, np.bool_ | np.integer):
        return value.item()
    if isinstance(value, tuple | list):
        return {"tuple": [_packed(item) for item in value]}
    return value


def _unpacked(packed: Any) -> Any:
    if not isinstance(packed, dict):
        return packed
    if "float" in packed:
        return float(packed["float"])
    if "objects" in packed:
        return np.array(packed["objects"], dtype=object)
    return tuple(_unpacked(item) for item in packed["tuple"])
