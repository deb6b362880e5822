"""Sufficient changes between domains (CG, conditions A3 and A5), as ranks of derivatives of log-densities."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmix.structure import Structure

from .._certificate import ANSWER, Certificate, assumed, attributes, checked_structure, names, plain
from ._change_ranks import RankCheck, rank_check
from ._log_densities import Derivatives, LogDensity, of_function, of_gaussians, of_samples

FIRST = "CG condition A3 (first-order sufficient changes)"
SECOND = "CG condition A5 (second-order sufficient changes)"
INDEPENDENT = "latents independent within each domain, with smooth positive densities (A1, A2)"
GAUSSIAN = "Gaussian latents within each domain, as fitted"


@dataclass(frozen=True, eq=False, repr=False)
class SufficientChanges:
    """How much latents change between domains; see `sufficient_changes`.

    Truthy iff both conditions hold.

    Attributes
    ----------
    n_domains : int
    first : tuple of RankCheck
        A3: one for each observed variable, over its parents.
    second : tuple of RankCheck
        A5: one for each latent, over its subspace: itself and the latents that move all that it moves.
    certificates : tuple of Certificate
        A3 and A5.
    derivatives : Derivatives
        Of the log-densities, at the points at which they were looked at.
    tolerance : float
    """

    n_domains: int
    first: tuple[RankCheck, ...]
    second: tuple[RankCheck, ...]
    certificates: tuple[Certificate, ...]
    derivatives: Derivatives
    tolerance: float

    def __bool__(self) -> bool:
        return all(self.certificates)

    def first_order(self, latents: Iterable[int]) -> RankCheck:
        """Check A3 over any set of latents."""
        return rank_check(self.derivatives, tuple(sorted(latents)), self.tolerance, second=False)

    def second_order(self, latents: Iterable[int]) -> RankCheck:
        """Check A5 over any set of latents."""
        return rank_check(self.derivatives, tuple(sorted(latents)), self.tolerance, second=True)

    @property
    def identifies(self) -> str:
        """What follows from changes alone, whatever the mixing."""
        n = self.derivatives.first.shape[2]
        if self.second_order(range(n)):
            return (
                "Each latent is identified alone by changes between domains, whatever the mixing, in an "
                "estimate that fits each of them with independent latents."
            )
        return (
            "Changes between domains alone do not identify each latent; see `certify_domains` for the mixing."
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """What would have to hold for more."""
        return tuple(f"{c.theorem}: {'; '.join(c.reasons)}" for c in self.certificates if not c)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why each condition holds or fails."""
        return tuple(reason for certificate in self.certificates for reason in certificate.reasons)

    def __str__(self) -> str:
        verdicts = [f"- {certificate.verdict}" for certificate in self.certificates]
        head = f"{self.n_domains} domains. {self.identifies}"
        return "\n".join([head, *verdicts, assumed(self.certificates[0].assumes)])

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        checks = {"first": self.first, "second": self.second}
        ranks = {order: [plain(asdict(check)) for check in found] for order, found in checks.items()}
        return attributes(self, "n_domains") | ranks | attributes(self, *ANSWER)


