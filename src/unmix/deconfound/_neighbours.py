"""Who lies next to whom: the batch of controls, replicates of a label, and labels that are related.

All by the cosine of the angle between rows, which no rotation of the columns changes.
"""

from typing import NamedTuple

import numpy as np

_BLOCK = 512


class Retrieval(NamedTuple):
    """One score for each query, which queries these are, and what chance gives each."""

    scores: np.ndarray
    rows: np.ndarray
    chance: np.ndarray

    @property
    def mean(self) -> float:
        """The mean over queries, NaN without any."""
        return float(self.scores.mean()) if len(self.scores) else float("nan")

    @property
    def null(self) -> float:
        """What chance gives."""
        return float(self.chance.mean()) if len(self.chance) else float("nan")


def unit(rows: np.ndarray) -> np.ndarray:
    """Return rows of length 1; a row of zeros stays one."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1.0)


def leak(values: np.ndarray, batch: np.ndarray, apart: np.ndarray | None = None) -> Retrieval:
    """Say for each row whether its nearest neighbour is of the same batch.

    Parameters
    ----------
    values : array of shape (n_samples, n_features)
        Controls.
    batch : array of shape (n_samples,)
    apart : array of shape (n_samples,), optional
        Finer batches: neighbours of the same one do not count, so that a week is found by more than its plates.

    Returns
    -------
    Retrieval
        Chance is the share of the rows that could be neighbours which are of the same batch.

    Examples
    --------
    >>> found = leak(np.array([[1.0, 0], [1, 0.1], [0, 1], [0.1, 1]]), np.array([0, 0, 1, 1]))
    >>> found.mean, round(found.null, 3)
    (1.0, 0.333)
    """
    return nearest(values, batch, allowed_of(np.arange(len(values)) if apart is None else apart))


def allowed_of(*groups: np.ndarray):
    """Return a function that says which rows differ from given ones in all of some groups."""

    def allowed(rows: np.ndarray) -> np.ndarray:
        return np.logical_and.reduce([group[rows, None] != group for group in groups])

    return allowed


def nearest(values: np.ndarray, kind: np.ndarray, allowed) -> Retrieval:
    """Say for each row whether the nearest allowed one is of its kind, where there is any such."""
    angles, scores, chance, asked = unit(values), [], [], []
    for start in range(0, len(values), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(values)))
        may = allowed(rows)
        same = (kind[rows, None] == kind) & may
        use = same.any(1)
        if not use.any():
            continue
        cosines = np.where(may[use], angles[rows[use]] @ angles.T, -np.inf)
        scores.append(kind[cosines.argmax(1)] == kind[rows[use]])
        chance.append(same[use].sum(1) / may[use].sum(1))
        asked.append(rows[use])
    return _gathered(scores, asked, chance)


def average_precision(
    values: np.ndarray, kind: np.ndarray, allowed, shuffled: np.ndarray | None = None
) -> Retrieval:
    """Return for each row the average precision with which allowed rows of its kind come first.

    Chance is the same with kinds that were shuffled, over the same ranking.

    >>> kind = np.array([0, 0, 1, 1])
    >>> rows = np.array([[1.0, 0], [1, 0.1], [0, 1], [0.1, 1]])
    >>> average_precision(rows, kind, allowed_of(np.arange(4))).scores.tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    angles, scores, chance, asked = unit(values), [], [], []
    for start in range(0, len(values), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(values)))
        may = allowed(rows)
        use = ((kind[rows, None] == kind) & may).any(1)
        rows, may = rows[use], may[use]
        order = np.argsort(-np.where(may, angles[rows] @ angles.T, -np.inf), axis=1, kind="stable")
        n_allowed = may.sum(1)
        scores.append(_precision(kind, rows, order, n_allowed))
        chance.append(_precision(kind if shuffled is None else shuffled, rows, order, n_allowed))
        asked.append(rows)
    return _gathered(scores, asked, chance)


def _precision(kind: np.ndarray, rows: np.ndarray, order: np.ndarray, n_allowed: np.ndarray) -> np.ndarray:
    """Return the mean precision at the places of rows of the same kind; allowed rows come first."""
    places = np.arange(1, order.shape[1] + 1)
    hits = (kind[order] == kind[rows, None]) & (places <= n_allowed[:, None])
    precision = np.where(hits, np.cumsum(hits, 1) / places, 0).sum(1)
    return precision / np.maximum(hits.sum(1), 1)


def _gathered(scores: list, asked: list, chance: list) -> Retrieval:
    if not scores:
        return Retrieval(np.empty(0), np.empty(0, dtype=int), np.empty(0))
    return Retrieval(np.concatenate(scores).astype(float), np.concatenate(asked), np.concatenate(chance))


def replicates(values: np.ndarray, label: np.ndarray, batch: np.ndarray, random_state: int = 0) -> Retrieval:
    """Return how well rows of the same label in other batches are found among all rows.

    Rows of the same label in the same batch are left aside, rows of other labels in the same batch are not:
    where batches lie apart, these come first.
    """
    shuffled = np.random.default_rng(random_state).permutation(label)

    def allowed(rows: np.ndarray) -> np.ndarray:
        same = (label[rows, None] == label) & (batch[rows, None] == batch)
        return ~same & (np.arange(len(label)) != rows[:, None])

    return average_precision(values, label, allowed, shuffled)


def profiles(values: np.ndarray, unit_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean row of each unit, such as a compound at a dose, and the first row of each."""
    _, first, codes = np.unique(unit_of, return_index=True, return_inverse=True)
    sums = np.zeros((len(first), values.shape[1]))
    np.add.at(sums, codes, values)
    return sums / np.bincount(codes)[:, None], first


def related(
    means: np.ndarray, relation: np.ndarray, label: np.ndarray, batch: np.ndarray, random_state: int = 0
) -> tuple[Retrieval, Retrieval, Retrieval]:
    """Return how well labels of the same relation are found: precision, next one, next of another batch.

    Chance gives each label the relation of another one.
    """
    names, first, codes = np.unique(label, return_index=True, return_inverse=True)
    shuffled = relation[first][np.random.default_rng(random_state).permutation(len(names))][codes]
    others = allowed_of(label)
    return (
        average_precision(means, relation, others, shuffled),
        nearest(means, relation, others),
        nearest(means, relation, allowed_of(label, batch)),
    )
