"""The finest partition of latents into slots for which a type of mechanistic independence holds."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ._derivatives import Partition, higher, jacobian_samples, relative
from ._elementary import affordable, elementary
from ._factors import Samples, components, crossing, shared_strength, widest_paths
from ._interactions import interaction_strength
from ._sparsity_gap import bounded

Kind = Literal["D", "M", "S", "H2", "H3"]
_KINDS = ("D", "M", "S", "H2", "H3")


@dataclass(frozen=True)
class FinestPartition:
    """The finest partition for one type, in the coordinates given; see `finest_partition`.

    Attributes
    ----------
    partition : tuple of frozenset of int
    kind : str
    exact : bool
        True if no finer partition of these coordinates is of this type. False if it is of this type, and a
        finer one may be too.
    margin : float or None
        For D and H_n, decades by which the tolerance could move before the partition changes; None for M and
        S, which count rows.
    """

    partition: Partition
    kind: str
    exact: bool
    margin: float | None = None

    def __len__(self) -> int:
        return len(self.partition)


def finest_partition(
    jacobians: ArrayLike,
    kind: Kind = "D",
    *,
    hessians: ArrayLike | None = None,
    thirds: ArrayLike | None = None,
    tolerance: float = 1e-6,
    search: int = 20_000,
) -> FinestPartition:
    """Return the finest partition of latents into slots that is of a type at every sampled point.

    The connected components of a factor graph: latents that must share a slot are linked (D: they move a
    common observed variable; M: one moves all that the other moves; S: a sparsest basis has a direction with
    both; H_n: a derivative of order n has both).

    Parameters
    ----------
    jacobians : array-like of shape (n, n_observed, n_latents)
    kind : {"D", "M", "S", "H2", "H3"}
    hessians, thirds : array-likes, optional
        For "H2" and "H3", as in `certify_mechanisms`.
    tolerance : float
        As in `certify_mechanisms`.
    search : int
        For "S": how many row subsets the exact search may look at. Beyond it, parts of the partition for Type
        D stay whole unless bounds show that they fall into single latents.

    Returns
    -------
    FinestPartition

    Examples
    --------
    >>> chain = [[[1, 0, 0], [1, 2, 0], [0, 1, 0], [0, 0, 1]]]
    >>> [sorted(slot) for slot in finest_partition(chain, "D").partition]
    [[0, 1], [2]]
    >>> [sorted(slot) for slot in finest_partition(chain, "M").partition]
    [[0], [1], [2]]

    References
    ----------
    Matthes, Han and Shen (2026), Mechanistic independence (factor graphs; irreducible Type D factors are
    their connected components), arXiv:2509.22196.
    """
    samples = _samples(jacobians, kind, hessians, thirds, tolerance)
    if kind == "S":
        return _finest_sparse(samples, search)
    strength = _strength(samples, kind, hessians, thirds)
    partition = components(strength > samples.tolerance)
    margin = None if kind == "M" else _margin(strength, partition, samples.tolerance)
    return FinestPartition(partition, kind, True, margin)


def factor_graph(
    jacobians: ArrayLike,
    kind: Kind = "D",
    *,
    hessians: ArrayLike | None = None,
    thirds: ArrayLike | None = None,
    tolerance: float = 1e-6,
) -> np.ndarray:
    """Return how strongly a type links each pair of latents, over all sampled points.

    Parameters
    ----------
    jacobians, kind, hessians, thirds, tolerance
        As in `finest_partition`.

    Returns
    -------
    ndarray of shape (n_latents, n_latents)
        In [0, 1], with a zero diagonal; a pair is linked where it exceeds the tolerance. D and H_n: the
        largest common influence, relative to the largest of all. M and S: 1 or 0.

    Examples
    --------
    >>> factor_graph([[[4.0, 0.0], [1.0, 2.0]]], "D")
    array([[0.  , 0.25],
           [0.25, 0.  ]])

    References
    ----------
    Matthes, Han and Shen (2026), Mechanistic independence (factor graphs), arXiv:2509.22196.
    """
    samples = _samples(jacobians, kind, hessians, thirds, tolerance)
    return _sparse_links(samples) if kind == "S" else _strength(samples, kind, hessians, thirds)


def _samples(
    jacobians: ArrayLike,
    kind: str,
    hessians: ArrayLike | None,
    thirds: ArrayLike | None,
    tolerance: float,
) -> Samples:
    if kind not in _KINDS:
        raise ValueError(
            f"`kind` must be one of {list(_KINDS)}, got {kind!r}. Orders above 3 are not checked."
        )
    for needed, name, given in (("H2", "hessians", hessians), ("H3", "thirds", thirds)):
        if kind == needed and given is None:
            raise ValueError(f"`{name}` must be given for kind {kind}, got None. See `finite_differences`.")
    return Samples(jacobian_samples(jacobians), relative(tolerance))


def _strength(
    samples: Samples, kind: str, hessians: ArrayLike | None, thirds: ArrayLike | None
) -> np.ndarray:
    """Return the factor graph of every type but S."""
    if kind == "D":
        return shared_strength(samples.sizes).max(0)
    if kind == "M":
        held = samples.containments.min(0) == 0
        return _without_diagonal((held | held.T).astype(float))
    name, given, order = ("hessians", hessians, 2) if kind == "H2" else ("thirds", thirds, 3)
    derivatives = higher(given, samples.jacobians, name, order)
    assert derivatives is not None
    return _without_diagonal(interaction_strength(derivatives, samples.jacobians, samples.tolerance))


def _sparse_links(samples: Samples) -> np.ndarray:
    """Link latents that a direction of some lightest basis has a part in: Type S keeps them in one slot."""
    d = samples.jacobians.shape[2]
    linked = np.zeros((d, d))
    if (samples.independence <= samples.tolerance).any():  # a direction that moves nothing mixes at no cost
        return _without_diagonal(np.ones((d, d)))
    for jacobian in samples.jacobians:
        directions = elementary(jacobian, samples.tolerance)
        parts = (np.abs(directions.vectors[directions.tight]) > samples.tolerance).astype(float)
        linked = np.maximum(linked, parts.T @ parts > 0)
    return _without_diagonal(linked)


def _finest_sparse(samples: Samples, search: int) -> FinestPartition:
    """Search each part that is of Type D by itself: no sparsest direction reaches out of one."""
    parts = components(shared_strength(samples.sizes).max(0) > samples.tolerance)
    if (samples.independence <= samples.tolerance).any():
        return FinestPartition((frozenset(range(samples.jacobians.shape[2])),), "S", True)
    found = [_within(samples, part, search) for part in parts]
    partition = sorted((block for blocks, _ in found for block in blocks), key=min)
    return FinestPartition(tuple(partition), "S", all(exact for _, exact in found))


def _within(samples: Samples, part: frozenset[int], search: int) -> tuple[Iterable[frozenset[int]], bool]:
    latents = np.array(sorted(part))
    inside = Samples(np.swapaxes(samples.slot(part), 1, 2), samples.tolerance)
    single = tuple(frozenset((k,)) for k in range(len(latents)))
    if len(latents) == 1:
        return [part], True
    if affordable(inside.jacobians, len(inside.jacobians), samples.tolerance, search):
        split = components(_sparse_links(inside) > 0)
        return [frozenset(latents[sorted(block)].tolist()) for block in split], True
    if bounded(inside, single):
        return [frozenset((latent,)) for latent in latents.tolist()], True
    return [part], False


def _margin(strength: np.ndarray, partition: Partition, tolerance: float) -> float:
    """Return the decades from the tolerance to the weakest link needed or the strongest that would join."""
    apart = crossing(partition, len(strength))
    inside = ~apart & ~np.eye(len(strength), dtype=bool)
    weakest = widest_paths(strength)[inside].min(initial=1.0)
    strongest = max(strength[apart].max(initial=0.0), 1e-16)
    return float(min(np.log10(weakest / tolerance), np.log10(tolerance / strongest)))


def _without_diagonal(links: np.ndarray) -> np.ndarray:
    np.fill_diagonal(links, 0)
    return links
