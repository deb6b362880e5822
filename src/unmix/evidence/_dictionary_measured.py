"""What a sparse autoencoder makes of some rows, for all that is asked of its features."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

LEAST = 8  # rows that a feature must be on in before anything is said of it
_KINDS = 16  # of rows, by how many features are on


class Measured(NamedTuple):
    """What a model makes of some rows: codes by column, what they leave of each row, and the atoms.

    `kind` parts rows by how many features are on: where a threshold tells that, rows with many of them are
    larger and more is left of them, so that rows are compared with rows of the same kind.
    """

    x: np.ndarray
    codes: csc_array
    left: np.ndarray
    atoms: np.ndarray
    times: np.ndarray
    kind: np.ndarray


def measured(model: Any, x: np.ndarray) -> Measured:
    """Encode rows."""
    codes = csr_array(model.transform(x))
    left = x - model.inverse_transform(codes)
    by_column = csc_array(codes)
    atoms, times = np.asarray(model.dictionary_, float), np.diff(by_column.indptr)
    return Measured(x, by_column, left, atoms, times, kinds_of(np.diff(codes.indptr)))


def kinds_of(counts: np.ndarray, n: int = _KINDS) -> np.ndarray:
    """Part rows into at most n kinds by a count, with about as many rows in each.

    >>> kinds_of(np.array([8, 8, 8, 8])).tolist(), kinds_of(np.array([3, 1, 2, 2]), 2).tolist()
    ([0, 0, 0, 0], [1, 0, 0, 0])
    """
    ends = np.unique(np.quantile(counts, np.arange(1, n) / n, method="lower"))
    return np.unique(np.searchsorted(ends, counts), return_inverse=True)[1]
