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
    labels : array of shape (n_samples,), optional
        Mixture component of each sample, where the latents are a mixture.
    masks : bool array of shape (n_mixture_components, n_latents), optional
        Which latents vary within each component of the mixture.
    unrotated : array of shape (n_samples, n_latents), optional
        The latents before they were rotated out of their sparse basis.
    graph : bool array of shape (n_latents, n_latents), optional
        The causal graph of the latents; entry (j, i) is True where z_j causes z_i.
    partition : tuple of tuples of int, optional
        The latents of each slot, where latents come in slots.
    world : optional
        What drew the samples; `world.sample(n_samples, random_state)` draws fresh ones.
    """

    x: np.ndarray
    z: np.ndarray
    structure: Structure
    u: np.ndarray | None = None
    mixing: Any = None
    noise: float = 0.0
    latents: str = "normal"
    description: str = ""
    labels: np.ndarray | None = None
    masks: np.ndarray | None = None
    unrotated: np.ndarray | None = None
    graph: np.ndarray | None = None
    world: Any = None
    partition: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self) -> None:
        for array in (self.x, self.z, self.u, self.labels, self.masks, self.unrotated, self.graph):
            if array is not None:
                array.setflags(write=False)
