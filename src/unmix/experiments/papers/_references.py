"""Codes that learned nothing, to stand beside every method."""

from typing import Any

import numpy as np
from scipy.stats import ortho_group

from ..engine import RAW, ROTATION


def reference_codes(row: str, z: np.ndarray, x: np.ndarray, seed: int) -> np.ndarray:
    """Return the observed variables themselves, or a random rotation of the standardised truth.

    Parameters
    ----------
    row : {"raw x", "random rotation of the truth"}
    z, x : arrays of shape (n_samples, n_latents), (n_samples, n_observed)
    seed : int

    Returns
    -------
    array

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(500, 2))
    >>> turned = reference_codes(ROTATION, z, z, seed=0)
    >>> bool(np.allclose(np.linalg.norm(turned, axis=1), np.linalg.norm((z - z.mean(0)) / z.std(0), axis=1)))
    True
    """
    if row == RAW:
        return x
    return rotated((z - z.mean(0)) / z.std(0), seed)


def rotated(z: np.ndarray, seed: int) -> np.ndarray:
    """Turn samples by one random rotation."""
    n = z.shape[1]
    return z @ ortho_group.rvs(n, random_state=np.random.default_rng(seed)) if n > 1 else -z


def is_reference(settings: Any) -> bool:
    """Whether the settings of a cell ask for a reference instead of a method."""
    return settings["method"] in (RAW, ROTATION)