def sufficient_changes(
    structure: Structure,
    *,
    means: ArrayLike | None = None,
    variances: ArrayLike | None = None,
    z: ArrayLike | None = None,
    u: ArrayLike | None = None,
    log_density: LogDensity | None = None,
    points: ArrayLike | None = None,
    n_domains: int | None = None,
    tolerance: float = 1e-3,
) -> SufficientChanges:
    """Check that the laws of latents change enough between domains.

    First order: for each observed variable, the derivatives of the log-densities of its parents,
    (l_i'(z_i))_i, less those of a reference domain, span all parents. Second order: for each latent, the
    vectors (l_i'', l_i')_i over its subspace, less those of a reference, span twice as many dimensions. Both
    are asked for at nearly all z. The first is a diagnostic: no proof rests on it here.

    Parameters
    ----------
    structure : Structure
        Which latent moves which observed variable.
    means, variances : array-like of shape (n_domains, n_latents), optional
        Latents that are Gaussian within each domain.
    z, u : array-like of shape (n_samples, n_latents) and (n_samples,), optional
        Samples and their domains, to which Gaussians are fitted; directions that sampling noise explains
        do not count.
    log_density : callable, optional
        `log_density(z, u)` with z of shape (n_points, n_latents) and u an int returns log p(z_i | u) for each
        latent, of the same shape. Needs `points` and `n_domains`.
    points : array-like of shape (n_points, n_latents), optional
    n_domains : int, optional
    tolerance : float
        Singular values below this share of the largest count as zero.

    Returns
    -------
    SufficientChanges

    Examples
    --------
    >>> from unmix.structure import Structure
    >>> one = Structure([[1]])
    >>> bool(sufficient_changes(one, means=[[0], [1], [0]], variances=[[1], [1], [2]]))
    True

    Changing means alone leave second derivatives as they are:

    >>> print(sufficient_changes(one, means=[[0], [1], [2]], variances=[[1], [1], [1]]).certificates[1])
    CG condition A5 (second-order sufficient changes) fails: changes of z0 span 1 of 2 directions. ...

    References
    ----------
    Li et al. (2025), Synergy Between Sufficient Changes and Sparse Mixing Procedure, Theorems 1 and 2,
    arXiv:2503.00639, of which only a summary was at hand: the conditions are a reconstruction.
    """
    if not 0 < tolerance < 1:
        raise ValueError(f"`tolerance` must be between 0 and 1, got {tolerance}. It is relative.")
    checked_structure(structure)
    found, assumes = _derivatives(means, variances, z, u, log_density, points, n_domains)
    if found.first.shape[2] != structure.n_latents:
        raise ValueError(
            f"`structure` must have as many latents as there are densities, got {structure.n_latents} and "
            f"{found.first.shape[2]}. Columns are latents in the same order."
        )
    parents = [structure.parents(k) for k in range(structure.n_observed)]
    subspaces = structure.contained()
    first = tuple(rank_check(found, tuple(sorted(p)), tolerance, second=False) for p in parents)
    second = tuple(rank_check(found, _members(row), tolerance, second=True) for row in subspaces)
    certificates = (_verdict(FIRST, first, assumes), _verdict(SECOND, second, assumes))
    return SufficientChanges(found.first.shape[1], first, second, certificates, found, tolerance)


def _derivatives(
    means: Any, variances: Any, z: Any, u: Any, log_density: Any, points: Any, n_domains: Any
) -> tuple[Derivatives, tuple[str, ...]]:
    given = [
        means is not None or variances is not None,
        z is not None or u is not None,
        log_density is not None,
    ]
    if sum(given) != 1:
        raise ValueError(
            f"`means` and `variances`, or `z` and `u`, or `log_density` must be given, got {sum(given)} of "
            "these three. Choose one source."
        )
    if log_density is not None:
        if points is None or n_domains is None:
            raise ValueError("`points` and `n_domains` must be given with `log_density`, got None. Add them.")
        return of_function(log_density, points, n_domains), (INDEPENDENT,)
    if given[0]:
        if means is None or variances is None:
            raise ValueError("`means` and `variances` must be given together, got one of them. Give both.")
        return of_gaussians(means, variances), (INDEPENDENT,)
    if z is None:
        raise ValueError("`z` must be given with `u`, got None. Give the samples too.")
    return of_samples(z, u), (INDEPENDENT, GAUSSIAN)


def _verdict(theorem: str, checks: tuple[RankCheck, ...], assumes: tuple[str, ...]) -> Certificate:
    failing = [check for check in dict.fromkeys(checks) if not check]
    reasons = [f"changes of {names(c.latents)} span {c.rank} of {c.wanted} directions" for c in failing[:3]]
    if len(failing) > 3:
        reasons.append(f"and {len(failing) - 3} more sets fail")
    if not failing:
        reasons = [
            f"all directions are spanned, with a smallest margin of {min(c.margin for c in checks):.2g}"
        ]
    return Certificate(theorem, not failing, assumes, tuple(reasons))


def _members(row: np.ndarray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(row).tolist())
