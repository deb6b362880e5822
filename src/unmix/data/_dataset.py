"""What a generator returns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unmix.structure import Structure


@dataclass(frozen=True, eq=False)
class LatentDataset:
    """Observations together with the truth behind them.

    Attributes
    ----------
    x : array of shape (n_samples, n_observed)
        What a method may see.
    z : array of shape (n_samples, n_latents)
        The hidden variables.
    structure : Structure
        Which latent moves which observed variable.
    u : array, optional
        Auxiliary variable per sample (a domain, say), where there is one.
    mixing : callable, optional
        The map from z to x without noise, with a `jacobian` method.
    noise : float
        Standard deviation of the added noise, in standard deviations of each observed variable.
    latents : str
        Law of the latents.
    description : str
        One sentence for a report.
    """

    x: np.ndarray
    z: np.ndarray
    structure: Structure
    u: np.ndarray | None = None
    mixing: Any = None
    noise: float = 0.0
    latents: str = "normal"
    description: str = ""

    def __post_init__(self) -> None:
        for array in (self.x, self.z, self.u):
            if array is not None:
                array.setflags(write=False)
