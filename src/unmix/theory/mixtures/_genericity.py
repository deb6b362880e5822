"""Genericity of a mixture (pdGMM, Assumption 3.4): where supports meet, components can be told apart."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from .._certificate import Certificate
from ._checks import Mixture
from ._subspaces import Flat, meet, off

SMALL = 1e-2
_RELATIVE, _ROUNDING = 1e-6, 1e-12
THEOREM = "pdGMM Assumption 3.4 (genericity)"


@dataclass(frozen=True)
class Genericity(Certificate):
    """A certificate of genericity with its evidence.

    Attributes
    ----------
    margin : float or None
        The smallest gap between squared Mahalanobis distances of two components of equal rank where their
        supports meet: root mean square over the intersection, under the average of the two Gaussians, over
        the distances themselves where these exceed 1. None when no such supports meet.
    closest : tuple of int
        The two components with that gap; empty when there are none.
    witnesses : tuple of (tuple of int, tuple of float)
        For each smallest non-empty intersection, its components and a point at which their distances differ
        pairwise, in the units of the latents. Empty when genericity fails.
    """

    margin: float | None = None
    closest: tuple[int, ...] = ()
    witnesses: tuple[tuple[tuple[int, ...], tuple[float, ...]], ...] = ()


@dataclass(frozen=True, eq=False)
class Meeting:
    """A smallest non-empty intersection of supports of equal rank, and the components that contain it."""

    components: tuple[int, ...]
    flat: Flat


@dataclass(frozen=True)
class Gap:
    """How far apart the distances of two components are where their supports meet.

    `margin` is relative to distances where these exceed 1; `differ` asks for more than rounding explains.
    """

    margin: float
    differ: bool
    pair: tuple[int, int]
    dimension: int


def genericity(mixture: Mixture, most: int) -> Genericity:
    """Check that no two components of equal rank have the same distances all over an intersection.

    The assumption asks, for every set T of components of equal rank whose supports meet, for one point of the
    intersection V at which Mahalanobis distances differ pairwise. Distances are quadratic, so it holds iff no
    two of them coincide on all of V; and what coincides on V coincides on every part of V. So only
    the smallest non-empty intersections have to be looked at.
    """
    found = meetings(mixture, most)
    if found is None:
        return Genericity(THEOREM, False, reasons=(f"not decided: supports meet in more than {most} ways",))
    gaps = [gap for meeting in found for gap in _gaps(mixture, meeting)]
    if not gaps:
        return Genericity(THEOREM, True, reasons=("no two supports of equal dimension meet",))
    closest = min(gaps, key=lambda gap: (gap.differ, gap.margin, gap.pair))
    holds = closest.differ
    witnesses = tuple(_named(mixture, meeting) for meeting in found) if holds else ()
    return Genericity(
        THEOREM,
        holds,
        reasons=_reasons(closest),
        margin=closest.margin,
        closest=closest.pair,
        witnesses=witnesses,
    )


def _reasons(gap: Gap) -> tuple[str, ...]:
    where, pair = "in a point" if not gap.dimension else f"in {gap.dimension} dimensions", gap.pair
    if not gap.differ:
        return (
            f"the supports of components {pair[0]} and {pair[1]} meet {where} at which both have the same "
            "Mahalanobis distances, so parts of them may be swapped",
        )
    smallest = (
        f"the smallest gap between squared Mahalanobis distances is {gap.margin:.2g} "
        f"(components {pair[0]}, {pair[1]})"
    )
    if gap.margin < SMALL:
        return (f"{smallest}, which is hardly more than none: a flexible model may still swap parts of them",)
    return (smallest,)


def meetings(mixture: Mixture, most: int) -> list[Meeting] | None:
    """Return the smallest non-empty intersections of two or more supports of equal rank; None past `most`."""
    found: list[Meeting] = []
    for rank in np.unique(mixture.ranks):
        group = np.flatnonzero(mixture.ranks == rank).tolist()
        smallest = _smallest(mixture, group, most)
        if smallest is None:
            return None
        found += [meeting for meeting in smallest if len(meeting.components) > 1]
    return found


def _smallest(mixture: Mixture, group: list[int], most: int) -> list[Meeting] | None:
    whole = meet([mixture.supports[j] for j in group], mixture.angle)
    if whole is not None:  # all of them meet, so every other intersection contains this one
        return [Meeting(tuple(group), whole)]
    family: dict[tuple[int, ...], Meeting] = {}
    for j in group:
        new = [_holding(mixture, group, mixture.supports[j])]
        new += [_holding(mixture, group, v) for v in _intersections(mixture, family, j)]
        family |= {meeting.components: meeting for meeting in new}
        if len(family) > most:
            return None
    largest = [set(t) for t in family if not any(set(t) < set(other) for other in family)]
    return [family[tuple(sorted(t))] for t in largest]


def _intersections(mixture: Mixture, family: dict[tuple[int, ...], Meeting], j: int) -> Iterator[Flat]:
    for meeting in family.values():
        flat = meet([meeting.flat, mixture.supports[j]], mixture.angle)
        if flat is not None:
            yield flat


def _holding(mixture: Mixture, group: list[int], flat: Flat) -> Meeting:
    """Name an intersection by all the components whose supports contain it: that determines it."""
    held = [j for j in group if _contains(mixture.supports[j], flat, mixture.angle)]
    return Meeting(tuple(held), flat)


def _contains(support: Flat, flat: Flat, angle: float) -> bool:
    away = off(support.basis) @ np.column_stack([flat.point - support.point, flat.basis])
    return bool(np.abs(away).max() <= angle * max(1.0, np.abs(flat.point).max()))


def _gaps(mixture: Mixture, meeting: Meeting) -> Iterator[Gap]:
    """Return the gap of each pair that may be the closest."""
    quadratics = {j: _quadratic(mixture, meeting.flat, j) for j in meeting.components}
    dimension = meeting.flat.basis.shape[1]
    for a, b in _pairs(quadratics, dimension):
        gap, level = _gap(quadratics[a], quadratics[b])
        differ = gap > _RELATIVE * (dimension + level) + _ROUNDING
        yield Gap(gap / max(1.0, level), differ, (min(a, b), max(a, b)), dimension)


def _pairs(quadratics: dict, dimension: int) -> Iterator[tuple[int, int]]:
    if dimension:
        return combinations(quadratics, 2)
    ordered = sorted(quadratics, key=lambda j: float(quadratics[j][2]))
    return pairwise(ordered)  # in a point, neighbours in distance are the closest


def _quadratic(mixture: Mixture, flat: Flat, j: int) -> tuple[np.ndarray, np.ndarray, float]:
    """d_j^2(p + U y) = y'Ay + 2 b'y + c, with A = U'SU, b = U'S(p - mu), c = (p - mu)'S(p - mu)."""
    s, away = mixture.precisions[j], flat.point - mixture.means[j]
    return flat.basis.T @ s @ flat.basis, flat.basis.T @ s @ away, float(away @ s @ away)


