"""What the theorems of mechanistic independence ask for beside a type: injectivity, irreducibility."""

import numpy as np

from .._certificate import Certificate, names
from ._derivatives import Partition
from ._elementary import Directions, affordable, elementary
from ._factors import RANK, Samples, components, row_basis, shared_strength, widest_paths
from ._interactions import n_interaction_factors, separability


def injective(samples: Samples) -> Certificate:
    """Check local injectivity: full column rank of the Jacobian at every point."""
    margins = samples.independence
    point = int(margins.argmin())
    reason = f"smallest over largest singular value is {margins[point]:.2g} at point {point}"
    unmoved = np.flatnonzero(~samples.supports.any(2).all(0)).tolist()
    reasons = (reason, f"{names(unmoved)} move nothing at some point") if unmoved else (reason,)
    return Certificate("Local injectivity of the generator", bool(margins[point] > RANK), (), reasons)


def irreducible_disjoint(samples: Samples, slots: Partition) -> Certificate:
    """Check that no slot splits into directions with disjoint images, in whatever basis, at any point.

    A slot is irreducible iff the row matroid of its columns is connected (Brady et al. 2023, irreducibility).
    """
    tolerance = samples.tolerance
    weakest = {k: _connection(samples.slot(block)) for k, block in enumerate(slots)}
    failing = [k for k, strength in weakest.items() if strength.min() <= tolerance]
    words = [f"slot {k} splits at {_share(weakest[k] <= tolerance)}" for k in failing[:3]]
    if not failing:
        least = min(strength.min() for strength in weakest.values())
        words = [f"every slot holds together, by links of {least:.2g} or more"]
    return Certificate("Irreducible slots with respect to Type D", not failing, (), tuple(words))


def _share(failing: np.ndarray) -> str:
    return f"{failing.mean():.0%} of points, as at point {failing.argmax()}"


def _connection(columns: np.ndarray) -> np.ndarray:
    """Return, per point, the weakest link of the row matroid: the tolerance at which the slot falls apart."""
    if columns.shape[1] == 1:
        return (np.abs(columns).max((1, 2)) > 0).astype(float)
    r, _, margin = row_basis(columns, RANK)
    widest = widest_paths(shared_strength(np.abs(r)))
    off_diagonal = ~np.eye(columns.shape[1], dtype=bool)
    return np.where(margin > RANK, widest[:, off_diagonal].min(1), 0.0)


def irreducible_mutual(samples: Samples, slots: Partition) -> Certificate:
    """Check that no slot splits in these coordinates into parts without containment between them."""
    held = samples.containments.min(0) == 0
    failing = [k for k, block in enumerate(slots) if len(components(_within(held | held.T, block))) > 1]
    words = f"slots {failing} split further" if failing else "containments link the latents of every slot"
    return Certificate(
        "Irreducible slots with respect to Type M, in these coordinates", not failing, (), (words,)
    )


def irreducible_sparse(samples: Samples, slots: Partition, search: int) -> Certificate | None:
    """Check that no slot splits into parts between which Type S holds again, if the search is affordable.

    A splitting is of Type S iff every direction of a lightest basis lies in one part; so a slot is
    irreducible iff those directions, as vectors, are a connected matroid.
    """
    if all(len(block) == 1 for block in slots):
        return _sparse_verdict(np.ones((1, len(slots)), dtype=bool))
    if not affordable(samples.jacobians, len(samples.jacobians), samples.tolerance, search):
        return None
    points = (elementary(jacobian, samples.tolerance) for jacobian in samples.jacobians)
    held = [[_linked(found, block, samples.tolerance) for block in slots] for found in points]
    return _sparse_verdict(np.array(held))


def _linked(found: Directions, block: frozenset[int], tolerance: float) -> bool:
    """Say whether the tight directions inside a slot cannot be parted into two subspaces."""
    inside = np.isin(np.arange(found.vectors.shape[1]), list(block))
    within = (np.abs(found.vectors[:, ~inside]) <= tolerance).all(1) & found.tight
    vectors = found.vectors[within][:, inside]
    return len(vectors) > 0 and bool(_connection(vectors.T[None])[0] > tolerance)


def _sparse_verdict(held: np.ndarray) -> Certificate:
    failing = np.flatnonzero(~held.all(0)).tolist()
    words = [f"slot {k} splits at {_share(~held[:, k])}" for k in failing[:3]]
    words = words or ["every slot holds together"]
    return Certificate("Irreducible slots with respect to Type S", not failing, (), tuple(words))


def _within(matrix: np.ndarray, block: frozenset[int]) -> np.ndarray:
    latents = sorted(block)
    inside: np.ndarray = matrix[np.ix_(latents, latents)]
    return inside


def irreducible_interactions(derivatives: np.ndarray, slots: Partition, tolerance: float) -> Certificate:
    """Check that no slot splits into directions that do not interact, in whatever linear basis, at any point.

    A direction that does not bend at all splits off too; a slot of one latent must therefore bend.
    """
    order = derivatives.ndim - 2
    largest = np.abs(derivatives).max()
    counts = np.array(
        [[_n_factors(point, block, tolerance, largest) for block in slots] for point in derivatives]
    )
    failing = np.flatnonzero((counts != 1).any(0)).tolist()
    verbs = ["splits" if len(block) > 1 else "does not bend" for block in slots]
    words = [f"slot {k} {verbs[k]} at {_share(counts[:, k] != 1)}" for k in failing[:3]]
    words = words or ["every slot holds together"]
    return Certificate(f"Irreducible slots with respect to Type H_{order}", not failing, (), tuple(words))


def _n_factors(derivatives: np.ndarray, block: frozenset[int], tolerance: float, largest: float) -> int:
    inside = derivatives
    for axis in range(1, derivatives.ndim):
        inside = inside.take(sorted(block), axis=axis)
    if np.abs(inside).max() <= tolerance * largest or not largest:
        return 0
    return n_interaction_factors(inside, tolerance)


def separable(
    samples: Samples, hessians: np.ndarray | None, derivatives: np.ndarray, slots: Partition
) -> Certificate:
    """Check n-order separability: slots bend into directions of their own, outside the lower orders."""
    order = derivatives.ndim - 2
    lower = jacobians = samples.jacobians
    if order == 3 and hessians is not None:
        lower = np.concatenate([jacobians, hessians.reshape(*hessians.shape[:2], -1)], axis=2)
    sines = separability(lower, derivatives, slots, samples.tolerance)
    point = int(sines.argmin())
    words = (
        f"the smallest sine between a slot's derivatives and the rest is {sines[point]:.2g} at point {point}"
    )
    assumes = ("second derivatives do not meet the third ones",) if order == 3 and hessians is None else ()
    return Certificate(
        f"Separability of order {order}", bool(sines[point] > samples.tolerance), assumes, (words,)
    )
