"""Sources whose law changes with the domain, and the graphs along which they are mixed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unmix.structure import Structure

CHANGES = ("both", "means", "variances")
GRAPHS = ("A", "B", "C", "D")
_DRAWS = 64  # of the changes, to keep the best separated
LAWS: dict[str, Callable[..., np.ndarray]] = {
    "normal": lambda shape, rng: rng.normal(size=shape),
    "laplace": lambda shape, rng: rng.laplace(scale=np.sqrt(0.5), size=shape),
    "logistic": lambda shape, rng: rng.logistic(scale=np.sqrt(3) / np.pi, size=shape),
}


@dataclass(frozen=True, eq=False)
class DomainSources:
    """Independent sources z_i = m_i(u) + s_i(u) e_i in each domain u, with e_i of mean 0 and variance 1.

    Over domains of equal size every source has mean 0 and variance 1.

    Parameters
    ----------
    means, scales : arrays of shape (n_domains, n_latents)
    law : {"normal", "laplace", "logistic"}
        Of the e_i.

    Examples
    --------
    >>> sources = DomainSources.draw(2, 3, changes="both", law="normal", rng=np.random.default_rng(0))
    >>> z = sources(6, np.random.default_rng(1))
    >>> z.shape, sources.domains(6)
    ((6, 3), array([0, 1, 0, 1, 0, 1]))
    >>> np.allclose((sources.means**2 + sources.scales**2).mean(0), 1)
    True

    References
    ----------
    Li et al. (2025), Synergy Between Sufficient Changes and Sparse Mixing Procedure, arXiv:2503.00639; Kong
    et al. (2022), Partial disentanglement for domain adaptation (ranges of means and scales).
    """

    means: np.ndarray
    scales: np.ndarray
    law: str

    @classmethod
    def draw(
        cls,
        n_domains: int,
        n_latents: int,
        *,
        changes: str,
        law: str,
        rng: np.random.Generator,
        largest_mean: float = 2.0,
        scales: tuple[float, float] = (0.3, 1.5),
        separated: bool = True,
    ) -> "DomainSources":
        """Draw means and scales uniformly; those that `changes` leaves out are the same everywhere.

        If `separated`, of many draws the one is kept whose sources change most differently, see `separation`:
        changes are sufficient with a margin, as far as they are at all.
        """

        def drawn() -> "DomainSources":
            shape = (n_domains, n_latents)
            m, s = rng.uniform(-largest_mean, largest_mean, shape), rng.uniform(*scales, shape)
            if changes == "variances":
                m = np.zeros(shape)
            if changes == "means":
                s = np.broadcast_to(s[0], shape)
            centred = m - m.mean(0)
            size = np.sqrt((centred**2 + s**2).mean(0))
            return cls(centred / size, s / size, law)

        return max(
            (drawn() for _ in range(_DRAWS if separated else 1)), key=lambda sources: sources.separation()
        )

    def separation(self) -> float:
        """Return how differently the two most similar sources change, 0 where variances do not.

        The least standard deviation over domains of log s_i(u) - log s_j(u): where it is 0, sources i and j
        may be rotated into each other, and are independent in every domain all the same.
        """
        differences = np.log(self.scales[:, :, None] / self.scales[:, None, :]).std(0)
        return float(np.min(differences, where=~np.eye(len(differences), dtype=bool), initial=np.inf))

    def domains(self, n_samples: int) -> np.ndarray:
        """Return the domain of each sample: one after the other, so that any stretch has them all."""
        return np.arange(n_samples) % len(self.means)

    def __call__(self, n_samples: int, rng: np.random.Generator) -> np.ndarray:
        """Draw sources of shape (n_samples, n_latents), in the order of `domains`."""
        u = self.domains(n_samples)
        return self.means[u] + self.scales[u] * LAWS[self.law]((n_samples, self.means.shape[1]), rng)

    def within(self, z: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return e = (z - m(u)) / s(u): what is left of the sources once the domain is known."""
        return (z - self.means[u]) / self.scales[u]


def domain_graph(name: str, n_observed: int, n_latents: int) -> Structure:
    """Return a graph by its name in `multi_domain`; rows beyond n_latents repeat the first ones.

    Examples
    --------
    >>> domain_graph("B", 4, 4)
    Structure(4 observed x 4 latents, 8 edges)
    ##..
    .##.
    ..##
    ..##
    """
    if name == "A" and n_latents < 3:
        raise ValueError(f"`n_latents` must be at least 3 for graph A, got {n_latents}: columns were equal.")
    if name == "B" and n_latents != 4:
        raise ValueError(f"`n_latents` must be 4 for graph B, got {n_latents}. Give a `structure` instead.")
    eye = np.eye(n_latents, dtype=bool)
    once: dict[str, Any] = {
        "A": eye | np.roll(eye, 1, axis=0),
        "B": np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 1, 1]], dtype=bool),
        "C": np.tri(n_latents, dtype=bool).T,
        "D": np.ones((n_latents, n_latents), dtype=bool),
    }
    return Structure(once[name][np.arange(n_observed) % n_latents])
