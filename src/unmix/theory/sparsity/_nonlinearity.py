"""Sufficient nonlinearity (DDL, Assumption 1, first half) from samples of the Jacobian."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unmix.structure import Structure

from .._certificate import Certificate, checked_structure, names

_CLEAR = 1.5  # times what entries that are zero vary: on linear data fits bend by 0.9 to 1.8 times that


@dataclass(frozen=True)
class Nonlinearity(Certificate):
    """A certificate of sufficient nonlinearity with its evidence.

    Attributes
    ----------
    ranks : tuple of int
        For each observed variable, the numerical rank of its sampled gradients.
    margins : tuple of float
        For each observed variable, smallest over largest singular value; 1 where there are no parents.
    null : float
        The margin that the error of the estimate makes by itself: how much entries outside of the structure
        vary, which should be zero everywhere. It is 0 for exact Jacobians, and where every entry is an edge.
    """

    ranks: tuple[int, ...] = ()
    margins: tuple[float, ...] = ()
    null: float = 0.0

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """Itself, as the certifiers of several conditions have it."""
        return (self,)

    @property
    def identifies(self) -> str:
        """One sentence: what the condition is good for."""
        if self.holds:
            return "The mixing bends enough for the conclusions from its structure to apply."
        return "Nothing: conclusions from the structure do not apply to a mixing that bends too little."

    @property
    def missing(self) -> tuple[str, ...]:
        """What would have to hold."""
        return () if self.holds else ("gradients of each observed variable that span all of its parents",)


def nonlinearity(jacobians: ArrayLike, structure: Structure, *, tolerance: float = 1e-3) -> Nonlinearity:
    """Check that the gradient of each observed variable spans all of its parents as z varies.

    For every observed variable i the sampled rows of the Jacobian, restricted to its parents I_i, must have
    rank |I_i|. A linear map fails as soon as a variable has two parents; a piecewise-linear one has few
    distinct gradients and may.

    Jacobians that were learned bend a little where the mixing does not. How much is seen at the entries
    outside of the structure, whose truth is zero: directions in which gradients vary by less than one and a
    half times what these do are none.

    Parameters
    ----------
    jacobians : array-like of shape (n, n_observed, n_latents)
        At different points z; ten times the largest number of parents or more are advisable.
    structure : Structure
    tolerance : float
        Singular values below this share of the largest count as zero.

    Returns
    -------
    Nonlinearity
        A certificate that also holds `ranks`, `margins` and `null`.

    Examples
    --------
    >>> z = np.linspace(-1, 1, 20)
    >>> bent = np.array([[[1, np.cos(t)], [0, 1]] for t in z])
    >>> nonlinearity(bent, Structure([[1, 1], [0, 1]])).ranks
    (2, 1)
    >>> print(nonlinearity(np.ones((20, 1, 2)), Structure([[1, 1]])))
    DDL Assumption 1, first half (sufficient nonlinearity) fails: the gradients of x0 span 1 of 2 dimensions.

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Assumption 1 and appendix B.4, arXiv:2604.17568.
    """
    samples = _checked(jacobians, structure)
    if not 0 < tolerance < 1:
        raise ValueError(f"`tolerance` must be between 0 and 1, got {tolerance}. It is relative.")
    singular = [_singular_values(samples[:, i, row]) for i, row in enumerate(structure.support)]
    null = _null(samples, structure.support, singular)
    least = max(tolerance, _CLEAR * null)
    ranks = tuple(_rank(values, least) for values in singular)
    margins = tuple(_margin(values) for values in singular)
    wanted = structure.support.sum(1).tolist()
    failing = [i for i, (rank, parents) in enumerate(zip(ranks, wanted, strict=True)) if rank < parents]
    return Nonlinearity(
        "DDL Assumption 1, first half (sufficient nonlinearity)",
        not failing,
        reasons=_reasons(failing, ranks, wanted, margins, len(samples)) + _beside(null),
        ranks=ranks,
        margins=margins,
        null=null,
    )


def _rank(values: np.ndarray, least: float) -> int:
    """Count directions above a share of the largest; one that is alone has nothing to exceed."""
    largest = values.max(initial=0.0)
    return int((values > min(least, 0.5) * largest).sum())


def _null(samples: np.ndarray, support: np.ndarray, singular: list[np.ndarray]) -> float:
    """Return how much entries that should be zero vary, in the units in which margins are given."""
    largest = np.array([values.max(initial=0.0) for values in singular]) / np.sqrt(len(samples))
    spread = samples.std(0) / np.where(largest > 0, largest, np.inf)[:, None]
    outside = spread[~support & (largest > 0)[:, None]]
    return float(np.sqrt(np.square(outside).mean())) if outside.size else 0.0


def _beside(null: float) -> tuple[str, ...]:
    return (
        (f"entries that should be zero vary by {null:.2g}, as a linear mixing would",) if null > 1e-6 else ()
    )


def _singular_values(gradients: np.ndarray) -> np.ndarray:
    """Return as many singular values as there are parents, zeros where samples are too few."""
    n, parents = gradients.shape
    if not parents:
        return np.zeros(0)
    return np.pad(np.linalg.svd(gradients, compute_uv=False), (0, max(parents - n, 0)))


def _margin(values: np.ndarray) -> float:
    if not len(values):
        return 1.0
    return float(values.min() / values.max()) if values.max() > 0 else 0.0


def _reasons(
    failing: list[int], ranks: tuple[int, ...], wanted: list[int], margins: tuple[float, ...], n_samples: int
) -> tuple[str, ...]:
    if not failing:
        return (f"gradients span all parents, with a smallest margin of {min(margins):.2g}",)
    first = failing[0]
    reasons = [f"the gradients of x{first} span {ranks[first]} of {wanted[first]} dimensions"]
    if len(failing) > 1:
        reasons.append(f"so fail {names(failing[1:], 'x')}")
    if n_samples < 10 * max(wanted):
        reasons.append(f"{n_samples} samples are few: {10 * max(wanted)} or more may show otherwise")
    return tuple(reasons)


def _checked(jacobians: ArrayLike, structure: Structure) -> np.ndarray:
    samples = np.asarray(jacobians, dtype=np.float64)
    checked_structure(structure)
    if samples.ndim != 3 or samples.shape[1:] != structure.shape or not len(samples):
        raise ValueError(
            f"`jacobians` must have shape (n, {structure.n_observed}, {structure.n_latents}) like the "
            f"structure, got {samples.shape}. Put samples first."
        )
    if not np.isfinite(samples).all():
        raise ValueError("`jacobians` must be finite, got NaN or infinite entries. Drop those samples.")
    return samples
