"""Latents that change between domains, mixed along a sparse graph."""

from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import numpy as np

from unmix.structure import Structure

from ._checks import at_least, filled, one_of
from ._dataset import LatentDataset, noisy
from ._domain_sources import CHANGES, GRAPHS, LAWS, DomainSources, domain_graph
from ._dominant_mixing import DominantMixing
from ._sparse_mixing import MIXINGS, check_sizes, latents_and_mixing

PROFILES = ("tall", "square", "dominant")
_RANGES: dict[str, Any] = {"dominant": {"largest_mean": 4.0, "scales": (0.01, 1.0)}}  # of Kong et al. (2022)


class DomainMixing(TypedDict, total=False):
    """How latents become observations, as for `sparse_mixing`."""

    mixing: str
    nonlinearity: float
    noise: float


_MIXING: DomainMixing = {"mixing": "leaky", "nonlinearity": 0.5, "noise": 0.0}


@dataclass(frozen=True, eq=False)
class DomainWorld:
    """What drew the samples of `multi_domain`: the sources of each domain, the mixing and the noise.

    Attributes
    ----------
    sources : DomainSources
        `sources.within(z, u)` is the truth inside domains.
    mixing : SparseMixing or DominantMixing
    noise : float
    description : str
    """

    sources: DomainSources
    mixing: Any
    noise: float
    description: str

    @property
    def latents(self) -> str:
        """The law of the latents within a domain."""
        return self.sources.law

    def sample(self, n_samples: int, random_state: int | np.random.Generator | None = None) -> LatentDataset:
        """Draw fresh samples from the same domains."""
        rng = np.random.default_rng(random_state)
        return self.observed(self.sources(n_samples, rng), rng)

    def observed(self, z: np.ndarray, rng: np.random.Generator) -> LatentDataset:
        """Return the data set of given sources, in the order of `sources.domains`."""
        x, u = noisy(self.mixing(z), self.noise, rng), self.sources.domains(len(z))
        return LatentDataset(x, z, self.mixing.structure, u, self.description, world=self)


def multi_domain(
    n_samples: int = 20_000,
    n_latents: int = 4,
    n_observed: int | None = None,
    structure: Structure | None = None,
    *,
    n_domains: int = 2,
    graph: str = "A",
    profile: str = "tall",
    changes: str = "both",
    latents: str = "normal",
    separated: bool | None = None,
    random_state: int | np.random.Generator | None = None,
    **mixed: Unpack[DomainMixing],
) -> LatentDataset:
    """Mix latents whose means and variances change with the domain, along an exact graph.

    Latents are independent in each domain. `u` holds the domain of each sample, `z` the latents over all
    domains (mean 0, variance 1), and `world.sources.within(z, u)` what is left of them inside domains. Scores
    over all domains are inflated by means that differ: give metrics `within=u` as well.

    Two latents whose variances change in the same proportion everywhere can't be told apart by changes: see
    `separated`, and `world.sources.separation()`.

    Parameters
    ----------
    n_samples, n_latents : int
        Samples over all domains, of equal sizes; latents.
    n_observed : int, optional
        By default twice `n_latents` for the tall profile, else `n_latents`.
    structure : Structure, optional
        Which latent moves which observed variable; it overrides the sizes and the graph.
    n_domains : int
    graph : {"A", "B", "C", "D"}
        A: circulant, z_i moves x_i and x_{i+1}; no children inside others. B (4 latents): children {0},
        {0, 1}, {1, 2, 3}, {2, 3}. C: nested, z_i moves x_0 to x_i. D: dense. Rows beyond `n_latents` repeat.
    profile : {"tall", "square", "dominant"}
        "tall" and "square": the mixing of `sparse_mixing`, in which no observed variable is made to look like
        a latent. "dominant": diagonally dominant, so that raw x already looks like z; means up to 4 and
        scales from 0.01 to 1 before standardisation, else up to 2 and from 0.3 to 1.5.
    changes : {"both", "means", "variances"}
        What differs between domains.
    latents : {"normal", "laplace", "logistic"}
        Law within a domain.
    separated : bool, optional
        Whether to keep, of many draws of the sources, the one in which the two that change most alike differ
        most; otherwise the first draw is taken. By default yes, but for the dominant profile, which is drawn
        as published.
    random_state : int, Generator or None
    mixing, nonlinearity, noise
        As for `sparse_mixing`, with its defaults; the dominant profile bends by tanh unless `mixing` is
        "linear".

    Returns
    -------
    LatentDataset

    Examples
    --------
    >>> data = multi_domain(100, n_domains=5, graph="B", random_state=0)
    >>> data.x.shape, data.structure.n_edges, np.bincount(data.u)
    ((100, 8), 16, array([20, 20, 20, 20, 20]))
    >>> data.world.sample(10, random_state=1).z.shape
    (10, 4)

    References
    ----------
    Li et al. (2025), Synergy Between Sufficient Changes and Sparse Mixing Procedure, Section 2,
    arXiv:2503.00639. The names of the graphs and the families are ours; the paper's data are not public.
    """
    how = filled(multi_domain, _MIXING, mixed)
    mixing, nonlinearity, noise = how["mixing"], how["nonlinearity"], how["noise"]
    at_least(n_domains=(n_domains, 1))
    one_of(graph=(graph, GRAPHS), profile=(profile, PROFILES), changes=(changes, CHANGES))
    one_of(latents=(latents, LAWS), mixing=(mixing, MIXINGS))
    check_sizes(n_samples, n_latents, n_observed, structure, noise, nonlinearity)
    rng = np.random.default_rng(random_state)
    x = n_observed or (2 * n_latents if profile == "tall" else n_latents)
    along = structure or domain_graph(graph, x, n_latents)
    sources = DomainSources.draw(
        n_domains,
        along.n_latents,
        changes=changes,
        law=latents,
        rng=rng,
        separated=profile != "dominant" if separated is None else separated,
        **_RANGES.get(profile, {}),
    )
    if profile == "dominant":
        g: Any = DominantMixing.draw(along, bent=mixing != "linear", rng=rng)
        z = sources(n_samples, rng)
    else:
        z, g = latents_and_mixing(
            rng, n_samples, lambda rng: along, lambda shape, rng: sources(shape[0], rng), mixing, nonlinearity
        )
    described = _describe(along, n_domains, changes, latents)
    return DomainWorld(sources, g, noise, described).observed(z, rng)


def _describe(along: Structure, n_domains: int, changes: str, latents: str) -> str:
    x, z = along.shape
    what = "means and variances" if changes == "both" else changes
    return (
        f"{z} {latents} latents whose {what} change over {n_domains} domains, mixed into {x} observed "
        f"variables along {along.n_edges} edges."
    )
