"""The triangular alternative: models that fit any data, and may be as sparse as the truth."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import isinf
from typing import Any, SupportsIndex

from unmix.structure import Structure

from .._certificate import ANSWER, Certificate, assumed, attributes, checked_structure, names
from ._replacements import BUDGET
from ._whole import LARGEST, count_grouped, count_models

FAITHFUL = (
    "faithfulness: models of another kind that fit as sparsely are excluded by Assumption 1, second half"
)
GENERIC = "generic mixing: nothing cancels that the structure does not make cancel"


@dataclass(frozen=True)
class TriangularAlternative:
    """How sparse models are that fit data of this structure with other latents; see `triangular_alternative`.

    Truthy iff the structure is certain to be sparser than all of these, so that sparsity alone excludes them.

    Attributes
    ----------
    structure : Structure
    independent_latents : bool
    edges : int or None
        Edges of the sparsest model of independent latents, some or all of them those of a triangular model
        and the others as they are, that has fewer edges than the structure or mixes latents which it
        separates; None where there is none, or it can't be counted.
    copy_edges : int or None
        The same for models whose latents are observed variables or any other directions in place of some or
        all latents; these are dependent, so that such a model counts only where latents may be.
    exact : bool
        Whether both are minima, `edges` over all sets of latents and all orderings. Otherwise they are bounds
        from above.
    complete : bool
        Whether all linear models were compared for `copy_edges`: if none of these is as sparse, nothing is.
    order : tuple of int
        Observed variables in an order whose triangular model has `edges`; empty where only a bound is known.
    replaced : tuple of int
        The latents in place of which this model stands.
    mixing_edges : int or None
        As `edges`, at most, of models that mix latents which the structure separates, or replace all latents
        of a connected part. Models that are sparser since they turn latents of one block are not of these,
        but the edges that they save are taken off.
    """

    structure: Structure
    independent_latents: bool
    edges: int | None
    copy_edges: int | None
    exact: bool
    complete: bool = False
    order: tuple[int, ...] = ()
    replaced: tuple[int, ...] = ()
    mixing_edges: int | None = None

    @property
    def fewest(self) -> int | None:
        """The number of edges to stay below."""
        copies = None if self.independent_latents else self.copy_edges
        return min((count for count in (self.edges, copies) if count is not None), default=None)

    @property
    def as_sparse(self) -> bool | None:
        """Whether such a model has at most as many edges as the structure; None where that is not known."""
        if self.fewest is not None and self.fewest <= self.structure.n_edges:
            return True
        return False if self.exact or self._matchless else None

    @property
    def _matchless(self) -> bool:
        """Whether no model of whatever kind is as sparse."""
        return self.complete and (self.copy_edges is None or self.copy_edges > self.structure.n_edges)

    def __bool__(self) -> bool:
        return self.as_sparse is False

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """The counts, in words."""
        if self.edges is None and not self.exact:
            return (
                "with fewer observed numbers than latents the triangular alternative cannot be counted, and "
                "sparsity alone may not single out the truth",
            )
        return tuple(_counts(self))

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """One certificate: the structure is sparser than what fits any data."""
        theorem = "Sparsity alone excludes triangular and copying models"
        return (Certificate(theorem, bool(self), self._assumes, self.reasons),)

    @property
    def _assumes(self) -> tuple[str, ...]:
        """Faithfulness excludes what was counted and is as sparse, and what can't be counted."""
        return (GENERIC,) if self._matchless else (GENERIC, FAITHFUL)

    @property
    def identifies(self) -> str:
        """What the comparison is good for."""
        if self:
            return "No triangular or copying model is as sparse as the structure, so sparsity speaks for it."
        return "Nothing by sparsity alone: every guarantee rests on faithfulness (Assumption 1, second half)."

    @property
    def missing(self) -> tuple[str, ...]:
        """What would make the comparison come out well."""
        if self:
            return ()
        if self.edges is None and not self.exact:
            return ("at least as many observed numbers as latents, and their structure",)
        if self.as_sparse is None:
            return ("a count over all orderings for all sets of latents, which takes too long at this size",)
        return ("fewer edges per observed variable, or more observed variables",)

    def __str__(self) -> str:
        found = self.certificates[0]
        return f"{found.verdict}\n{self.identifies}\n{assumed(found.assumes)}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        counted = (
            "independent_latents",
            "edges",
            "copy_edges",
            "exact",
            "complete",
            "as_sparse",
            "order",
            "replaced",
            "mixing_edges",
        )
        return {"n_edges": self.structure.n_edges} | attributes(self, *counted, *ANSWER)


