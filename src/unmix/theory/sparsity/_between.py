"""Two sets of observed variables: what they share, what is private, and what of it is guaranteed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np

from unmix.structure import Structure

from .._certificate import Certificate, assumed, attributes, names, positions
from ._certify import StructureCertificate, certify
from ._theorems import assumptions

_PARTS = ("intersection", "union", "symmetric_difference", "only_a", "only_b")
_SETS = ("a", "b", "latents_a", "latents_b", "neither", *_PARTS)


@dataclass(frozen=True)
class Between:
    """The latents behind two sets A, B of observed variables, and which parts are separated; see `between`.

    Truthy iff every guarantee holds.

    Attributes
    ----------
    a, b : frozenset of int
        Observed variables.
    latents_a, latents_b : frozenset of int
        I_A and I_B, the latents that move them.
    intersection, union, only_a, only_b, symmetric_difference : frozenset of int
    neither : frozenset of int
        Latents that move neither set.
    guarantees : tuple of Certificate
        Cases (i) to (iii) of Definition 5, and the parts of Proposition 1.
    """

    a: frozenset[int]
    b: frozenset[int]
    latents_a: frozenset[int]
    latents_b: frozenset[int]
    neither: frozenset[int]
    guarantees: tuple[Certificate, ...]

    @property
    def intersection(self) -> frozenset[int]:
        """I_A and I_B: what both sets share."""
        return self.latents_a & self.latents_b

    @property
    def union(self) -> frozenset[int]:
        """I_A or I_B: what moves either."""
        return self.latents_a | self.latents_b

    @property
    def only_a(self) -> frozenset[int]:
        """I_A without I_B."""
        return self.latents_a - self.latents_b

    @property
    def only_b(self) -> frozenset[int]:
        """I_B without I_A."""
        return self.latents_b - self.latents_a

    @property
    def symmetric_difference(self) -> frozenset[int]:
        """What moves one set and not the other."""
        return self.latents_a ^ self.latents_b

    @property
    def atomic_regions(self) -> dict[str, frozenset[int]]:
        """The non-empty regions of the Venn diagram of I_A and I_B, as set expressions."""
        regions = {
            "A & B": self.intersection,
            "A - B": self.only_a,
            "B - A": self.only_b,
            "~(A | B)": self.neither,
        }
        return {expression: latents for expression, latents in regions.items() if latents}

    def __bool__(self) -> bool:
        return all(self.guarantees)

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """The guarantees."""
        return self.guarantees

    @property
    def reasons(self) -> tuple[str, ...]:
        """What is left mixed, guarantee by guarantee."""
        return tuple(guarantee.verdict for guarantee in self.guarantees if not guarantee)

    @property
    def identifies(self) -> str:
        """One sentence: what of the two sets is identified, up to what."""
        always = "I_A, I_B, what they share and their union are identified as blocks"
        if self:
            return f"{always}, and so is what each has alone."
        return f"{always}; what one has alone may be mixed with what both share."

    @property
    def missing(self) -> tuple[str, ...]:
        """What would have to hold for more."""
        if self:
            return ()
        return ("independent latents, and no two of them with the same children, in what one set has alone",)

    def __str__(self) -> str:
        parts = {"shared": self.intersection, "only A": self.only_a, "only B": self.only_b}
        head = f"A = {{{names(self.a, 'x')}}}, B = {{{names(self.b, 'x')}}}."
        sets = "; ".join(f"{part}: {names(latents) or 'nothing'}" for part, latents in parts.items())
        verdicts = [f"- {guarantee.verdict}" for guarantee in self.guarantees]
        return "\n".join([f"{head} Latents: {sets}.", *verdicts, assumed(self.guarantees[0].assumes)])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return attributes(self, *_SETS, "atomic_regions", "identifies", "missing", "reasons", "guarantees")


def between(
    structure: Structure,
    a: Iterable[SupportsIndex],
    b: Iterable[SupportsIndex],
    *,
    independent_latents: bool = False,
    groups: Iterable[Iterable[SupportsIndex]] | None = None,
) -> Between:
    """Say what two sets of observed variables share and do not share, and which of these parts are separated.

    Parameters
    ----------
    structure : Structure
    a, b : iterables of int
        Observed variables, at least one each: two views, two regions of an image, two modalities.
    independent_latents : bool
        Take latents to be mutually independent, in truth and in the estimated model.
    groups : iterable of iterables of int, optional
        A partition of the observed variables into groups that count as one; `a` and `b` then number groups.

    Returns
    -------
    Between

    Examples
    --------
    >>> found = between(Structure([[1, 1, 0], [0, 1, 1]]), [0], [1])
    >>> sorted(found.intersection), sorted(found.only_a), sorted(found.only_b)
    ([1], [0], [2])
    >>> print(found.guarantees[1])
    Separation of the symmetric difference from the estimated intersection (Definition 5 ii) fails: z0 may
    depend on the estimate of z1; ...

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Definition 5 and Proposition 1, arXiv:2604.17568.
    """
    certificate = certify(structure, independent_latents=independent_latents, groups=groups)
    structure = certificate.structure
    a, b = members_of(a, "a"), members_of(b, "b")
    i_a, i_b = structure.latents(a), structure.latents(b)
    shared, differing, only_a, only_b = i_a & i_b, i_a ^ i_b, i_a - i_b, i_b - i_a
    claims = (
        ("the intersection from the estimated symmetric difference (Definition 5 i)", shared, differing),
        ("the symmetric difference from the estimated intersection (Definition 5 ii)", differing, shared),
        ("what is only in A from the estimate of what is only in B (Definition 5 iii)", only_a, only_b),
        ("what is only in B from the estimate of what is only in A (Definition 5 iii)", only_b, only_a),
        ("A from the estimate of what is only in B (Proposition 1, object-centric)", i_a, only_b),
        ("B from the estimate of what is only in A (Proposition 1, object-centric)", i_b, only_a),
        ("what is only in A from the estimate of B (Proposition 1, individual-centric)", only_a, i_b),
        ("what is only in B from the estimate of A (Proposition 1, individual-centric)", only_b, i_a),
    )  # the shared-centric part of Proposition 1 is Definition 5 (i)
    guarantees = tuple(_separation(certificate, *claim) for claim in claims)
    neither = frozenset(range(structure.n_latents)) - i_a - i_b
    return Between(a, b, i_a, i_b, neither, guarantees)


def _separation(
    certificate: StructureCertificate, claim: str, targets: frozenset[int], sources: frozenset[int]
) -> Certificate:
    """z_i, i in targets, is no function of ẑ_j, j in sources, iff no such entry of `may_depend` is True."""
    i, j = sorted(targets), sorted(sources)
    pairs = np.argwhere(certificate.may_depend[np.ix_(i, j)])
    mixed = [f"z{i[row]} may depend on the estimate of z{j[column]}" for row, column in pairs[:3].tolist()]
    more = [f"and {len(pairs) - 3} more pairs"] if len(pairs) > 3 else []
    empty = () if i and j else ("one of the two sets is empty",)
    reasons = (*empty, *mixed, *more)
    return Certificate(f"Separation of {claim}", not len(pairs), assumptions(certificate), reasons)


def members_of(rows: Iterable[SupportsIndex], name: str) -> frozenset[int]:
    """Return the observed variables of a set, which must have some."""
    found = frozenset(positions(rows, name))
    if not found:
        raise ValueError(f"`{name}` must name at least one observed variable, got none. Add one.")
    return found
