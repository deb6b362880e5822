"""One basis and one point for all supports (pdGMM, Assumption 3.6), and coordinate axes (3.8 a)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, permutations

import numpy as np

from .._certificate import Certificate, names
from ._checks import Mixture
from ._subspaces import is_distributive, meet, part_of, shared_basis

BASIS = "pdGMM Assumption 3.6 (a common point and a common basis of all supports)"
STANDARD = "pdGMM Assumption 3.8, first part (supports are spanned by coordinate axes)"
_MOST_TRIPLES = 2000


@dataclass(frozen=True)
class CommonBasis(Certificate):
    """A certificate of a common point and basis with its evidence.

    Attributes
    ----------
    point : tuple of float or None
        A point of all supports, in the units of the latents.
    basis : tuple of tuple of float, or None
        Rows are the vectors of a basis of which every support is spanned by a part.
    parts : tuple of frozenset of int
        For each component, the vectors of the basis that span its support.
    components : frozenset of int
        All components if the assumption holds; otherwise some for which it does, found greedily in the order
        of their weights.
    """

    point: tuple[float, ...] | None = None
    basis: tuple[tuple[float, ...], ...] | None = None
    parts: tuple[frozenset[int], ...] = ()
    components: frozenset[int] = frozenset()


@dataclass(frozen=True)
class StandardBasis(Certificate):
    """A certificate that supports are spanned by coordinate axes, with its evidence.

    Attributes
    ----------
    masks : tuple of tuple of bool
        Entry (j, i): latent i varies in component j. The index sets B_j, if the certificate holds.
    shift : tuple of float
        The value at which each latent is held where it does not vary; 0 where it always does. Zeros are what
        the assumption asks for; otherwise it holds for the latents less this shift (appendix E.4).
    """

    masks: tuple[tuple[bool, ...], ...] = ()
    shift: tuple[float, ...] = ()


def common_basis(mixture: Mixture) -> CommonBasis:
    """Look for a point in all supports, and for a basis of which each is spanned by a part."""
    every = list(range(len(mixture.supports)))
    point = meet(mixture.supports, mixture.angle)
    spaces = [support.basis for support in mixture.supports]
    basis = _basis(mixture, spaces)
    if point is None or basis is None:
        reasons = _no_point(mixture, point is None) + _no_basis(mixture, spaces, basis is None)
        return CommonBasis(BASIS, False, reasons=reasons, components=_greedy(mixture))
    parts = tuple(_members(part_of(basis, space, mixture.angle)) for space in spaces)
    vectors = tuple(map(tuple, (basis.T * mixture.scale).tolist()))
    return CommonBasis(
        BASIS,
        True,
        reasons=("all supports meet in a point and share a basis",),
        point=tuple((point.point * mixture.scale).tolist()),
        basis=vectors,
        parts=parts,
        components=frozenset(every),
    )


def _basis(mixture: Mixture, spaces: Sequence[np.ndarray]) -> np.ndarray | None:
    """Try coordinate axes first: they are the common case, and need no search."""
    axes = np.eye(mixture.means.shape[1])
    if all(part_of(axes, space, mixture.angle).sum() == space.shape[1] for space in spaces):
        return axes
    return shared_basis(spaces, mixture.angle)


def _greedy(mixture: Mixture) -> frozenset[int]:
    chosen: list[int] = []
    for j in np.argsort(-mixture.weights, kind="stable").tolist():
        supports = [mixture.supports[k] for k in (*chosen, j)]
        if meet(supports, mixture.angle) is None:
            continue
        if _basis(mixture, [support.basis for support in supports]) is not None:
            chosen.append(j)
    return frozenset(chosen)


def _no_point(mixture: Mixture, missing: bool) -> tuple[str, ...]:
    if not missing:
        return ()
    for a, b in permutations(range(len(mixture.supports)), 2):
        if a < b and meet([mixture.supports[a], mixture.supports[b]], mixture.angle) is None:
            return (f"the supports of components {a} and {b} do not meet",)
    return ("supports meet pairwise, but not all in one point",)


def _no_basis(mixture: Mixture, spaces: Sequence[np.ndarray], missing: bool) -> tuple[str, ...]:
    """Name three supports that are not distributive, where there are such: they share no basis."""
    if not missing:
        return ()
    for a, b, c in islice(permutations(range(len(spaces)), 3), _MOST_TRIPLES):
        if b < c and not is_distributive(spaces[a], spaces[b], spaces[c], mixture.angle):
            return (f"the supports of components {a}, {b} and {c} have directions that share no basis",)
    return ("the directions of the supports share no basis",)


def standard_basis(mixture: Mixture) -> StandardBasis:
    """Check that each support is spanned by coordinate axes, through one point."""
    variances = np.diagonal(mixture.covariances, axis1=1, axis2=2)
    floor = mixture.tolerance * variances.max(1, keepdims=True)
    masks = variances > np.maximum(floor, 1e-13)
    tilted = np.flatnonzero(masks.sum(1) != mixture.ranks)
    shift, apart = _held_values(mixture, masks)
    reasons = _tilted(mixture, masks, tilted.tolist()) + _apart(apart)
    if not reasons:
        reasons = _straight(shift * mixture.scale)
    plain_masks = tuple(map(tuple, masks.tolist()))
    plain_shift = tuple((shift * mixture.scale).tolist())
    holds = not len(tilted) and not apart
    return StandardBasis(STANDARD, holds, reasons=reasons, masks=plain_masks, shift=plain_shift)


def _held_values(mixture: Mixture, masks: np.ndarray) -> tuple[np.ndarray, list[tuple[int, int, int]]]:
    """Return the value at which each latent rests, and (latent, component, component) where there are two."""
    shift, apart = np.zeros(masks.shape[1]), []
    for i in range(masks.shape[1]):
        resting = np.flatnonzero(~masks[:, i])
        held = mixture.means[resting, i]
        if len(held):
            low, high = resting[held.argmin()], resting[held.argmax()]
            shift[i] = mixture.weights[resting] @ held / mixture.weights[resting].sum()
            if held.max() - held.min() > mixture.angle:
                apart.append((i, int(low), int(high)))
    return np.where(np.abs(shift) <= mixture.angle * 1e-6, 0.0, shift), apart


def _tilted(mixture: Mixture, masks: np.ndarray, tilted: list[int]) -> tuple[str, ...]:
    if not tilted:
        return ()
    j = tilted[0]
    more = (f"so do {len(tilted) - 1} more components",) if len(tilted) > 1 else ()
    varying = names(np.flatnonzero(masks[j]).tolist())
    return (f"component {j} varies along {varying} but has rank {mixture.ranks[j]}", *more)


def _apart(apart: list[tuple[int, int, int]]) -> tuple[str, ...]:
    return tuple(
        f"z{i} is held at different values in components {a} and {b}, in which it does not vary"
        for i, a, b in apart[:3]
    )


def _straight(shift: np.ndarray) -> tuple[str, ...]:
    moved = np.flatnonzero(shift).tolist()
    if not moved:
        return ("every support is spanned by coordinate axes through zero",)
    values = ", ".join(f"z{i} = {shift[i]:.3g}" for i in moved[:4]) + (", ..." if len(moved) > 4 else "")
    return (f"after a shift, with sparsity counted about {values} (appendix E.4)",)


def _members(chosen: np.ndarray) -> frozenset[int]:
    return frozenset(np.flatnonzero(chosen).tolist())
