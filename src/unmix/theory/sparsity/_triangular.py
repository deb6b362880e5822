"""The triangular alternative: models that fit any data, and may be as sparse as the truth."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import isinf
from typing import Any, SupportsIndex

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from unmix.structure import Structure, triangular_edges

from .._certificate import ANSWER, Certificate, assumed, attributes, checked_structure
from ._orderings import LARGEST, Count, search

FAITHFUL = (
    "faithfulness: models of another kind that fit as sparsely are excluded by Assumption 1, second half"
)


@dataclass(frozen=True)
class TriangularAlternative:
    """How sparse models are that fit data of this structure without knowing it; see `triangular_alternative`.

    Truthy iff the structure is certain to be sparser than all of these, so that sparsity alone excludes them.

    Attributes
    ----------
    structure : Structure
    independent_latents : bool
    edges : int or None
        Edges of the sparsest triangular model with independent latents that has fewer edges than the
        structure or mixes latents which it separates; None where there is none, or it can't be counted.
    copy_edges : int or None
        The same for models whose latents are some of the observed variables themselves; these are dependent,
        so that such a model counts only where latents may be.
    exact : bool
        Whether both are minima over all orderings. Otherwise they are bounds from above.
    order : tuple of int
        Observed variables of a connected part, in an order that needs no more edges; empty where nothing was
        counted.
    """

    structure: Structure
    independent_latents: bool
    edges: int | None
    copy_edges: int | None
    exact: bool
    order: tuple[int, ...]

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
        return False if self.exact else None

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
        assumes = () if self else (FAITHFUL,)
        return (Certificate(theorem, bool(self), assumes, self.reasons),)

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
            return ("a count over all orderings, which takes too long at this size",)
        return ("fewer edges per observed variable, or more observed variables",)

    def __str__(self) -> str:
        found = self.certificates[0]
        return f"{found.verdict}\n{self.identifies}\n{assumed(found.assumes)}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        counted = ("independent_latents", "edges", "copy_edges", "exact", "as_sparse", "order")
        return {"n_edges": self.structure.n_edges} | attributes(self, *counted, *ANSWER)


def triangular_alternative(
    structure: Structure,
    *,
    independent_latents: bool = False,
    groups: Iterable[Iterable[SupportsIndex]] | None = None,
) -> TriangularAlternative:
    """Count the edges of models that fit data of this structure whatever the truth is.

    Any density of n numbers is that of a triangular map of n independent normals, in every order of the
    numbers (Knothe, Rosenblatt); where latents may be dependent, n observed variables may even serve as
    latents themselves. If such a model has at most as many edges as the truth, a sparse fit may be that model
    instead, and what is concluded from sparsity rests on the faithfulness assumption that excludes it.
    Orderings that recover the truth, or mix along its structure no more than the theorems leave open, do no
    harm and are not counted. Neither are models that replace some latents only, say one by an observed
    variable: faithfulness stays an assumption, and a mild one where the structure is sparser.

    The count is for generic mixing of independent latents: edges that are missing in the triangular model
    need independences between observed variables, and generic mixing has only those its structure implies. It
    is the minimum over all orderings for linear Gaussian mixing, and a bound from below for nonlinear mixing,
    if every connected part has at most 12 observed variables. For larger parts it is a bound from above,
    n (n + 1) / 2 + (x - n) n.

    Parameters
    ----------
    structure : Structure
    independent_latents : bool
        Compare with models of independent latents only.
    groups : iterable of iterables of int, optional
        Groups of observed variables that count as one; then the bound is given.

    Returns
    -------
    TriangularAlternative

    Examples
    --------
    >>> found = triangular_alternative(Structure([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), independent_latents=True)
    >>> found.edges, found.exact, bool(found)
    (6, True, False)

    References
    ----------
    Rosenblatt (1952), Remarks on a multivariate transformation; Knothe (1957), Contributions to the theory of
    convex bodies. Sullivant, Talaska and Draisma (2010), Trek separation for Gaussian graphical models, for
    which partial covariances vanish, arXiv:0812.1938.
    """
    checked_structure(structure)
    if groups is not None:
        return _grouped(structure, [list(group) for group in groups], independent_latents)
    counted = [(rows, *_part(structure.support[np.ix_(rows, j)])) for rows, j in _components(structure)]
    parts = [(rows, counts) for rows, counts, _ in counted if counts is not None]
    if len(parts) < len(counted):
        return TriangularAlternative(structure, independent_latents, None, None, False, ())
    triangular = _joined([(rows, counts[0]) for rows, counts in parts])
    copies = _joined([(rows, counts[1]) for rows, counts in parts])
    return TriangularAlternative(
        structure,
        independent_latents,
        edges=None if isinf(triangular.other) else int(triangular.other),
        copy_edges=None if isinf(copies.other) else int(copies.other),
        exact=all(exact for _, _, exact in counted),
        order=triangular.order,
    )


def _joined(parts: list[tuple[np.ndarray, Count]]) -> Count:
    """Depart from the truth in the part where that costs least, and take the rest as sparse as it can be."""
    least = sum(count.least for _, count in parts)
    rows, part = min(parts, key=lambda each: each[1].other - each[1].least)
    order = tuple(int(rows[k]) for k in part.order)
    return Count(least, least + part.other - part.least, order)


def _part(support: np.ndarray) -> tuple[tuple[Count, Count] | None, bool]:
    """Count in one connected part, and say whether the count is exact."""
    x, n = support.shape
    if x <= LARGEST:
        return search(support), True
    if not Structure(support).is_injective():
        return None, False
    bounds = triangular_edges(x, n), n + (x - n) * n
    return (Count(bounds[0], bounds[0]), Count(bounds[1], bounds[1])), False


def _components(structure: Structure) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split a structure into connected parts (rows, columns): data of different parts are independent."""
    x, n = structure.shape
    rows, columns = np.nonzero(structure.support)
    graph = csr_array((np.ones(len(rows)), (rows, x + columns)), shape=(x + n, x + n))
    count, label = connected_components(graph, directed=False)
    parts = [(np.flatnonzero(label[:x] == k), np.flatnonzero(label[x:] == k)) for k in range(count)]
    return [(rows, columns) for rows, columns in parts if len(columns)]


def _grouped(structure: Structure, groups: list[Any], independent: bool) -> TriangularAlternative:
    """Take groups in order of size: those seen so far bring in at most as many latents as numbers."""
    joined = structure.group(groups)
    if not structure.is_injective():
        return TriangularAlternative(joined, independent, None, None, False, ())
    sizes = np.sort([len(group) for group in groups])
    edges = int(np.minimum(sizes.cumsum(), structure.n_latents).sum())
    return TriangularAlternative(joined, independent, edges, edges, False, ())


def _counts(found: TriangularAlternative) -> Iterable[str]:
    at_most = "" if found.exact else "at most "
    if found.edges is None:
        yield "no triangular (Knothe-Rosenblatt) model tells of other latents"
    else:
        yield (
            f"a triangular (Knothe-Rosenblatt) model with other latents fits with {at_most}{found.edges} "
            f"edges, and this structure has {found.structure.n_edges}"
        )
    if not found.independent_latents and found.copy_edges is not None:
        yield (
            f"one whose latents are {found.structure.n_latents} of the observed variables themselves fits "
            f"with {at_most}{found.copy_edges}, if latents may be dependent"
        )
    if found.order:
        yield f"an order that needs so few: {', '.join(f'x{row}' for row in found.order)}"
    if found.as_sparse is None:
        yield f"there may be sparser ones: orderings are searched up to {LARGEST} connected variables"
