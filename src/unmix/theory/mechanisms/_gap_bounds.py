"""Bounds on the sparsity gap, for Jacobians too large to search."""

from itertools import combinations

import numpy as np

from ._derivatives import Partition
from ._factors import crossing, independence, slot_max

_MANY = 12  # above this number of slots, sets of them are bounded instead of listed


def exchange(pattern: np.ndarray, slots: Partition) -> int:
    """Bound the gap from above: cancel one row that two columns share, and put the sum in for the heavier."""
    counted = pattern.astype(np.float32)
    shared, weights = (counted @ counted.T).astype(int), pattern.sum(1)
    lighter = np.minimum(weights[:, None], weights[None, :])
    cost = (lighter - shared - (shared > 0))[crossing(slots, len(weights))].min()
    aligned = slot_max(pattern, slots).sum()  # every row that a slot moves is moved by one of its directions
    return int(weights.sum() + cost - aligned)


def trivial(supports: np.ndarray) -> np.ndarray:
    """Bound the gap from below: every active row is moved by some direction of any basis."""
    bound: np.ndarray = supports.any(1).sum(1) - supports.sum((1, 2))
    return bound


def private_rows(scaled: np.ndarray, pattern: np.ndarray, slots: Partition, tolerance: float) -> np.ndarray:
    """Bound the gap from below, whatever cancels: rows that one slot moves alone cannot be cancelled.

    A direction u across slots has parts u_i. It moves the private rows of each, and its heaviest part u_m
    moves at most s_m rows besides its private ones; so wt(u) - max wt(u_i) >= min_{j != m} mu_j - s_m, with
    mu_j the fewest private rows that a direction of slot j moves.
    """
    moved = slot_max(pattern, slots)
    alone = moved & (moved.sum(0) == 1)
    shared = (moved & ~alone).sum(1)
    fewest = np.stack(
        [_fewest(scaled[:, sorted(block)][:, :, alone[k]], tolerance) for k, block in enumerate(slots)],
        axis=1,
    )
    two = np.sort(fewest, axis=1)[:, :2]
    least_other = np.where(fewest == two[:, :1], two[:, 1:], two[:, :1])
    bound: np.ndarray = (least_other - shared).min(1)
    return bound


def _fewest(rows: np.ndarray, tolerance: float) -> np.ndarray:
    """Bound from below how many of the rows a direction moves, whatever the direction."""
    n, d, x = rows.shape
    if d == 1 or x < d:
        return np.full(n, x if d == 1 else 0)
    if d == 2:
        return x - _most_parallel(rows, tolerance)
    spans = independence(rows) > tolerance
    return np.maximum.reduce(
        [spans, *(_disjoint_bases(rows[:, :, order], tolerance) for order in _orders(x, d))]
    )


def _most_parallel(rows: np.ndarray, tolerance: float) -> np.ndarray:
    """Count the largest set of parallel rows in the plane: the rows that one direction can leave alone."""
    n, _, x = rows.shape
    angles = np.sort(np.arctan2(rows[:, 1], rows[:, 0]) % np.pi, axis=1)
    around = np.concatenate([angles, angles + np.pi], axis=1)  # parallel to an angle near pi is one near zero
    counts = [np.searchsorted(around[k], around[k, :x] + tolerance, side="right") for k in range(n)]
    most: np.ndarray = (np.array(counts) - np.arange(x)).max(1)
    return most


def _orders(x: int, d: int) -> list[np.ndarray]:
    """Row orders whose runs of d rows are tried: neighbours, and rows far apart."""
    whole = np.arange(x - x % d)
    return [whole, whole.reshape(d, -1).T.ravel()]


def _disjoint_bases(rows: np.ndarray, tolerance: float) -> np.ndarray:
    """Count runs of d rows with full rank: any direction moves a row in each."""
    n, d, x = rows.shape
    groups = np.moveaxis(rows.reshape(n, d, x // d, d), 1, 2).reshape(-1, d, d)
    runs = independence(groups) > tolerance
    count: np.ndarray = runs.reshape(n, x // d).sum(1)
    return count


def generic_position(pattern: np.ndarray, slots: Partition) -> int:
    """Bound the gap from below for entries in general position: u across slots C cancels sum_C d_i - 1 rows.

    The lightest basis of slot i has directions of at most |Omega_i| - d_i + 1 rows. Needs slots that are
    dense on their rows; answers -1 otherwise.
    """
    moved = slot_max(pattern, slots)
    if any((pattern[sorted(block)] != moved[k]).any() for k, block in enumerate(slots)):
        return -1
    sizes, dims = moved.sum(1), np.array([len(block) for block in slots])
    if len(slots) > _MANY:
        alone = (moved & (moved.sum(0) == 1)).sum(1)
        return int(max((alone - dims).min(), -1))
    return min(
        int(moved[chosen].any(0).sum() - dims[chosen].sum() - (sizes - dims)[chosen].max())
        for count in range(2, len(slots) + 1)
        for chosen in map(list, combinations(range(len(slots)), count))
    )
