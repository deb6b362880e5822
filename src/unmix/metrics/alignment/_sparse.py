"""The same three steps for sparse codes, whose products cost what fires together and not what rests."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

from .._checks import check_units
from ._columns import Split
from ._matches import Judged, Matches
from ._spans import Moments, Spans, solved

_ENTRIES = 2**23  # numbers of a tile of products: 64 MB
CANDIDATES = 16  # latents that a span is sought among: of codes with few latents on, few can carry one


@dataclass(frozen=True, eq=False)
class SparseColumns:
    """A sparse run, by the rows to fit (0) and those held out (1): codes by column and by row, and moments.

    `mean`, `spread` and `kurtosis` are of shape (2, n_columns) and count the zeros.
    """

    by_column: tuple[csc_array, csc_array]
    by_row: tuple[csr_array, csr_array]
    mean: np.ndarray
    spread: np.ndarray
    kurtosis: np.ndarray
    varies: np.ndarray

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.by_row[0].shape[1])


class SparsePair(NamedTuple):
    """Two sparse runs and the parts of their rows."""

    first: SparseColumns
    second: SparseColumns
    split: Split


def sparse_columns(codes: Any, name: str, split: Split) -> SparseColumns:
    """Part the rows and measure the columns; refuse what is not finite or never varies."""
    table = csr_array(codes, dtype=np.float64)
    _check_finite(table, name)
    held = np.concatenate([span.held for span in split.spans()])
    by_row = tuple(csr_array(table[np.flatnonzero(held == part)]) for part in (False, True))
    by_column = tuple(csc_array(part) for part in by_row)
    moments = np.array([_moments(part) for part in by_column])
    varies = np.asarray(table.max(axis=0).todense() != table.min(axis=0).todense()).ravel()
    if not varies.any():
        raise ValueError(f"`{name}` must vary, got the same row {split.n_rows} times. Check the run.")
    spread = np.where(varies, moments[:, 1], 0.0)
    mean, kurtosis = moments[:, 0], moments[:, 2]
    return SparseColumns(by_column, by_row, mean, spread, kurtosis, varies)  # type: ignore[arg-type]


def _moments(part: csc_array) -> np.ndarray:
    """Return mean, standard deviation and kurtosis of each column, zeros counted."""
    n = max(part.shape[0], 1)
    m1, m2, m3, m4 = (np.asarray(part.power(k).sum(axis=0)).ravel() / n for k in (1, 2, 3, 4))
    variance = np.maximum(m2 - m1**2, 0.0)
    rounding = 8 * np.finfo(float).eps * m2
    spread = np.sqrt(np.where(variance > rounding, variance, 0.0))
    fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
    live = spread > 0
    kurtosis = np.divide(fourth, spread**4, out=np.full_like(m1, 3.0), where=live)
    return np.array([m1, spread, kurtosis])


def tiles(pair: SparsePair, part: int, *, own: bool = False) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield correlations of some columns with all of the second run: columns of the first, or its own."""
    rows, columns = pair.second if own else pair.first, pair.second
    n = max(int(columns.by_row[part].shape[0]), 1)
    size = max(1, _ENTRIES // columns.width)
    for start in range(0, rows.width, size):
        some = slice(start, min(start + size, rows.width))
        products = (rows.by_column[part][:, some].T @ columns.by_row[part]).toarray() / n
        products -= np.outer(rows.mean[part, some], columns.mean[part])
        products *= np.outer(_inverse(rows.spread[part, some]), _inverse(columns.spread[part]))
        yield some, products


def match(pair: SparsePair, n_candidates: int) -> Matches:
    """Correlate all pairs of latents tile by tile on the rows to fit, and keep the nearest of each."""
    n, most = pair.first.width, min(n_candidates, pair.second.width)
    index, strength = np.zeros((n, most), dtype=np.int64), np.zeros(n)
    back, highest = np.zeros(pair.second.width, dtype=np.int64), np.full(pair.second.width, -1.0)
    for some, table in tiles(pair, 0):
        np.abs(table, out=table)
        index[some] = nearest(table, most)
        strength[some] = np.take_along_axis(table, index[some, :1], axis=1)[:, 0]
        best = table.argmax(0)
        value = table[best, np.arange(len(best))]
        back, highest = np.where(value > highest, best + some.start, back), np.maximum(value, highest)
    mutual = (back[index[:, 0]] == np.arange(n)) & (strength > 0)
    return Matches(index[:, 0], strength, mutual, index)


def nearest(table: np.ndarray, most: int) -> np.ndarray:
    """Return the columns of the largest entries of each row, the largest first.

    >>> nearest(np.array([[0.1, 0.9, 0.5]]), 2)
    array([[1, 2]])
    """
    width = table.shape[1]
    some = np.argpartition(table, width - most, axis=1)[:, width - most :] if most < width else None
    index = np.broadcast_to(np.arange(width), table.shape) if some is None else some
    order = np.argsort(-np.take_along_axis(table, index, axis=1), axis=1, kind="stable")
    return np.take_along_axis(index, order, axis=1)


def judge(pair: SparsePair, best: np.ndarray) -> Judged:
    """Correlate each latent with its match on rows that had no part in choosing it."""
    first, second, n = pair.first, pair.second, max(pair.split.n_held, 1)
    product = np.asarray(first.by_column[1].multiply(second.by_column[1][:, best]).sum(axis=0)).ravel() / n
    product = product - first.mean[1] * second.mean[1, best]
    found = product * _inverse(first.spread[1]) * _inverse(second.spread[1, best])
    return Judged(np.clip(found, -1, 1), first.kurtosis, second.kurtosis)


def spans(pair: SparsePair, candidates: np.ndarray, threshold: float) -> Spans:
    """Predict the latents of the first run from their candidates, by a ridge, on the rows held out."""
    fit, held = (_gathered(pair, candidates, part) for part in (0, 1))
    targets = np.arange(pair.first.width)[:, None]
    return solved(pair, fit, held, targets, candidates, threshold)


def _gathered(pair: SparsePair, sets: np.ndarray, part: int) -> Moments:
    """Pick the correlations of candidates with their target and with each other out of the tiles."""
    n, m = sets.shape
    towards, among = np.zeros((n, m, 1)), np.zeros((n, m, m))
    for some, table in tiles(pair, part):
        towards[some, :, 0] = np.take_along_axis(table, sets[some], axis=1)
    for some, table in tiles(pair, part, own=True):
        target, place = np.nonzero((sets >= some.start) & (sets < some.stop))
        among[target, place] = table[(sets[target, place] - some.start)[:, None], sets[target]]
    return Moments(among, towards)


def _inverse(spread: np.ndarray) -> np.ndarray:
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)


def _check_finite(table: csr_array, name: str) -> None:
    bad = np.flatnonzero(~np.isfinite(table.data))
    if len(bad):
        row = int(np.searchsorted(table.indptr, bad[0], side="right")) - 1
        raise ValueError(
            f"`{name}` must be finite, got {table.data[bad[0]]} in row {row}, column "
            f"{table.indices[bad[0]]}. Drop or impute such rows first."
        )
    check_units(np.abs(table.data).max(initial=0), name)
