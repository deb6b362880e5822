"""What a generator returns, and what draws it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unmix._html import panel, words
from unmix.structure import Structure

Law = Callable[[tuple[int, int], np.random.Generator], np.ndarray]


@dataclass(frozen=True, eq=False)
class LatentDataset:
    """Observations together with the truth behind them.

    The fields are what any method or report may ask for. Truth that only some generators know lies where it
    belongs, so that a new generator needs no new field: what is true of each sample in `hidden`, what is true
    of all in `world`. What there often is can be read here too, None where there is none: `labels` and
    `unrotated` of the samples, `mixing`, `noise`, `latents` (their law), `masks`, `graph` and `partition` of
    the world.

    Attributes
    ----------
    x : array of shape (n_samples, n_observed)
        What a method may see.
    z : array of shape (n_samples, n_latents)
        The hidden variables.
    structure : Structure, optional
        Which latent moves which observed variable, where that is known.
    u : array, optional
        Auxiliary variable per sample (a domain, say), where there is one; a method may see it.
    description : str
        One sentence for a report.
    hidden : dict of arrays
        More of each sample: "labels", its component of a mixture; "unrotated", its latents before they were
        rotated out of their sparse basis.
    world : optional
        What drew the samples; `world.sample(n_samples, random_state)` draws fresh ones.

    Examples
    --------
    >>> data = LatentDataset(np.ones((5, 3)), np.ones((5, 2)), hidden={"labels": np.arange(5)})
    >>> data.labels, data.mixing
    (array([0, 1, 2, 3, 4]), None)
    """

    x: np.ndarray
    z: np.ndarray
    structure: Structure | None = None
    u: np.ndarray | None = None
    description: str = ""
    hidden: Mapping[str, np.ndarray] = field(default_factory=dict)
    world: Any = None

    def _repr_html_(self) -> str:
        more = ("structure", "u", "labels", "masks", "graph", "mixing")
        known = ["x", "z", *(name for name in more if getattr(self, name, None) is not None)]
        size = f"{len(self.x):,} samples of {np.shape(self.x)[1]:,} variables, {np.shape(self.z)[1]} latents"
        return panel(f"LatentDataset: {size}", words(self.description, f"Holds {', '.join(known)}."))

    mixing = property(lambda self: getattr(self.world, "mixing", None))
    noise = property(lambda self: getattr(self.world, "noise", None))
    latents = property(lambda self: getattr(self.world, "latents", None))
    masks = property(lambda self: getattr(self.world, "masks", None))
    graph = property(lambda self: getattr(self.world, "graph", None))
    partition = property(lambda self: getattr(self.mixing, "partition", None))
    labels = property(lambda self: self.hidden.get("labels"))
    unrotated = property(lambda self: self.hidden.get("unrotated"))

    def __post_init__(self) -> None:
        for array in (self.x, self.z, self.u, *self.hidden.values()):
            if array is not None:
                array.setflags(write=False)


@dataclass(frozen=True, eq=False)
class World:
    """What drew the samples of `sparse_mixing` and `slots`: the law of the latents, the mixing and the noise.

    Attributes
    ----------
    law : callable
        `law((n_samples, n_latents), rng)` draws latents.
    latents : str
        Name of the law.
    mixing : SparseMixing or SlotMixing
        The map from z to x without noise, with a `jacobian` method.
    noise : float
        Standard deviation of the added noise, in standard deviations of each observed variable.
    description : str

    Examples
    --------
    >>> from unmix.data import slots
    >>> slots(50, 2, 1, n_rows=4, random_state=0).world.sample(7, random_state=1).x.shape
    (7, 8)
    """

    law: Law
    latents: str
    mixing: Any
    noise: float
    description: str

    def sample(self, n_samples: int, random_state: int | np.random.Generator | None = None) -> LatentDataset:
        """Draw fresh samples."""
        rng = np.random.default_rng(random_state)
        return self.observed(self.law((n_samples, self.mixing.structure.n_latents), rng), rng)

    def observed(self, z: np.ndarray, rng: np.random.Generator) -> LatentDataset:
        """Return the data set of given latents."""
        x = noisy(self.mixing(z), self.noise, rng)
        return LatentDataset(x, z, self.mixing.structure, description=self.description, world=self)


def noisy(clean: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Add Gaussian noise, in standard deviations of each observed variable."""
    return clean + noise * clean.std(0) * rng.normal(size=clean.shape)
