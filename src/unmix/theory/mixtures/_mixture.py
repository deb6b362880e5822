"""What mixture parameters, or the index sets of its components, identify."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmix._html import told

from .._certificate import ANSWER, Certificate, assumed, attributes
from ._checks import Mixture, checked_mixture
from ._common_basis import common_basis, standard_basis
from ._genericity import genericity
from ._theorems import (
    NONE,
    SCALING,
    SUPPORTS,
    WITHIN,
    identified,
    lacking,
    level_of,
    sentences,
    sparsity_theorems,
    theorems,
)
from ._variability import blocks_of, checked_masks, may_depend, no_index_sets, support_variability

_SAME = 1e-8


@dataclass(frozen=True, eq=False, repr=False)
class MixtureCertificate:
    """What a potentially degenerate Gaussian mixture identifies; see `certify_mixture`.

    Truthy iff latents are identified up to permutation and scaling. `str()` is a report.

    Attributes
    ----------
    level : str
        "permutation and scaling", "blocks", "affine", "affine within components" or "none".
    identifies : str
        What is identified, up to which indeterminacy, in a sentence.
    blocks : tuple of frozenset of int
        Groups of latents that are not told apart; the members of one vary in the same components.
    may_depend : ndarray of bool, shape (n_latents, n_latents)
        Entry (i, l): z_i may still depend on the estimate of z_l. What is False is guaranteed. The diagonal
        is True.
    certificates : tuple of Certificate
        Each condition with its witness or violation, then the theorems.
    reasons : tuple of str
        Why the level is what it is.
    missing : tuple of str
        What would have to hold for more.
    frequencies : dict of str to float, or None
        For parameters estimated from data, how often each verdict recurs in resamples.
    """

    level: str
    identifies: str
    blocks: tuple[frozenset[int], ...]
    may_depend: np.ndarray
    certificates: tuple[Certificate, ...]
    reasons: tuple[str, ...]
    missing: tuple[str, ...]
    frequencies: dict[str, float] | None = None

    def __bool__(self) -> bool:
        return self.level == SCALING

    @property
    def alone(self) -> frozenset[int]:
        """The latents that depend on their own estimate alone."""
        return frozenset(np.flatnonzero(self.may_depend.sum(1) == 1).tolist())

    def __str__(self) -> str:
        reasons = [f"- {reason}" for reason in self.reasons]
        verdicts = [f"- {certificate.verdict}" for certificate in self.certificates]
        missing = [f"- {wanted}" for wanted in self.missing]
        more = ["For more:", *missing] if missing else []
        believed = assumed(dict.fromkeys(a for c in self.certificates for a in c.assumes))
        return "\n".join([self.identifies, *reasons, "Conditions and theorems:", *verdicts, *more, believed])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return told(str(self), bool(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return attributes(self, "level", "blocks", "may_depend", *ANSWER, "frequencies")


def certify_mixture(
    weights: ArrayLike,
    means: ArrayLike,
    covariances: ArrayLike,
    *,
    tolerance: float = 1e-8,
    max_intersections: int = 10_000,
) -> MixtureCertificate:
    """Say what is identified of latents that follow a Gaussian mixture, degenerate or not.

    Latents Z follow the mixture, X = f(Z) with f injective and piecewise affine, and the estimate is a code
    that follows some such mixture and reconstructs X. Then genericity gives a map that is affine within each
    component; a common point and basis give one affine map; and a code at least as sparse as Z gives
    permutation and scaling if supports vary enough, or blocks and an order among them if they do not.

    Parameters
    ----------
    weights : array-like of shape (J,)
        Positive, with sum one.
    means : array-like of shape (J, n)
    covariances : array-like of shape (J, n, n)
        Symmetric and positive semi-definite; singular ones are the point.
    tolerance : float
        Eigenvalues below this share of a component's largest count as zero, with latents in units of their
        standard deviation; angles, and distances in those units, count as zero below its square root.
    max_intersections : int
        Genericity is left undecided, and so not granted, when supports meet in more ways than this.

    Returns
    -------
    MixtureCertificate

    Examples
    --------
    Two axes with unequal distances from the origin, where they meet:

    >>> axes = [np.diag([1.0, 0.0]), np.diag([0.0, 1.0])]
    >>> certify_mixture([0.5, 0.5], [[1, 0], [0, 2]], axes).level
    'permutation and scaling'

    With equal ones, half-axes may be swapped (Example B.13):

    >>> print(certify_mixture([0.5, 0.5], [[0, 0], [0, 0]], axes).certificates[1])
    pdGMM Assumption 3.4 (genericity) fails: the supports of components 0 and 1 meet in a point at which both
    have the same Mahalanobis distances, so parts of them may be swapped.

    References
    ----------
    Xu, Lachapelle, Magliacane (2026), Assumptions 3.4, 3.6 and 3.8, Theorems 3.5, 3.7 and 3.9,
    arXiv:2604.13218.
    """
    mixture = checked_mixture(weights, means, covariances, tolerance)
    return assemble(*conditions(mixture, max_intersections))


def certify_supports(masks: ArrayLike) -> MixtureCertificate:
    """Say what the index sets of a mixture's components identify, taking the other conditions for granted.

    Parameters
    ----------
    masks : array-like of shape (J, n)
        Entry (j, i) is 1 iff latent i varies in component j. Every latent must vary in some component.

    Returns
    -------
    MixtureCertificate

    Examples
    --------
    >>> certificate = certify_supports([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    >>> certificate.level
    'permutation and scaling'
    >>> print(certify_supports([[1, 1, 0], [0, 0, 1]]).identifies)
    Latents are identified up to invertible linear maps within blocks: {z0, z1}, {z2}.

    References
    ----------
    Xu, Lachapelle, Magliacane (2026), Assumption 3.8 and Theorem 3.9, arXiv:2604.13218.
    """
    sets = checked_masks(masks)
    variability = support_variability(sets)
    mixed = may_depend(sets)
    certificates = (variability, *sparsity_theorems(True, [variability], SUPPORTS))
    return _certificate(level_of(mixed), mixed, certificates, ())


def conditions(mixture: Mixture, max_intersections: int) -> tuple[Mixture, tuple[Any, ...]]:
    """Return the mixture in reduced form and the certificate of each condition, in the order of the paper."""
    reduced, certificate = _reduced(mixture)
    generic = genericity(reduced, max_intersections)
    basis = common_basis(reduced)
    standard = standard_basis(reduced)
    variability = support_variability(np.array(standard.masks)) if standard else no_index_sets()
    return reduced, (certificate, generic, basis, standard, variability)


def assemble(
    mixture: Mixture, checked: tuple[Any, ...], also_mixed: np.ndarray | None = None
) -> MixtureCertificate:
    """Draw the conclusion from the conditions: the strongest theorem whose conditions all hold.

    Pairs in `also_mixed` are not told apart whatever the index sets say.
    """
    _, generic, basis, standard, _ = checked
    n = mixture.means.shape[1]
    mixed = may_depend(np.array(standard.masks)) if generic and standard else np.ones((n, n), dtype=bool)
    mixed = mixed if also_mixed is None else mixed | also_mixed
    affine = level_of(mixed) if basis else WITHIN
    level = affine if generic else NONE
    return _certificate(level, mixed, (*checked, *theorems(checked)), checked)


def _certificate(
    level: str,
    mixed: np.ndarray,
    certificates: tuple[Certificate, ...],
    checked: tuple[Any, ...],
) -> MixtureCertificate:
    blocks = blocks_of(mixed)
    mixed.flags.writeable = False
    return MixtureCertificate(
        level=level,
        identifies=identified(level, mixed, blocks),
        blocks=blocks,
        may_depend=mixed,
        certificates=certificates,
        reasons=sentences(mixed, blocks, checked),
        missing=lacking(level, certificates),
    )


def _reduced(mixture: Mixture) -> tuple[Mixture, Certificate]:
    """Merge components that are the same; the law of the latents does not change."""
    theorem = "pdGMM reduced form (components are distinct)"
    first = _first_alike(mixture)
    kept = np.unique(first).tolist()
    if len(kept) == len(first):
        return mixture, Certificate(theorem, True, (), ("no two components have the same parameters",))
    j = int(np.flatnonzero(first != np.arange(len(first)))[0])
    reasons = (
        f"components {first[j]} and {j} are the same",
        "the rest is about the mixture with such merged, numbered anew",
    )
    weights = np.array([mixture.weights[first == k].sum() for k in kept])
    return mixture.keep(kept, weights), Certificate(theorem, False, (), reasons)


def _first_alike(mixture: Mixture) -> np.ndarray:
    """For each component, the first one with the same mean and covariance, up to rounding."""
    flat = np.column_stack([mixture.means, mixture.covariances.reshape(len(mixture.means), -1)])
    return np.array([int(np.argmax(np.abs(flat - row).max(1) <= _SAME)) for row in flat])
