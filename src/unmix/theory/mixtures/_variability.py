"""Sufficient support variability (pdGMM, Assumption 3.8 b), and what is left of it when it fails."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from unmix.structure import Structure

from .._certificate import Certificate, names

THEOREM = "pdGMM Assumption 3.8, second part (sufficient support variability)"


@dataclass(frozen=True)
class SupportVariability(Certificate):
    """A certificate of support variability with its evidence.

    Attributes
    ----------
    violations : tuple of (int, int)
        Pairs (i, l): z_l varies only where z_i does, so that z_l may be added to z_i at no cost in sparsity.
    witnesses : tuple of dict of int to int
        For each latent i and each other latent l, a component in which l varies and i does not, where there
        is one: together they cover [n] without i.
    """

    violations: tuple[tuple[int, int], ...] = ()
    witnesses: tuple[dict[int, int], ...] = ()


def support_variability(masks: np.ndarray) -> SupportVariability:
    """Check that for every i the B_j without i cover all other latents.

    That is, no activity act(l) = {j : l in B_j} is part of another: the containment preorder of the structure
    whose rows are components, and whose edges say which latent varies in which.
    """
    mixed = may_depend(masks)
    np.fill_diagonal(mixed, False)
    violations = tuple((i, j) for i, j in np.argwhere(mixed).tolist())
    return SupportVariability(
        THEOREM,
        not violations,
        reasons=_reasons(violations),
        violations=violations,
        witnesses=tuple(_witnesses(masks, i) for i in range(masks.shape[1])),
    )


def no_index_sets() -> SupportVariability:
    """Return the failing certificate of a mixture whose supports are not spanned by coordinate axes."""
    return SupportVariability(THEOREM, False, reasons=("there are no index sets, for the first part fails",))


def may_depend(masks: np.ndarray) -> np.ndarray:
    """Entry (i, l): z_i may depend on the estimate of z_l, iff act(l) is part of act(i).

    A row of the sparsest code that is matched to z_i may contain z_l only if it is no more often active for
    that. Matrices with such a pattern are closed under inversion, so the same holds for z and estimate
    exchanged.
    """
    return Structure(masks).contained().T.copy()


def blocks_of(mixed: np.ndarray) -> tuple[frozenset[int], ...]:
    """Return the groups of latents that may depend on each other both ways, ordered by their first member."""
    _, block = connected_components(mixed & mixed.T, directed=False)
    groups = (frozenset(np.flatnonzero(block == b).tolist()) for b in range(block.max() + 1))
    return tuple(sorted(groups, key=min))


def checked_masks(masks: ArrayLike, name: str = "masks") -> np.ndarray:
    """Return index sets as a bool array of shape (J, n), or say what is wrong with them."""
    entries = np.asarray(masks)
    if entries.ndim != 2 or 0 in entries.shape:
        raise ValueError(
            f"`{name}` must have shape (n_components, n_latents), got {entries.shape}. Row j holds a 1 for "
            "each latent that varies in component j."
        )
    if entries.dtype != bool and not np.isin(entries, (0, 1)).all():
        raise ValueError(f"`{name}` must be binary, got entries other than 0 and 1. Threshold them first.")
    never = np.flatnonzero(~entries.astype(bool).any(0))
    if len(never):
        raise ValueError(
            f"`{name}` must let every latent vary in some component, got none for {names(never.tolist())}. "
            "Such a latent is constant: drop its column."
        )
    return entries.astype(bool)


def _reasons(violations: tuple[tuple[int, int], ...]) -> tuple[str, ...]:
    if not violations:
        return ("every latent rests somewhere while each of the others varies",)
    listed = [f"z{b} varies only where z{a} does" for a, b in violations[:3]]
    more = [f"and {len(violations) - 3} more pairs"] if len(violations) > 3 else []
    return (*listed, *more)


def _witnesses(masks: np.ndarray, i: int) -> dict[int, int]:
    """For each other latent, the first component in which it varies and z_i rests."""
    resting = masks & ~masks[:, [i]]
    found = np.flatnonzero(resting.any(0)).tolist()
    return {latent: int(resting[:, latent].argmax()) for latent in found}