def triangular_alternative(
    structure: Structure,
    *,
    independent_latents: bool = False,
    groups: Iterable[Iterable[SupportsIndex]] | None = None,
) -> TriangularAlternative:
    """Count the edges of models that fit data of this structure with other latents.

    Any density of n numbers is that of a triangular map of n independent normals, in every order of the
    numbers (Knothe, Rosenblatt). This holds of x, and of x given some of the latents: so for every set S of
    latents there are models in which the latents outside of S stay, with their columns, and a triangular
    model takes the place of S. Where latents may be dependent, observed variables may serve as latents
    themselves, or any other directions, in place of one latent, some or all. If such a model has at most as
    many edges as the truth, a sparse fit may be that model instead, and what is concluded from sparsity rests
    on the faithfulness assumption that excludes it. Models that recover the truth, or mix along its structure
    no more than the theorems leave open, do no harm and are not counted.

    What is counted exactly, if each connected part has at most 12 observed variables and not too many
    connected sets of latents (never too many for 12 x 6):

    - with independent latents, every set S in every order of observed variables, for linear mixing of
      Gaussian latents with generic weights: an edge is missing where observed variables are independent given
      others, and generic mixing has only those independences that its structure implies;
    - with dependent latents, every linear model, for linear mixing with generic weights.

    For nonlinear mixing both are bounds from below. The first since it has no more independences; the second
    since a model of any kind looks like a linear one at a point where the Jacobian is generic. So a structure
    that is sparser than all linear models is sparser than all there are, with independent latents or not.
    Where it is sparser only than triangular models, and latents are independent, there may be rotations that
    are triangular for no set S, and nonlinear maps of other kinds: that none of these is as sparse stays an
    assumption. For larger parts the count is a bound from above: n (n + 1) / 2 + (x - n) n, or two latents
    replaced where that is as sparse as the structure.

    Parameters
    ----------
    structure : Structure
    independent_latents : bool
        Compare with models of independent latents only.
    groups : iterable of iterables of int, optional
        Groups of observed variables that count as one; then a bound from above is given.

    Returns
    -------
    TriangularAlternative

    Examples
    --------
    >>> found = triangular_alternative(Structure([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), independent_latents=True)
    >>> found.edges, found.exact, bool(found)
    (6, True, False)

    A nested pair is not excluded, whatever it stands beside:

    >>> joined = Structure([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]])
    >>> found = triangular_alternative(joined, independent_latents=True)
    >>> found.edges, joined.n_edges, found.replaced
    (6, 6, (0, 1))

    References
    ----------
    Rosenblatt (1952), Remarks on a multivariate transformation; Knothe (1957), Contributions to the theory of
    convex bodies. Sullivant, Talaska and Draisma (2010), Trek separation for Gaussian graphical models, for
    which partial covariances vanish, arXiv:0812.1938.
    """
    checked_structure(structure)
    listed = None if groups is None else [list(group) for group in groups]
    counts = count_models(structure) if listed is None else count_grouped(structure, listed)
    counted = structure if listed is None else structure.group(listed)
    if counts is None:
        return TriangularAlternative(counted, independent_latents, None, None, False)
    return TriangularAlternative(
        counted,
        independent_latents,
        edges=_edges(counted, counts.triangular.other),
        copy_edges=_edges(counted, counts.directions.other),
        exact=counts.exact,
        complete=counts.complete,
        order=counts.triangular.order,
        replaced=tuple(sorted(counts.triangular.latents)),
        mixing_edges=_edges(counted, counts.triangular.mixing),
    )


def _edges(structure: Structure, beyond: float) -> int | None:
    return None if isinf(beyond) else structure.n_edges + int(beyond)


def _counts(found: TriangularAlternative) -> Iterable[str]:
    at_most = "" if found.exact else "at most "
    if found.edges is None:
        yield "no triangular (Knothe-Rosenblatt) model tells of other latents"
    else:
        order, instead = ", ".join(f"x{row}" for row in found.order), names(found.replaced)
        how = f" (in the order {order}, in place of {instead})" if order else ""
        yield (
            f"a triangular (Knothe-Rosenblatt) model with other latents{how} fits with "
            f"{at_most}{found.edges} edges, and this structure has {found.structure.n_edges}"
        )
    if not found.independent_latents and found.copy_edges is not None:
        yield (
            "one with observed variables themselves or other directions in place of some latents fits "
            f"with {at_most}{found.copy_edges}, if latents may be dependent"
        )
    if found.as_sparse is None:
        yield (
            "there may be sparser ones: all orderings for all sets of latents are searched only up to "
            f"{LARGEST} connected variables and {BUDGET:,} steps"
        )
