"""The dependency structure: which latent variable moves which observed variable."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from unmix._html import grid, panel

from ._checks import binary_matrix, indices_below, members, permutation_of
from ._matching import Match, countable, has_matching, match_columns
from ._storage import load, save
from ._threshold import cut, gap_threshold, relative_magnitudes

_LARGEST_GRID = (20, 60)


@dataclass(frozen=True, eq=False, repr=False)
class Structure:
    """A binary dependency structure S, with S_ij = 1 iff latent j moves observed variable i for some z.

    A value: frozen, hashable, compared by its support. Operators act on the set of edges: `&`, `|`, `-`, `^`,
    `~`, and `<=` for "is part of".

    Parameters
    ----------
    support : array-like of shape (n_observed, n_latents)
        Booleans, or numbers that are 0 or 1. Copied, and read-only from then on.
    margin : float, optional
        How clearly the support was read off magnitudes (see `from_jacobian`). Carried along, never compared.

    Attributes
    ----------
    support : ndarray of bool, shape (n_observed, n_latents)
    margin : float or None

    Examples
    --------
    >>> s = Structure([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    >>> s
    Structure(3 observed x 3 latents, 6 edges)
    ##.
    .##
    #.#
    >>> sorted(s.parents(0)), sorted(s.influence(0))
    ([0, 1], [0, 2])
    >>> sorted(s.latents([0, 1]) - s.latents([2]))
    [1]

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Definitions 1, 2 and 4, arXiv:2604.17568.
    """

    support: Any
    margin: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "support", binary_matrix(self.support))

    @property
    def shape(self) -> tuple[int, int]:
        """(n_observed, n_latents)."""
        return self.support.shape

    @property
    def n_observed(self) -> int:
        """Number of observed variables, the rows."""
        return self.shape[0]

    @property
    def n_latents(self) -> int:
        """Number of latent variables, the columns."""
        return self.shape[1]

    @property
    def n_edges(self) -> int:
        """The size of the support, |S|."""
        return int(self.support.sum())

    def __and__(self, other: "Structure") -> "Structure":
        return self._combine(other, np.logical_and)

    def __or__(self, other: "Structure") -> "Structure":
        return self._combine(other, np.logical_or)

    def __xor__(self, other: "Structure") -> "Structure":
        return self._combine(other, np.logical_xor)

    def __sub__(self, other: "Structure") -> "Structure":
        return self._combine(other, np.greater)

    def __invert__(self) -> "Structure":
        return Structure(~self.support)

    def __le__(self, other: "Structure") -> bool:
        return bool((self - other).n_edges == 0) if isinstance(other, Structure) else NotImplemented

    def __lt__(self, other: "Structure") -> bool:
        return self <= other and self != other if isinstance(other, Structure) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return np.array_equal(self.support, other.support) if isinstance(other, Structure) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.shape, np.packbits(self.support).tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.support, self.margin)  # a plain copy would come back writable

    def _repr_html_(self) -> str:
        shape = f"{self.n_observed} observed variables, {self.n_latents} latents, {self.n_edges} dependencies"
        return panel(f"Structure: {shape}", grid(self.support.tolist()))

    def __repr__(self) -> str:
        head = f"Structure({self.n_observed} observed x {self.n_latents} latents, {self.n_edges} edges)"
        if self.n_observed > _LARGEST_GRID[0] or self.n_latents > _LARGEST_GRID[1]:
            return head
        return "\n".join([head, *("".join(".#"[edge] for edge in row) for row in self.support.astype(int))])

    def parents(self, i: SupportsIndex) -> frozenset[int]:
        """Return I_i, the latents that move observed variable i."""
        return members(self.support[indices_below([i], self.n_observed, "i")[0]])

    def influence(self, j: SupportsIndex) -> frozenset[int]:
        """Return the children C_j, the observed variables that latent j moves."""
        return members(self.support[:, indices_below([j], self.n_latents, "j")[0]])

    def latents(self, rows: Iterable[SupportsIndex]) -> frozenset[int]:
        """Return I_A, the latents that move at least one of the observed variables in A (Definition 4)."""
        return members(self.support[indices_below(rows, self.n_observed, "rows")].any(0))

    def common_parents(self, rows: Iterable[SupportsIndex]) -> frozenset[int]:
        """Return the latents that move every one of the given observed variables; all of them for no rows."""
        return members(self.support[indices_below(rows, self.n_observed, "rows")].all(0))

    @cached_property
    def shared_children(self) -> np.ndarray:
        """G = S'S, so that G_ij counts the children that latents i and j share; shape (z, z), read-only."""
        edges = countable(self.support)
        counts = (edges.T @ edges).astype(np.int64)
        counts.flags.writeable = False
        return counts

    def contained(self) -> np.ndarray:
        """Return the containment preorder of latents: entry (i, j) is True iff C_i is a subset of C_j.

        C_i is part of C_j iff |C_i and C_j| = |C_i|. What a structure can identify, and what not, is a
        statement about this one relation.

        Returns
        -------
        ndarray of bool, shape (n_latents, n_latents)

        Examples
        --------
        >>> Structure([[1, 1], [0, 1]]).contained().astype(int)
        array([[1, 1],
               [0, 1]])
        """
        return self.shared_children == np.diag(self.shared_children)[:, None]

    def atoms(self) -> dict[frozenset[int], frozenset[int]]:
        """Return the non-empty regions of the Venn diagram of observed variables: children -> latents.

        Latents of one region share exactly the same children; no set operation on observed variables can tell
        them apart.

        Examples
        --------
        >>> Structure([[1, 1, 1], [0, 0, 1]]).atoms()
        {frozenset({0}): frozenset({0, 1}), frozenset({0, 1}): frozenset({2})}
        """
        regions: dict[frozenset[int], set[int]] = {}
        for j in range(self.n_latents):
            regions.setdefault(self.influence(j), set()).add(j)
        return {children: frozenset(members) for children, members in regions.items()}

    def permute(self, order: Iterable[SupportsIndex]) -> "Structure":
        """Relabel the latents: column j of the result is column `order[j]`."""
        return Structure(self.support[:, permutation_of(order, self.n_latents)], margin=self.margin)

    def permute_rows(self, order: Iterable[SupportsIndex]) -> "Structure":
        """Reorder the observed variables: row i of the result is row `order[i]`."""
        return Structure(self.support[permutation_of(order, self.n_observed)], margin=self.margin)

    def group(self, groups: Iterable[Iterable[SupportsIndex]]) -> "Structure":
        """Take each group of observed variables (a patch, a view, a modality) as one variable.

        Parameters
        ----------
        groups : iterable of iterables of int
            A partition of the observed variables; row k of the result is the union of the rows of group k.
        """
        parts = [indices_below(rows, self.n_observed, "groups") for rows in groups]
        if sorted(i for part in parts for i in part) != list(range(self.n_observed)) or not all(parts):
            raise ValueError(
                f"`groups` must hold each observed variable 0 to {self.n_observed - 1} exactly once, "
                f"got {parts}. Give every variable a group, if need be a group of its own."
            )
        return Structure([self.support[part].any(0) for part in parts], margin=self.margin)

    def match(self, other: "Structure") -> Match:
        """Find the relabelling of `other` that is closest to this structure (exact, by assignment).

        Returns
        -------
        Match
            `order` (so that `other.permute(order)` is closest to this structure) and `distance`.

        Examples
        --------
        >>> s = Structure([[1, 0], [1, 1], [0, 1]])
        >>> s.match(s.permute([1, 0]))
        Match(order=(1, 0), distance=0)
        """
        self._check_shape(other)
        return match_columns(self.support, other.support)

    def hamming(self, other: "Structure") -> int:
        """Count the entries in which two structures differ under the best relabelling of latents."""
        return self.match(other).distance

    def is_injective(self) -> bool:
        """Say whether every latent can be given an observed variable of its own among its children.

        Then, and only then, a generic Jacobian with this support has full column rank.
        """
        return has_matching(self.support)

    @classmethod
    def from_jacobian(
        cls, J: ArrayLike, threshold: float | None = None, *, latent_scale: ArrayLike | None = None
    ) -> "Structure":
        """Read a structure off samples of a decoder's Jacobian.

        The relative magnitude R_ij = E|J_ij| scale_j / max_k (E|J_ik| scale_k) is compared with a threshold.
        `margin` of the result is the smallest magnitude kept over the largest dropped: the further above 1,
        the clearer; infinite when everything dropped is exactly zero.

        Parameters
        ----------
        J : array-like of shape (n, n_observed, n_latents) or (n_observed, n_latents)
        threshold : float in [0, 1), optional
            Edges are the entries with R_ij > threshold. By default the middle of the widest gap in the sorted
            log-magnitudes within [0.02, 0.5].
        latent_scale : array-like of shape (n_latents,), optional
            Standard deviation of each latent, so that the answer does not depend on the units of latents.

        Examples
        --------
        >>> Structure.from_jacobian([[2.0, 0.02], [0.9, -1.0]])
        Structure(2 observed x 2 latents, 3 edges)
        #.
        ##
        """
        magnitudes = relative_magnitudes(J, latent_scale)
        if threshold is not None and not 0 <= threshold < 1:
            raise ValueError(
                f"`threshold` must be in [0, 1), got {threshold}. It is relative to the row's maximum."
            )
        kept, margin = cut(magnitudes, gap_threshold(magnitudes) if threshold is None else threshold)
        return cls(kept, margin=margin)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Structure":
        """Read a structure from a .csv (with or without header and row labels), .npy or .json file."""
        support, margin = load(path)
        return cls(support, margin=margin)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the structure to a .csv, .npy or .json file, atomically; JSON also keeps the margin."""
        return save(path, self.support, self.margin)

    def _combine(self, other: "Structure", operation: np.ufunc) -> Any:
        if not isinstance(other, Structure):
            return NotImplemented
        self._check_shape(other)
        return Structure(operation(self.support, other.support))

    def _check_shape(self, other: "Structure") -> None:
        if self.shape != other.shape:
            raise ValueError(
                f"`other` must have shape {self.shape}, got {other.shape}. Compare like with like."
            )


def _restore(support: np.ndarray, margin: float | None) -> Structure:
    return Structure(support, margin=margin)
