"""A model that comes from a file is tried before it is believed: a few rows must come out as latents."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from unmix._fitted import without_names
from unmix.structure import Structure
from unmix.tables import Recipe
from unmix.training import History

from ._checks import check_settings

_PIXELS = 1 << 24  # of an image, at most
_PARTS, _BESIDE = 1000, 1 << 24  # parameters that only training needs: those of a critic, say
_KINDS: dict[str, Any] = {
    "structure_": Structure,
    "history_": History,
    "recipe_": Recipe,
    "n_features_in_": int,
    "n_iter_": int,
    "feature_names_in_": np.ndarray,
    "image_shape_": np.ndarray,
}
_AXES = {  # of what is known of columns (x) and latents (z)
    "structure_": "xz",
    "loadings_": "xz",
    "mixing_": "xz",
    "components_": "zx",
    "whitening_": "zx",
    "feature_names_in_": "x",
    "gaussian_": "z",
    "nongaussianity_": "z",
    "reliability_": "z",
    "firing_": "z",
    "max_activation_": "z",
}


def tried(model: Any, n_stored: int) -> Any:
    """Return a model that works, and raise whatever shows that it does not.

    Parameters
    ----------
    model : fitted estimator
        As it was read.
    n_stored : int
        How many numbers its file holds: a model of more columns than that is none.

    Returns
    -------
    fitted estimator
    """
    for name, kind in _KINDS.items():
        if not isinstance(vars(model).get(name), kind | None):
            raise TypeError(f"{name} must be {kind.__name__}, it is {type(vars(model)[name]).__name__}")
    _check_settings(model)
    rows = np.zeros(_shape(model, n_stored), dtype=np.float32)
    with np.errstate(all="ignore"), without_names():
        codes = model.transform(rows)
        if codes.shape[0] != len(rows) or not np.isfinite(codes.sum()):
            raise ValueError("its latents are no numbers")
        if hasattr(model, "inverse_transform") and model.inverse_transform(codes).shape != rows.shape:
            raise ValueError("its latents do not give back samples")
        _check_number(model, max(codes.shape[1], n_stored))
        found = model.findings()
        _agree(model, found, codes.shape[1])
    return model


def _shape(model: Any, n_stored: int) -> tuple[int, ...]:
    """Return the shape of two rows or images, once it is seen that they are small enough to be made."""
    image = getattr(model, "image_shape_", None)
    shape = (model.n_features_in_,) if image is None else tuple(map(int, image))
    if min(shape) < 1 or math.prod(shape) > (n_stored if image is None else _PIXELS):
        raise ValueError(f"its file is too small for samples of shape {shape}")
    return (2, *shape)


def _check_settings(model: Any) -> None:
    """Refuse settings that a fit would refuse: certificates and refits ask for them."""
    if hasattr(model, "_check_settings"):
        model._check_settings()
    elif hasattr(model, "_networks"):
        check_settings(model)


def _check_number(model: Any, most: int) -> None:
    """Refuse a setting that asks a refit for more latents than the file has room for."""
    asked = getattr(model, "n_components", None)
    if isinstance(asked, int) and asked > most:
        raise ValueError(f"its settings ask for {asked:,} latents, which it has not")


def _agree(model: Any, found: Any, n_latents: int) -> None:
    """Compare what is said of columns and latents with how many of them there are."""
    sizes = {"x": model.n_features_in_, "z": n_latents}
    known = {name: vars(model).get(name) for name in _AXES}
    known["structure_"] = None if found.structure is None else found.structure.support
    for name, value in known.items():
        wanted = tuple(sizes[axis] for axis in _AXES[name])
        if value is not None and np.shape(value) != wanted:
            raise ValueError(f"{name} is of shape {np.shape(value)}, not {wanted}")
    _ = found.to_dict(), found.story, None if found.recipe is None else found.recipe.story


@contextmanager
def as_large_as(tensors: dict[str, Tensor]) -> Iterator[None]:
    """Let networks be built about as large as the weights of a file: settings may ask for any size."""
    left = [_PARTS + 4 * len(tensors), _BESIDE + 4 * sum(tensor.numel() for tensor in tensors.values())]

    def count(module: nn.Module, name: str, parameter: Any) -> None:
        left[0] -= 1
        left[1] -= 0 if parameter is None else parameter.numel()
        if min(left) < 0:
            raise ValueError("its settings ask for larger networks than it has weights for")

    hook = register_module_parameter_registration_hook(count)
    try:
        with torch.device("meta"):
            yield
    finally:
        hook.remove()