def _gap(first: tuple, second: tuple) -> tuple[float, float]:
    """Return the root mean square of d_1^2 - d_2^2, and the mean of both at their centre y0.

    Over y ~ N(y0, H^-1) with H = (A_1 + A_2) / 2: the average of the two Gaussians on the intersection.
    """
    (a1, b1, _), (a2, b2, _) = first, second
    h = (a1 + a2) / 2
    y0 = -np.linalg.solve(h, (b1 + b2) / 2)
    root = np.linalg.inv(np.linalg.cholesky(h))
    a = root @ (a1 - a2) @ root.T
    b = 2 * root @ (b1 - b2 + (a1 - a2) @ y0)
    d1, d2 = (c + 2 * b_ @ y0 + y0 @ a_ @ y0 for a_, b_, c in (first, second))
    mean_square = 2 * (a**2).sum() + (b**2).sum() + (np.trace(a) + d1 - d2) ** 2
    return float(np.sqrt(mean_square)), float((d1 + d2) / 2)


def distances(mixture: Mixture, meeting: Meeting, point: np.ndarray) -> np.ndarray:
    """Return the squared Mahalanobis distance of a point from each component of a meeting."""
    away = point - mixture.means[list(meeting.components)]
    return np.einsum("ji,jik,jk->j", away, mixture.precisions[list(meeting.components)], away)


def witness(mixture: Mixture, meeting: Meeting) -> np.ndarray:
    """Return the point, among a few of the intersection, at which distances differ most clearly."""
    flat = meeting.flat
    if not flat.basis.shape[1]:
        return flat.point
    draws = np.random.default_rng(0).standard_normal((64, flat.basis.shape[1]))
    points = flat.point + np.vstack([0 * draws[:1], draws]) @ flat.basis.T
    smallest = [np.diff(np.sort(distances(mixture, meeting, point))).min() for point in points]
    return points[int(np.argmax(smallest))]


def _named(mixture: Mixture, meeting: Meeting) -> tuple[tuple[int, ...], tuple[float, ...]]:
    return meeting.components, tuple((witness(mixture, meeting) * mixture.scale).tolist())
