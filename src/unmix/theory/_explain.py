"""One answer from what the user has."""

from collections.abc import Iterable
from typing import SupportsIndex

from numpy.typing import ArrayLike

from unmix.structure import Structure

from ._between import between
from ._certify import certify
from ._nonlinearity import nonlinearity


def explain(
    structure: Structure,
    *,
    a: Iterable[SupportsIndex] | None = None,
    b: Iterable[SupportsIndex] | None = None,
    jacobians: ArrayLike | None = None,
    independent_latents: bool = False,
) -> str:
    """Write which theorems apply, with each condition checked, assumed or failing, and what is then
    identified.

    Parameters
    ----------
    structure : Structure
    a, b : iterables of int, optional
        Two sets of observed variables to compare; both or neither.
    jacobians : array-like of shape (n, n_observed, n_latents), optional
        Samples of the decoder's Jacobian, to check sufficient nonlinearity instead of assuming it.
    independent_latents : bool
        Take latents to be mutually independent, in truth and in the estimated model.

    Returns
    -------
    str

    Examples
    --------
    >>> print(explain(Structure([[1, 0], [1, 1], [0, 1]])))
    2 latents, 3 observed variables, 4 edges: 2 identified alone.
    Every latent is identified alone, up to order and an invertible function of each.
    - z0 is identified alone: no other latent moves all of x0, x1 (clause 3).
    - z1 is identified alone: no other latent moves all of x1, x2 (clause 3).
    ...

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, arXiv:2604.17568.
    """
    if (a is None) != (b is None):
        raise ValueError("`a` and `b` must be given together, got only one of them. Name both sets.")
    parts = [str(certify(structure, independent_latents=independent_latents))]
    if jacobians is not None:
        parts.append(f"From Jacobian samples:\n- {nonlinearity(jacobians, structure)}")
    if a is not None and b is not None:
        parts.append(str(between(structure, a, b, independent_latents=independent_latents)))
    return "\n\n".join(parts)
