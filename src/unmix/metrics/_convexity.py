"""Is the cloud of codes convex? Two proxies, since no finite sample can tell."""

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import shortest_path
from sklearn.neighbors import NearestNeighbors

from ._checks import table


@dataclass(frozen=True)
class Convexity:
    """Signs that a sample fills a convex set; see `convexity`.

    Attributes
    ----------
    inside : float
        Share of points on segments between samples that lie as close to samples as samples do: near 1 for
        a convex support, low for one with holes or bends.
    detour : float
        Median ratio of the shortest way along neighbours to the straight distance, at least 1. Some detour
        is the graph's own: compare with a cloud known to be convex.
    apart : float
        Share of pairs that neighbours do not connect at all.
    """

    inside: float
    detour: float
    apart: float

    def to_dict(self) -> dict[str, float]:
        """Return plain numbers, ready for JSON."""
        return asdict(self)


def convexity(
    z: ArrayLike,
    *,
    n_neighbours: int = 5,
    n_pairs: int = 500,
    max_rows: int = 2000,
    random_state: int = 0,
) -> Convexity:
    """Look for holes and bends in a cloud: whether segments stay inside, and ways along it are straight.

    Near-identifiability up to a rotation needs a convex latent support. `inside` compares the distance of
    points on segments to their k-th nearest sample with the 95% quantile of that distance among samples.
    `detour` compares ways through the graph of nearest neighbours with straight distances.

    Parameters
    ----------
    z : array-like of shape (n_samples, n_codes)
    n_neighbours : int
        Neighbours that count as near.
    n_pairs : int
        Random segments, each looked at in one random point; as many pairs for the detour.
    max_rows : int
        More rows than this are sampled down: the graph is quadratic in them.
    random_state : int

    Returns
    -------
    Convexity

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> disc = rng.normal(size=(1000, 2))
    >>> ring = disc / np.linalg.norm(disc, axis=1, keepdims=True)
    >>> convexity(disc).inside > 0.9 > 0.5 > convexity(ring).inside
    True

    References
    ----------
    Nelson et al. (2026), Statistical and structural identifiability in representation learning, Theorem 1
    (convexity of the support), arXiv:2603.11970. Tenenbaum et al. (2000) for ways along neighbours.
    """
    codes = table(z, "z")
    if not 1 <= n_neighbours < len(codes):
        raise ValueError(
            f"`n_neighbours` must be at least 1 and below the {len(codes)} rows, got {n_neighbours}."
        )
    if n_pairs < 1:
        raise ValueError(f"`n_pairs` must be at least 1, got {n_pairs}. Hundreds are usual.")
    rng = np.random.default_rng(random_state)
    few = codes[np.sort(rng.permutation(len(codes))[: max(max_rows, n_neighbours + 1)])]
    near = NearestNeighbors(n_neighbors=n_neighbours).fit(few)
    i = rng.integers(len(few), size=n_pairs)
    j = (i + rng.integers(1, len(few), size=n_pairs)) % len(few)
    return Convexity(_inside(few, near, i, j, rng), *_detour(few, near, i, j))


def _inside(
    z: np.ndarray, near: NearestNeighbors, i: np.ndarray, j: np.ndarray, rng: np.random.Generator
) -> float:
    own = near.kneighbors()[0][:, -1]  # without the point itself
    share = rng.random((len(i), 1))
    reach = near.kneighbors(share * z[i] + (1 - share) * z[j])[0][:, -1]
    return float((reach <= np.quantile(own, 0.95)).mean())


def _detour(z: np.ndarray, near: NearestNeighbors, i: np.ndarray, j: np.ndarray) -> tuple[float, float]:
    starts, where = np.unique(i, return_inverse=True)
    ways = shortest_path(near.kneighbors_graph(mode="distance"), directed=False, indices=starts)[where, j]
    straight = np.linalg.norm(z[i] - z[j], axis=1)
    known = np.isfinite(ways) & (straight > 0)
    detour = float(np.median(ways[known] / straight[known])) if known.any() else 1.0
    return detour, float(np.isinf(ways).mean())
