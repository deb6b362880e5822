"""Type D factors of a tangent space in an unknown basis."""

import numpy as np
from numpy.typing import ArrayLike

from ._derivatives import jacobian_samples, relative
from ._factors import RANK, components, row_basis, shared_strength


def tangent_factors(jacobian: ArrayLike, *, tolerance: float = 1e-6) -> tuple[np.ndarray, ...]:
    """Return the subspaces of latent directions that are irreducible Type D factors at a point.

    No basis is searched for: the factors are the connected components of the row matroid of the Jacobian,
    which is the same in every basis of latents. Their number is the largest for which the point is of Type D.

    Parameters
    ----------
    jacobian : array-like of shape (n_observed, n_latents)
        Of full column rank.
    tolerance : float
        Links below it count as none, in the basis of rows that the factors are read off.

    Returns
    -------
    tuple of ndarray of shape (n_latents, d_i)
        A basis of each factor.

    Examples
    --------
    >>> disjoint = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> mixed = disjoint @ np.array([[1.0, 1.0], [1.0, -1.0]])
    >>> [(factor / factor[0]).ravel().tolist() for factor in tangent_factors(mixed)]
    [[1.0, 1.0], [1.0, -1.0]]

    References
    ----------
    Matthes, Han and Shen (2026), Mechanistic independence, Theorem 2, arXiv:2509.22196; Brady et al. (2023),
    Provably learning object-centric representations, irreducibility, arXiv:2305.14229.
    """
    samples, tolerance = jacobian_samples(jacobian), relative(tolerance)
    if len(samples) > 1:
        raise ValueError(f"`jacobian` must be one matrix, got {len(samples)}. Factors differ between points.")
    r, t, margin = (part[0] for part in row_basis(np.swapaxes(samples, 1, 2), RANK))
    if margin <= RANK:
        raise ValueError(
            f"`jacobian` must have full column rank, got a smallest pivot of {margin:.2g} of the largest. "
            "Some direction moves nothing."
        )
    linked = shared_strength(np.abs(r)[None])[0] > tolerance
    return tuple(t[sorted(part)].T for part in components(linked))
