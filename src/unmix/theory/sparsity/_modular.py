"""Generic weights and their linear algebra modulo a prime, where zero is zero.

Weights are drawn modulo a prime of 31 bits: a minor that vanishes for no reason of the structure is met with
a chance below one in a million, and there is no rounding.
"""

import numpy as np

PRIME = 2**31 - 1  # products of two residues fit into 64 bits


def generic(support: np.ndarray) -> np.ndarray:
    """Draw weights on a support, the same for the same support."""
    return np.random.default_rng(0).integers(1, PRIME, support.shape) * support


def less(matrices: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Subtract a product of rank one from each matrix, modulo PRIME."""
    return (matrices - column[:, :, None] * row[:, None, :] % PRIME) % PRIME


def inverse(values: np.ndarray) -> np.ndarray:
    """Return a^(PRIME - 2), the inverse of a modulo PRIME (Fermat); 0 for 0."""
    result, power, exponent = np.ones_like(values), values, PRIME - 2
    while exponent:
        if exponent & 1:
            result = result * power % PRIME
        power, exponent = power * power % PRIME, exponent >> 1
    return result


def determinants(matrices: np.ndarray) -> np.ndarray:
    """Return determinants modulo PRIME, by elimination with a search for pivots.

    Examples
    --------
    >>> determinants(np.array([[[0, 2], [3, 5]], [[1, 2], [2, 4]]])) - PRIME
    array([         -6, -2147483647])
    """
    each, work, found = np.arange(len(matrices)), matrices.copy(), np.ones(len(matrices), int)
    for k in range(matrices.shape[1]):
        pivot = k + (work[:, k:, k] != 0).argmax(1)
        work[each, k], work[each, pivot] = work[each, pivot], work[each, k].copy()
        found = found * np.where(pivot == k, 1, -1) * work[:, k, k] % PRIME
        scaled = work[:, :, k] * inverse(work[:, k, k])[:, None] % PRIME
        scaled[:, : k + 1] = 0
        work = less(work, scaled, work[:, k])
    return found
