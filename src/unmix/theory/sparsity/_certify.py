"""What a dependency structure identifies, latent by latent."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np

from unmix._html import told
from unmix.structure import Structure

from .._certificate import ANSWER, Certificate, attributes, checked_structure, names, positions
from ._diversity import clauses_met, witness
from ._theorems import certificates
from ._triangular import TriangularAlternative, triangular_alternative
from ._wording import identified, latent_reasons, notes, summary, wanted

Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class StructureCertificate:
    """What sparsity of dependencies identifies, given a structure; see `certify`.

    Truthy iff every latent is identified alone. `str()` is a report.

    Attributes
    ----------
    structure : Structure
        Of groups, where groups of observed variables were given.
    independent_latents : bool
        Whether latents were taken to be independent, in truth and in the estimated model.
    blocks : tuple of frozenset of int
        Groups of latents with the same children; no set operation tells their members apart.
    may_depend : ndarray of bool, shape (n_latents, n_latents)
        Entry (i, j): z_i may still depend on the estimate of z_j. What is False is guaranteed. The diagonal
        is True.
    separated_in_paper : ndarray of bool, shape (n_latents, n_latents)
        Entry (i, j): Definition 5 of the paper separates z_i from the estimate of z_j. Wider than what can be
        proved when latents may be dependent: never read it as a guarantee.
    clauses : tuple of frozenset of int
        For each latent, the clauses (1, 2, 3) of sufficient diversity that it meets.
    levels : tuple of str
        For each latent "element" (identified alone), "element if independent" or "block". A "block" that is
        identified not at all is also in `unidentified`.
    numbers : Structure
        The structure before grouping.
    groups : tuple of tuples of int, or None
    """

    structure: Structure
    independent_latents: bool
    blocks: tuple[frozenset[int], ...]
    may_depend: np.ndarray
    separated_in_paper: np.ndarray
    clauses: tuple[frozenset[int], ...]
    levels: tuple[str, ...]
    numbers: Structure
    groups: Groups | None = None

    def __bool__(self) -> bool:
        return set(self.levels) == {"element"}

    def __str__(self) -> str:
        return summary(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return told(str(self), bool(self))

    @cached_property
    def unidentified(self) -> frozenset[int]:
        """Latents of which nothing is known: part of a block, and free to depend on every estimate."""
        nothing = self.may_depend.all(1) & (np.array(self.levels) == "block")
        return frozenset(np.flatnonzero(nothing).tolist())

    @cached_property
    def alternative(self) -> TriangularAlternative:
        """Models of another kind that fit such data, and whether they are as sparse."""
        return triangular_alternative(
            self.numbers, independent_latents=self.independent_latents, groups=self.groups
        )

    @property
    def sparser_than_triangular(self) -> bool:
        """Whether the structure has fewer edges than any triangular model with other latents.

        A model that only turns latents of one block, of which nothing more is said, is none; see
        `TriangularAlternative.mixing_edges`. Where models were not counted over all sets of latents and all
        orderings, the bound stands for them.
        """
        edges, exact = self.alternative.mixing_edges, self.alternative.exact
        return exact if edges is None else self.structure.n_edges < edges

    @cached_property
    def witnesses(self) -> tuple[dict[int, frozenset[int]], ...]:
        """For each latent, clause -> the set A of observed variables with which it is met."""
        return tuple(
            {clause: witness(self.structure, latent, clause) for clause in sorted(met)}
            for latent, met in enumerate(self.clauses)
        )

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """One sentence per latent, in order; then what concerns the structure as a whole."""
        return latent_reasons(self) + notes(self)

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """The theorems that speak about this structure, each with what it assumes."""
        return certificates(self)

    @cached_property
    def identifies(self) -> str:
        """One sentence: what is identified, up to what."""
        return identified(self)

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """What would have to hold for more."""
        return wanted(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        relations = ("structure", "independent_latents", "blocks", "may_depend", "separated_in_paper")
        verdicts = ("clauses", "witnesses", "levels", "unidentified", "groups", "sparser_than_triangular")
        before = attributes(self, *relations, *verdicts)
        return before | {"triangular": self.alternative.to_dict()} | attributes(self, *ANSWER)


def certify(
    structure: Structure,
    *,
    independent_latents: bool = False,
    groups: Iterable[Iterable[SupportsIndex]] | None = None,
) -> StructureCertificate:
    """Say which latents a dependency structure identifies, up to what, and by which argument.

    If the estimated model fits the data with a decoder at most as sparse as the truth, then z_i is a function
    of the estimates of those z_j only whose children contain the children of z_i. Nothing stronger holds
    without more assumptions: a shear along any such pair fits as well and is as sparse. If latents are
    independent, in truth and in the estimated model, a latent whose children differ from every other's is
    identified alone; latents with the same children may still depend on those above them.

    Parameters
    ----------
    structure : Structure
        Of the truth or, since the structure is itself identified up to relabelling, of a fitted decoder.
        Every latent must have a child.
    independent_latents : bool
        Take latents to be mutually independent, in truth and in the estimated model.
    groups : iterable of iterables of int, optional
        A partition of the observed variables; each group (a patch, a view, a modality) counts as one. The
        answer is that of `structure.group(groups)`, and observed variables are then groups.

    Returns
    -------
    StructureCertificate

    Examples
    --------
    >>> certificate = certify(Structure([[1, 1], [0, 1], [0, 1]]))
    >>> certificate.levels
    ('element if independent', 'element')
    >>> certificate.may_depend.astype(int)
    array([[1, 1],
           [0, 1]])
    >>> certify(certificate.structure, independent_latents=True).levels
    ('element', 'element')
    >>> certify(certificate.structure, groups=[[0, 1], [2]]).levels
    ('element if independent', 'element')

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Theorems 1 to 3, Definition 5, Assumption 2,
    arXiv:2604.17568.
    """
    check_children(structure)
    parts = None if groups is None else tuple(positions(group, "groups") for group in groups)
    numbers, structure = structure, structure if parts is None else structure.group(parts)
    contained = structure.contained()
    same = contained & contained.T
    unique = same.sum(1) == 1
    may_depend = _may_depend(contained, unique & independent_latents)
    return StructureCertificate(
        structure=structure,
        independent_latents=independent_latents,
        blocks=_blocks(same),
        may_depend=_read_only(may_depend),
        separated_in_paper=_read_only(~same),  # Definition 5 over all A, B: some case applies iff C_i != C_j
        clauses=tuple(frozenset((np.flatnonzero(met) + 1).tolist()) for met in clauses_met(structure)),
        levels=_levels(may_depend, unique),
        numbers=numbers,
        groups=parts,
    )


def _may_depend(contained: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """Allow dz_i / dẑ_j only if C_i is part of C_j (proof of Theorem 1), and never if z_i is known alone."""
    return np.where(alone[:, None], np.eye(len(contained), dtype=bool), contained)


def _levels(may_depend: np.ndarray, unique: np.ndarray) -> tuple[str, ...]:
    alone = may_depend.sum(1) == 1
    otherwise = np.where(unique, "element if independent", "block")
    return tuple(np.where(alone, "element", otherwise).tolist())


def _blocks(same: np.ndarray) -> tuple[frozenset[int], ...]:
    first = same.argmax(1)  # the first latent with the same children stands for the block
    return tuple(frozenset(np.flatnonzero(same[j]).tolist()) for j in np.unique(first))


def check_children(structure: Structure) -> None:
    """Refuse a structure with a latent that moves nothing."""
    childless = np.flatnonzero(~checked_structure(structure).support.any(0))
    if len(childless):
        raise ValueError(
            f"`structure` must give every latent a child, got none for {names(childless.tolist())}. "
            "No data can tell about such a latent: drop its column."
        )


def _read_only(matrix: np.ndarray) -> np.ndarray:
    matrix.flags.writeable = False
    return matrix
