"""How strongly each factor depends on each code, one pair at a time."""

import numpy as np
from scipy.stats import norm, rankdata

from ._checks import unit_rows

METHODS = ("pearson", "spearman", "nonlinear")
_FOLDS, _RIDGE = 5, 1e-8


def dependence(
    truth: np.ndarray,
    codes: np.ndarray,
    method: str,
    weights: np.ndarray | None = None,
    within: np.ndarray | None = None,
) -> np.ndarray:
    """Return the dependence of all pairs, shape (n_factors, n_codes); constant columns depend on nothing.

    With groups, Pearson's and Spearman's coefficients are those inside each group, averaged by its share of
    the samples, so that a code which only tells groups apart scores nothing.
    """
    if method not in METHODS:
        raise ValueError(f"`method` must be one of {METHODS}, got {method!r}. Choose one of them.")
    a, b = np.ascontiguousarray(truth.T), np.ascontiguousarray(codes.T)
    if method == "nonlinear":
        return _correlation_ratio(_positions(a, weights, within), _positions(b, weights, within), weights)
    prepared = [_unit(_by_group(rows, weights, within, method), weights, within) for rows in (a, b)]
    return np.clip(prepared[0] @ prepared[1].T, -1.0, 1.0)


def _by_group(
    rows: np.ndarray, weights: np.ndarray | None, within: np.ndarray | None, method: str
) -> np.ndarray:
    """Rank within each group for Spearman's coefficient; leave the values alone for Pearson's."""
    return rows if method == "pearson" else _positions(rows, weights, within)


def _unit(rows: np.ndarray, weights: np.ndarray | None, within: np.ndarray | None) -> np.ndarray:
    """Centre and scale within each group so that a product of rows sums the shares times correlations."""
    if within is None:
        return _weighted_unit_rows(rows, weights)
    found = np.empty_like(rows, dtype=np.float64)
    for members, share in _groups(weights, within, rows.shape[1]):
        part = None if weights is None else weights[members]
        found[:, members] = _weighted_unit_rows(rows[:, members], part) * np.sqrt(share)
    return found


def _weighted_unit_rows(rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    if weights is None:
        return unit_rows(rows)
    largest = np.abs(rows).max(1, keepdims=True)
    bounded = rows / np.where(largest > 0, largest, 1.0)
    share = weights / weights.sum()
    centred = bounded - (bounded @ share)[:, None]
    spread = np.sqrt(centred**2 @ share)[:, None]
    varies = spread > 4 * np.finfo(np.float64).eps
    return np.where(varies, centred * np.sqrt(share) / np.where(varies, spread, 1.0), 0.0)


def _groups(weights: np.ndarray | None, within: np.ndarray, n_samples: int) -> list[tuple[np.ndarray, float]]:
    """List the samples of each group and its share of the weight."""
    w = np.full(n_samples, 1 / n_samples) if weights is None else weights
    members = [np.flatnonzero(within == group) for group in np.unique(within)]
    return [(rows, float(w[rows].sum() / w.sum())) for rows in members]


def _positions(rows: np.ndarray, weights: np.ndarray | None, within: np.ndarray | None) -> np.ndarray:
    """Return the share of the weight below each entry, ties counted half, within its group; shape as rows."""
    if within is not None:
        found = np.empty_like(rows, dtype=np.float64)
        for members, _ in _groups(weights, within, rows.shape[1]):
            part = None if weights is None else weights[members]
            found[:, members] = _positions(rows[:, members], part, None)
        return found
    if weights is None:
        return (rankdata(rows, axis=1) - 0.5) / rows.shape[1]
    return np.stack([_weighted_positions(row, weights / weights.sum()) for row in rows])


def _weighted_positions(row: np.ndarray, share: np.ndarray) -> np.ndarray:
    _, level = np.unique(row, return_inverse=True)
    mass = np.bincount(level, weights=share)
    return (np.cumsum(mass) - mass / 2)[level]


def _normal_scores(positions: np.ndarray) -> np.ndarray:
    """Turn positions in a sample into the quantiles of a normal distribution."""
    return norm.ppf(positions)


def _correlation_ratio(truth: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the root of the share of each factor that a function of one code predicts, from positions.

    The function is fitted on four fifths of the samples and scored on the rest, in turn, so that pure noise
    scores about zero; negative shares are cut off there.
    """
    n = truth.shape[1]
    share = np.full(n, 1 / n) if weights is None else weights
    fold = np.random.default_rng(0).permutation(n) % min(_FOLDS, n)
    target = _weighted_unit_rows(_normal_scores(truth), weights).T / np.sqrt(share)[:, None]
    left = np.stack([_unexplained(code, target, share, fold) for code in codes], axis=1)
    varies = (np.ptp(truth, axis=1) > 0)[:, None] & (np.ptp(codes, axis=1) > 0)[None, :]
    return np.where(varies, np.sqrt(np.clip(1 - left, 0.0, 1.0)), 0.0)


def _unexplained(position: np.ndarray, target: np.ndarray, share: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Return the share of each factor that one code leaves unexplained, each fold predicted by the others."""
    basis = _basis(position)
    folds = [fold == k for k in range(fold.max() + 1)]
    sums = [(basis[rows].T * share[rows]) @ np.hstack([basis[rows], target[rows]]) for rows in folds]
    total, width = sum(sums), basis.shape[1]
    left = np.zeros(target.shape[1])
    for rows, part in zip(folds, sums, strict=True):
        seen = total - part
        fitted = np.linalg.solve(seen[:, :width] + _RIDGE * np.eye(width), seen[:, width:])
        left += share[rows] @ (target[rows] - basis[rows] @ fitted) ** 2
    return left


def _basis(position: np.ndarray) -> np.ndarray:
    """Return the normal score, which makes monotone maps linear, and a broken line with up to 40 bends."""
    n_knots = int(np.clip(len(position) // 30, 2, 40))
    knots = np.linspace(0.0, 1.0, n_knots + 1)
    hats = np.clip(1 - np.abs(position[:, None] - knots) * n_knots, 0.0, None)
    return np.hstack([_normal_scores(position)[:, None], hats])
