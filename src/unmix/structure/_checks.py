"""What may go into a structure: binary matrices, indices in range, permutations."""

import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex

import numpy as np


def binary_matrix(support: Any) -> np.ndarray:
    """Copy into a read-only boolean matrix, or say what is wrong with it."""
    entries = _matrix(support)
    binary = entries.astype(bool)
    if entries.dtype != bool and not np.array_equal(entries, binary):
        i, j = np.argwhere(entries != binary)[0].tolist()
        raise ValueError(
            f"`support` must hold only 0 and 1, got {entries[i, j]!s} at row {i}, column {j}. "
            "Use `Structure.from_jacobian` to threshold magnitudes."
        )
    binary.flags.writeable = False
    return binary


def _matrix(support: Any) -> np.ndarray:
    try:
        entries = np.asarray(support)
    except ValueError as error:
        raise ValueError(
            "`support` must be rectangular, got rows of unequal length. Fill in the zeros."
        ) from error
    if entries.ndim != 2 or 0 in entries.shape:
        raise ValueError(
            f"`support` must have shape (n_observed, n_latents), both at least 1, got {entries.shape}. "
            "Pass observed variables as rows and latents as columns."
        )
    if entries.dtype.kind not in "buif":
        raise TypeError(
            f"`support` must hold booleans or numbers, got {entries.dtype}. Convert it to 0 and 1."
        )
    return entries


def indices_below(indices: Iterable[SupportsIndex], size: int, name: str) -> list[int]:
    """Return the indices as plain integers, or name the one that is out of range."""
    found = [operator.index(index) for index in indices]
    outside = [index for index in found if not 0 <= index < size]
    if outside:
        raise ValueError(
            f"`{name}` must lie between 0 and {size - 1}, got {outside[0]}. Counting starts at 0."
        )
    return found


def permutation_of(order: Iterable[SupportsIndex], size: int) -> list[int]:
    """Return the order as plain integers, or say that it is no permutation."""
    found = [operator.index(index) for index in order]
    if sorted(found) != list(range(size)):
        raise ValueError(
            f"`order` must be a permutation of 0 to {size - 1}, got {found}. Name each exactly once."
        )
    return found


def members(mask: np.ndarray) -> frozenset[int]:
    """Return the positions at which a boolean vector is True."""
    return frozenset(np.flatnonzero(mask).tolist())
