"""Interactions between latents (Type H_n): derivatives of order n that touch two slots."""

import numpy as np

from ._derivatives import Partition

_DRAWS = 16  # real eigenvalues of one member can be a conjugate pair of another
_APART = 1e-3  # eigenvalues closer than this share of their spread are one: defective ones come out scattered


def interaction_strength(derivatives: np.ndarray, jacobians: np.ndarray, tolerance: float) -> np.ndarray:
    """Return the largest derivative with both latents a and b in its multi-index, at (a, b), relative to all.

    Lengths are taken over observed variables, maxima over points. Derivatives below `tolerance` times the
    first ones are rounding, and count as nothing at all: a linear map has no interactions.
    """
    lengths = np.linalg.norm(derivatives, axis=1).max(0)
    first = np.linalg.norm(jacobians, axis=1).max()
    scale = max(lengths.max(), tolerance * first) or 1.0
    strength: np.ndarray = lengths.reshape(*lengths.shape[:2], -1).max(2) / scale
    return strength


def bends(derivatives: np.ndarray, jacobians: np.ndarray, tolerance: float) -> bool:
    """Say whether any derivative is more than rounding."""
    first = np.linalg.norm(jacobians, axis=1).max()
    return bool(np.linalg.norm(derivatives, axis=1).max() > tolerance * first)


def separability(
    lower: np.ndarray, derivatives: np.ndarray, slots: Partition, tolerance: float
) -> np.ndarray:
    """Return, per point, the sine between the image of each slot's derivatives and the span of all the rest.

    Zero where im D^n_ii meets span{im D^n_jj (j != i), lower orders} in more than the origin.

    Parameters
    ----------
    lower : (n, x, m) array
        Derivatives of lower order, one per column.
    derivatives : (n, x, z, z[, z]) array
    """
    inside = [_within(derivatives, block) for block in slots]
    return np.array(
        [
            _smallest_angle([lower[point], *(part[point] for part in inside)], tolerance)
            for point in range(len(lower))
        ]
    )


def _within(derivatives: np.ndarray, block: frozenset[int]) -> np.ndarray:
    latents = sorted(block)
    for axis in range(2, derivatives.ndim):
        derivatives = derivatives.take(latents, axis=axis)
    return derivatives.reshape(*derivatives.shape[:2], -1)


def _smallest_angle(parts: list[np.ndarray], tolerance: float) -> float:
    """Return the smallest singular value of orthonormal bases side by side: 0 iff their sum is not direct."""
    largest = max(np.abs(part).max(initial=0.0) for part in parts[1:])
    floors = [0.0, *(tolerance * largest for _ in parts[1:])]
    bases = [_orthonormal(part, tolerance, floor) for part, floor in zip(parts, floors, strict=True)]
    joined = np.concatenate(bases, axis=1)
    if joined.shape[1] > joined.shape[0]:
        return 0.0
    return float(np.linalg.svd(joined, compute_uv=False)[-1]) if joined.size else 1.0


def _orthonormal(columns: np.ndarray, tolerance: float, floor: float) -> np.ndarray:
    left, singular, _ = np.linalg.svd(columns, full_matrices=False)
    kept: np.ndarray = left[:, singular > max(tolerance * singular.max(initial=0.0), floor)]
    return kept


def n_interaction_factors(derivatives: np.ndarray, tolerance: float) -> int:
    """Count the factors into which a tangent space splits under H_n, in whatever linear basis.

    T = U + V splits all the forms, H(u, v) = 0, iff a projection P has H P = P' H for each. Matrices X with
    H X = X' H form a linear space, and the spectral projections of X belong to it too: distinct eigenvalues
    (a conjugate pair counting as one) are factors. The largest number over several members is returned; where
    the space holds multiples of the identity only, it is one for certain.

    Parameters
    ----------
    derivatives : (x, z, z[, z]) array
        At one point.
    """
    d = derivatives.shape[1]
    forms = np.moveaxis(derivatives.reshape(len(derivatives), d, d, -1), 3, 1).reshape(-1, d * d)
    _, sizes, span = np.linalg.svd(forms, full_matrices=False)
    reduced = (sizes[:, None] * span).reshape(-1, d, d)  # the same span, at most d^2 forms
    eye = np.eye(d)
    equations = np.einsum("fik,jl->fijkl", reduced, eye) - np.einsum("il,fkj->fijkl", eye, reduced)
    _, singular, axes = np.linalg.svd(equations.reshape(-1, d * d))
    singular = np.pad(singular, (0, d * d - len(singular)))
    free = axes[singular <= tolerance * max(singular[0], np.finfo(float).tiny)]
    draws = np.cos(np.outer(np.arange(1, 1 + _DRAWS), np.arange(1, 1 + len(free))))  # any numbers would do
    members = (draws @ free).reshape(-1, d, d)
    return max(_n_clusters(eigenvalues) for eigenvalues in np.linalg.eigvals(members))


def _n_clusters(eigenvalues: np.ndarray) -> int:
    """Count distinct eigenvalues, conjugates as one."""
    folded = np.sort_complex(eigenvalues.real + 1j * np.abs(eigenvalues.imag))
    apart = _APART * max(np.abs(folded).max(), np.finfo(float).tiny)
    left, count = folded, 0
    while len(left):
        left, count = left[np.abs(left - left[0]) > apart], count + 1
    return count
