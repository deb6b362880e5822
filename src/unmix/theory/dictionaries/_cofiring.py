"""Which features are on together: what the supports of codes can tell apart, and what never."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse

_ENTRIES = 2**23


@dataclass(frozen=True, eq=False)
class CoFiring:
    """What the supports of codes tell apart; see `cofiring`.

    Attributes
    ----------
    n_rows, n_supports : int
        Rows, and different sets of features among them.
    count : ndarray of int, shape (n_features,)
        Rows in which each feature is on.
    separated : ndarray of bool, shape (n_features,)
        Whether the feature is the only one that is on in all of its rows.
    always : tuple of tuple of int
        For each feature the others that are on whenever it is; some of them, where there are many.
    pairs : float
        The share of pairs of features that are ever on together.
    """

    n_rows: int
    n_supports: int
    count: np.ndarray
    separated: np.ndarray
    always: tuple[tuple[int, ...], ...]
    pairs: float

    def __str__(self) -> str:
        seen = self.count > 0
        return (
            f"{self.n_supports:,} sets of features in {self.n_rows:,} rows tell {self.separated.sum():,} of "
            f"{seen.sum():,} features from all others; {(seen & ~self.separated).sum():,} are never on "
            "without another."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        plain = {"n_rows": self.n_rows, "n_supports": self.n_supports, "pairs": self.pairs}
        arrays = {"count": self.count.tolist(), "separated": self.separated.tolist()}
        return plain | arrays | {"always": [list(each) for each in self.always]}


def cofiring(codes: Any) -> CoFiring:
    """Say which features the supports of codes tell from all others.

    If j is on whenever i is, the atoms i and j are not separable by these rows: for small c > 0 the atom
    d_i + c d_j, with c z_i taken off z_j, explains the same rows by the same supports. If the rows of i have
    no other feature in common, the intersection of their supports is {i}, which is what the singleton
    intersection property asks for.

    Parameters
    ----------
    codes : sparse array or array-like of shape (n_samples, n_features)

    Returns
    -------
    CoFiring

    Examples
    --------
    >>> found = cofiring([[1, 1, 0], [0, 1, 1], [0, 0, 2]])
    >>> found.separated.tolist(), found.always
    ([False, True, True], ((1,), (), ()))

    References
    ----------
    Garfinkle, Hillar (2019), On the uniqueness and stability of dictionaries for sparse representation of
    noisy signals, Definition 2 (singleton intersection property), arXiv:1606.06997.
    """
    table = csr_array(codes) if issparse(codes) else csr_array(np.asarray(codes))
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"`codes` must have shape (n_samples, n_features), got {table.shape}. Pass codes.")
    on = csr_array((1.0 * (table.data != 0), table.indices, table.indptr), table.shape)
    on.eliminate_zeros()
    on.sort_indices()
    count = np.asarray(on.sum(axis=0)).ravel().astype(int)
    always, pairs = _always(on, count)
    separated = (count > 0) & np.array([not each for each in always])
    supports = len({on.indices[a:b].tobytes() for a, b in zip(on.indptr[:-1], on.indptr[1:], strict=True)})
    width = on.shape[1]
    share = pairs / max(width * (width - 1), 1)
    return CoFiring(on.shape[0], supports, count, separated, tuple(always), float(share))


def _always(on: csr_array, count: np.ndarray, most: int = 8) -> tuple[list[tuple[int, ...]], int]:
    """Return for each feature those that are on in all of its rows, and the number of pairs ever together."""
    width, found, pairs = on.shape[1], [], 0
    by_column, size = csc_array(on), max(1, _ENTRIES // width)
    for start in range(0, width, size):
        some = np.arange(start, min(start + size, width))
        both = (by_column[:, some].T @ on).toarray()
        both[np.arange(len(some)), some] = 0
        pairs += int((both > 0).sum())
        for k, row in zip(some, both, strict=True):
            found.append(tuple(np.flatnonzero(row == count[k])[:most].tolist()) if count[k] else ())
    return found, pairs
