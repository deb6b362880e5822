"""The methods by name."""

from collections.abc import Callable

import numpy as np

from ._anchored import anchored
from ._combat import combat
from ._components import ica_dropped, ica_weighted
from ._field import (
    centred,
    centred_on_controls,
    robustly_standardised,
    sphered,
    standardised,
    tvn,
    unadjusted,
)
from ._rotations import pca_ica, pca_random, pca_white

Method = Callable[..., np.ndarray]

METHODS: dict[str, Method] = {
    "base": unadjusted,
    "pca": pca_white,
    "pca+ica": pca_ica,
    "pca+random": pca_random,
    "centre": centred,
    "centre-controls": centred_on_controls,
    "standardise": standardised,
    "robust": robustly_standardised,
    "sphere": sphered,
    "tvn": tvn,
    "combat": combat,
    "ica-dropped": ica_dropped,
    "ica-weighted": ica_weighted,
    "anchored": anchored,
}
DEFAULT = "anchored"
NAMED_AFTER_FEATURES = frozenset(METHODS) - {
    "pca",
    "pca+ica",
    "pca+random",
    "tvn",
    "ica-dropped",
    "ica-weighted",
}


def method_named(name: str) -> Method:
    """Return a method, or say which there are.

    >>> method_named("combat").__name__
    'combat'
    """
    if name not in METHODS:
        raise ValueError(f"`method` must be one of {', '.join(METHODS)}, got {name!r}. Choose one of these.")
    return METHODS[name]
