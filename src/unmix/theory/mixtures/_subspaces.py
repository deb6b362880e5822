"""Subspaces and flats of R^n as orthonormal bases, compared up to an angle.

Everything a mixture's assumptions ask of its supports: intersections, sums, what lies in what, and a basis
that many subspaces share.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Flat:
    """The affine subspace `point` + span of `basis`, whose columns are orthonormal."""

    point: np.ndarray
    basis: np.ndarray


def off(basis: np.ndarray) -> np.ndarray:
    """Return the projector onto the orthogonal complement of a subspace."""
    return np.eye(len(basis)) - basis @ basis.T


def is_in(inner: np.ndarray, outer: np.ndarray, angle: float) -> bool:
    """Say whether a subspace is part of another, up to an angle."""
    return bool(inner.shape[1] <= outer.shape[1] and np.abs(off(outer) @ inner).max(initial=0.0) <= angle)


def span(vectors: np.ndarray, angle: float) -> np.ndarray:
    """Return an orthonormal basis of what the columns span; directions weaker than `angle` are dropped."""
    left, strengths, _ = np.linalg.svd(vectors, full_matrices=False)
    return left[:, strengths > angle]


def meet(flats: Sequence[Flat], angle: float) -> Flat | None:
    """Return the intersection of flats, or None where it is empty.

    Solves (I - U_j U_j') (c - p_j) = 0 for all j by least squares.

    Examples
    --------
    >>> axes = [Flat(np.zeros(2), np.eye(2)[:, [i]]) for i in range(2)]
    >>> meet(axes, 1e-4).point, meet(axes, 1e-4).basis.shape
    (array([0., 0.]), (2, 0))
    """
    equations = np.concatenate([_equations(flat) for flat in flats])
    # the same least squares, with n + 1 rows however many flats
    small = np.asarray(np.linalg.qr(equations, mode="r"))
    normals, heights = small[:, :-1], small[:, -1]
    left, strengths, right = np.linalg.svd(normals)
    rank = int((strengths > angle).sum())
    point = right[:rank].T @ ((left.T @ heights)[:rank] / strengths[:rank])
    if np.linalg.norm(normals @ point - heights) > angle * max(1.0, np.abs(point).max(initial=0.0)):
        return None
    return Flat(point, right[rank:].T)


def _equations(flat: Flat) -> np.ndarray:
    """Return (I - UU') and (I - UU') p, side by side."""
    normals = off(flat.basis)
    return np.column_stack([normals, normals @ flat.point])


def common(a: np.ndarray, b: np.ndarray, angle: float) -> np.ndarray:
    """Return the intersection of two subspaces."""
    origin = np.zeros(len(a))
    found = meet([Flat(origin, a), Flat(origin, b)], angle)
    return found.basis if found is not None else np.zeros((len(a), 0))


def is_distributive(a: np.ndarray, b: np.ndarray, c: np.ndarray, angle: float) -> bool:
    """Say whether a ∩ (b + c) = a ∩ b + a ∩ c: true for subspaces spanned by parts of one basis."""
    whole = common(a, span(np.hstack([b, c]), angle), angle)
    parts = span(np.hstack([common(a, b, angle), common(a, c, angle)]), angle)
    return whole.shape[1] == parts.shape[1]


def shared_basis(spaces: Sequence[np.ndarray], angle: float) -> np.ndarray | None:
    """Find a basis of R^n of which every given subspace is spanned by a part, or return None.

    A subspace W of the lattice that they generate brings in dim W less the dimension of all smaller ones
    in it. Only the at most n subspaces that bring in something are kept while generators are added one by
    one, so the lattice, which may be exponential, is never written down. If a shared basis exists, any choice
    of complements gives one; what is found is checked against every generator.

    Examples
    --------
    >>> lines = [np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]]), np.array([[0.6], [0.8]])]
    >>> np.abs(shared_basis(lines[:2], 1e-4))
    array([[1., 0.],
           [0., 1.]])
    >>> shared_basis(lines, 1e-4) is None
    True
    """
    members = [np.eye(len(spaces[0]))]
    for space in spaces:
        members = _irreducible([*members, *(common(member, space, angle) for member in members)], angle)
        if sum(piece.shape[1] for piece in _pieces(members, angle)) > len(space):
            return None
    basis = np.hstack(_pieces(members, angle))
    return basis if _spans_all(basis, spaces, angle) else None


def part_of(basis: np.ndarray, space: np.ndarray, angle: float) -> np.ndarray:
    """Say which columns of a basis lie in a subspace."""
    return np.abs(off(space) @ basis).max(0, initial=0.0) <= angle


def _irreducible(members: list[np.ndarray], angle: float) -> list[np.ndarray]:
    """Drop repeated subspaces and those that are the sum of smaller ones."""
    distinct: list[np.ndarray] = []
    for member in sorted(members, key=lambda space: space.shape[1]):
        if not any(_same(member, other, angle) for other in distinct):
            distinct.append(member)
    pieces = _pieces(distinct, angle)
    return [member for member, piece in zip(distinct, pieces, strict=True) if piece.shape[1]]


def _pieces(members: list[np.ndarray], angle: float) -> list[np.ndarray]:
    """For each subspace, a basis of the part that smaller ones in it do not reach."""
    return [_own(member, members, angle) for member in members]


def _own(member: np.ndarray, members: list[np.ndarray], angle: float) -> np.ndarray:
    smaller = [m for m in members if m.shape[1] < member.shape[1] and is_in(m, member, angle)]
    reached = span(np.hstack([np.zeros((len(member), 1)), *smaller]), angle)
    return span(off(reached) @ member, angle)


def _same(a: np.ndarray, b: np.ndarray, angle: float) -> bool:
    return a.shape[1] == b.shape[1] and is_in(a, b, angle)


def _spans_all(basis: np.ndarray, spaces: Sequence[np.ndarray], angle: float) -> bool:
    independent = np.linalg.matrix_rank(basis, tol=angle) == basis.shape[1]
    return bool(independent) and all(part_of(basis, v, angle).sum() == v.shape[1] for v in spaces)
