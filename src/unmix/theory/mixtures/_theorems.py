"""The theorems about potentially degenerate Gaussian mixtures, and their certificates in words."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._certificate import Certificate, names
from ._genericity import SMALL
from ._variability import support_variability

SCALING, BLOCKS, AFFINE = "permutation and scaling", "blocks", "affine"
WITHIN, NONE = "affine within components", "none"
MODEL = (
    "X = f(Z) with f injective, continuous and piecewise affine",
    "perfect reconstruction by a piecewise affine encoder and decoder (Eq. 2)",
    "a code that follows a Gaussian mixture in reduced form (Eq. 3)",
)
SPARSE = "a code with at most as many nonzero entries on average as the latents (Eq. 4)"
SUPPORTS = (
    "a mixture in reduced form with genericity (Assumption 3.4)",
    "supports spanned by coordinate axes through one point (Assumption 3.8, first part)",
)


def theorems(checked: Sequence[Any]) -> tuple[Certificate, ...]:
    """Return Theorems 3.5, 3.7 and 3.9 for a mixture whose conditions have been checked."""
    _, generic, basis, standard, variability = checked
    return (
        _theorem("3.5 (one affine map within each component)", MODEL, [generic]),
        _theorem("3.7 (one affine map)", MODEL, [generic, basis]),
        *sparsity_theorems(bool(generic and standard), [generic, standard, variability]),
    )


def sparsity_theorems(
    coordinates: bool, needs: list[Certificate], believed: tuple[str, ...] = ()
) -> tuple[Certificate, ...]:
    """Return Theorem 3.9, and what its proof leaves when supports do not vary enough."""
    assumes = (*MODEL, *believed, SPARSE)
    left = "pdGMM Theorem 3.9 without sufficient support variability (z_i depends on the estimates of those "
    left += "latents only that vary nowhere but where z_i does)"
    return (
        _theorem(f"3.9 ({SCALING})", assumes, needs),
        Certificate(left, coordinates, assumes, () if coordinates else (_unmet(needs[:2]),)),
    )


def _theorem(name: str, assumes: tuple[str, ...], needs: list[Certificate]) -> Certificate:
    reason = "its conditions hold" if all(needs) else _unmet(needs)
    return Certificate(f"pdGMM Theorem {name}", all(needs), assumes, (reason,))


def _unmet(needs: list[Certificate]) -> str:
    failing = [condition.theorem.removeprefix("pdGMM ") for condition in needs if not condition]
    return f"not met: {', '.join(failing)}"


def level_of(mixed: np.ndarray) -> str:
    """Name what the containment of activities leaves: nothing mixed, some, or all (then only affine)."""
    if mixed.sum() == len(mixed):
        return SCALING
    return AFFINE if mixed.all() else BLOCKS


def identified(level: str, mixed: np.ndarray, blocks: Sequence[frozenset[int]]) -> str:
    """Say in a sentence what is identified, up to what."""
    if level == BLOCKS:
        above = "" if _blockwise(mixed) else ", plus linear functions of latents that vary only where they do"
        listed = ", ".join(f"{{{names(block)}}}" for block in blocks)
        return f"Latents are identified up to invertible linear maps within blocks{above}: {listed}."
    return _SENTENCES[level]


_SENTENCES = {
    SCALING: "Latents are identified up to permutation, scaling and a shift.",
    AFFINE: "Latents are identified up to one invertible affine map.",
    WITHIN: "Within each component latents are identified up to an affine map of its own.",
    NONE: "No theorem identifies anything of the latents here.",
}


def _blockwise(mixed: np.ndarray) -> bool:
    return bool((mixed == mixed.T).all())


def sentences(mixed: np.ndarray, blocks: Sequence[frozenset[int]], checked: Sequence[Any]) -> tuple[str, ...]:
    """Say why the level is no higher, and what else is known."""
    if not checked:
        return _mixing(mixed, blocks)
    _, generic, basis, standard, _ = checked
    if not generic:
        return generic.reasons
    small = generic.reasons if generic.margin is not None and generic.margin < SMALL else ()
    if not basis:
        return (*basis.reasons, _affine_on(basis.components), *small)
    found = _mixing(mixed, blocks) if standard else (*standard.reasons, *_in_basis(basis))
    return (*found, *small)


def _mixing(mixed: np.ndarray, blocks: Sequence[frozenset[int]]) -> tuple[str, ...]:
    return tuple(_block(mixed, block) for block in blocks)


def _block(mixed: np.ndarray, block: frozenset[int]) -> str:
    below = frozenset(np.flatnonzero(mixed[min(block)]).tolist()) - block
    rest = f", and may be mixed with {names(below)}, varying only where it does" if below else ""
    if len(block) > 1:
        rest = rest.replace("where it does", "where they do")
        return f"{names(block)} vary in the same components, and are not told apart{rest}."
    return f"{names(block)} is told apart{rest}." if below else f"{names(block)} is identified alone."


def _affine_on(components: frozenset[int]) -> str:
    listed = ", ".join(map(str, sorted(components)))
    return f"The map is affine on components {listed} together, for which the assumption holds."


def _in_basis(basis: Any) -> tuple[str, ...]:
    """Coordinates in the common basis are latents themselves: a shifted, linear change of Z and of f."""
    masks = np.array([[k in part for k in range(len(basis.basis))] for part in basis.parts])
    if not masks.any(0).all() or not support_variability(masks):
        return ()
    return (
        "The coordinates of Z in the common basis, not Z itself, are identified up to permutation and "
        "scaling by a code at least as sparse as they are.",
    )


def lacking(level: str, certificates: Sequence[Certificate]) -> tuple[str, ...]:
    """List the conditions that fail, in the order in which they would help."""
    if level == SCALING:
        return ()
    failing = [c for c in certificates if not c and "Assumption" in c.theorem]
    return tuple(f"{c.theorem.removeprefix('pdGMM ')}: {'; '.join(c.reasons)}" for c in failing)
