"""Atoms of one dictionary in another: the nearest, and the span of a few."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..alignment._sparse import nearest

_TILE = 2**23  # cosines in memory at a time: 32 MB
CANDIDATES = 32  # atoms that a span is sought among
_SQUARE = 2048  # dictionaries up to this size are assigned one to one


class Nearest(NamedTuple):
    """For each atom its nearest one elsewhere, the cosine, whether it is mutual, and the candidates."""

    best: np.ndarray
    cosine: np.ndarray
    mutual: np.ndarray
    candidates: np.ndarray


def match(first: np.ndarray, second: np.ndarray, *, signed: bool) -> Nearest:
    """Compare all pairs of unit atoms tile by tile, and keep the nearest of each."""
    n, most = len(first), min(CANDIDATES, len(second))
    index, cosine = np.zeros((n, most), dtype=np.int64), np.zeros(n)
    back, highest = np.zeros(len(second), dtype=np.int64), np.full(len(second), -np.inf)
    best = np.zeros(n, dtype=np.int64)
    size = max(1, _TILE // len(second))
    for start in range(0, n, size):
        some = slice(start, min(start + size, n))
        table = first[some] @ second.T
        value = table if signed else np.abs(table)
        best[some] = value.argmax(1)
        cosine[some] = np.take_along_axis(table, best[some][:, None], axis=1)[:, 0]
        index[some] = nearest(np.abs(table), most)
        rows = value.argmax(0)
        top = value[rows, np.arange(len(second))]
        back, highest = np.where(top > highest, rows + start, back), np.maximum(top, highest)
    return Nearest(best, cosine, back[best] == np.arange(n), index)


class Spanned(NamedTuple):
    """How much of each atom a few atoms elsewhere span (multiple cosine), and which."""

    reach: np.ndarray
    members: list[np.ndarray]


def span(first: np.ndarray, second: np.ndarray, candidates: np.ndarray, most: int, enough: float) -> Spanned:
    """Project each atom on a few of its candidates, chosen greedily (orthogonal matching pursuit).

    Atoms are added until `enough` is reached, and `most` at most: any atom is in the span of many.
    """
    reach, members, size = np.zeros(len(first)), [], max(1, _TILE // (candidates.shape[1] * first.shape[1]))
    for start in range(0, len(first), size):
        some = slice(start, min(start + size, len(first)))
        part = _pursued(first[some], second[candidates[some]], most, enough)
        reach[some] = part.reach
        members += [candidates[start + k, chosen] for k, chosen in enumerate(part.members)]
    return Spanned(reach, members)


def _pursued(targets: np.ndarray, pools: np.ndarray, most: int, enough: float) -> Spanned:
    """Do so for pools (b, c, d) of atoms; basis vectors are made orthogonal one by one."""
    b, c = pools.shape[:2]
    left, rest = targets.copy(), pools.copy()
    chosen, reach = np.full((b, most), -1), np.zeros(b)
    for step in range(min(most, c)):
        length = np.linalg.norm(rest, axis=2)
        score = np.abs(np.einsum("bcd,bd->bc", rest, left)) / np.maximum(length, 1e-6)
        pick = np.where(length > 1e-3, score, -1.0).argmax(1)  # one that is in the span already adds nothing
        going = reach < enough
        chosen[going, step] = pick[going]
        axis = rest[np.arange(b), pick] / np.maximum(length[np.arange(b), pick], 1e-6)[:, None]
        left = left - np.einsum("bd,bd->b", left, axis)[:, None] * axis
        rest = rest - np.einsum("bcd,bd->bc", rest, axis)[:, :, None] * axis[:, None]
        reach = np.where(going, np.sqrt(np.clip(1 - np.square(left).sum(1), 0, 1)), reach)
    return Spanned(reach, [row[row >= 0] for row in chosen])


def assigned(first: np.ndarray, second: np.ndarray) -> float:
    """Return the mean |cosine| of atoms assigned one to one; nan where that would take too long."""
    if max(len(first), len(second)) > _SQUARE:
        return float("nan")
    table = np.abs(first @ second.T)
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].mean())
