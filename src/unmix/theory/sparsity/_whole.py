"""Counts of other models for a whole structure, from those of its connected parts."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from unmix.structure import Structure, triangular_edges

from ._counts import Count, joined
from ._directions import directions
from ._replacements import replacements

LARGEST = 12  # observed variables of a connected part whose sets are searched


@dataclass(frozen=True)
class Counts:
    """Of triangular models with independent latents, and of any models."""

    triangular: Count
    directions: Count
    exact: bool = False  # both
    complete: bool = False  # the latter


def count_models(structure: Structure) -> Counts | None:
    """Count part by part: data of different parts are independent; None if some part is not injective."""
    parts = []
    for rows, columns in _components(structure):
        part = Structure(structure.support[np.ix_(rows, columns)])
        if not part.is_injective():
            return None
        found = _searched(part) if len(rows) <= LARGEST else _bounded(part)
        parts.append(replace(found, triangular=found.triangular.named(rows, columns)))
    return _joined(parts)


def count_grouped(structure: Structure, groups: list[Any]) -> Counts | None:
    """Count edges between latents and groups, taking the groups of a part in order of size.

    Those seen so far bring in at most as many latents as numbers.
    """
    if not structure.is_injective():
        return None
    sizes, grouped = np.array([len(group) for group in groups]), structure.group(groups)
    parts = []
    for rows, columns in _components(grouped):
        edges = int(np.minimum(np.sort(sizes[rows]).cumsum(), len(columns)).sum())
        count = _at_most(edges - int(grouped.support[np.ix_(rows, columns)].sum()))
        parts.append(Counts(count, count))
    return _joined(parts)


def _joined(parts: Iterable[Counts]) -> Counts:
    parts = list(parts)
    triangular, any_latents = (
        joined(getattr(part, name) for part in parts) for name in ("triangular", "directions")
    )
    exact, complete = all(part.exact for part in parts), all(part.complete for part in parts)
    return Counts(triangular, any_latents, exact, complete)


def _searched(part: Structure) -> Counts:
    triangular, exact = replacements(part.support)
    return Counts(triangular, directions(part.support), exact, complete=True)


def _bounded(part: Structure) -> Counts:
    """Bound a large part by the full triangle, or by two latents where replacing these is as sparse.

    Replace z_i and z_j, which share a child, by a triangular model that begins with this child: it has an
    edge from each new latent to each child of either, but one. Or add a multiple of z_j to z_i such that x_k,
    a child of both, loses z_j: all other children of z_i become children of z_j.
    """
    x, n = part.shape
    own = np.diag(part.shared_children)[:, None] - part.shared_children  # (i, j): children of z_i, not of z_j
    apart = (part.shared_children == 0) | np.eye(n, dtype=bool)
    both, one = (np.where(apart, x * n, more) - 1 for more in (own + own.T, own))
    triangle, copies = triangular_edges(x, n) - part.n_edges, n + (x - n) * n - part.n_edges
    mixing = np.where(both < 0, x * n, both).min() + min(0, both.min())  # a block saves an edge
    triangular = replace(_at_most(triangle, both.min()), mixing=_at_most(triangle, mixing).other)
    return Counts(triangular, _at_most(copies, one.min()))


def _at_most(bound: int, pair: float = inf) -> Count:
    """Take the bound beyond the edges of the truth, or that of a pair which is as sparse."""
    fewest = min(bound, int(pair)) if pair <= 0 else bound
    return Count(min(0, fewest), fewest, mixing=fewest)


def _components(structure: Structure) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split a structure into connected parts (rows, columns) that have a latent."""
    x, n = structure.shape
    rows, columns = np.nonzero(structure.support)
    graph = csr_array((np.ones(len(rows)), (rows, x + columns)), shape=(x + n, x + n))
    count, label = connected_components(graph, directed=False)
    parts = [(np.flatnonzero(label[:x] == k), np.flatnonzero(label[x:] == k)) for k in range(count)]
    return [(rows, columns) for rows, columns in parts if len(columns)]
