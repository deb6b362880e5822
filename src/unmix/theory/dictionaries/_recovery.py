"""Row by row: whether a support is recovered exactly, where a bound for all supports says nothing."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse

from ._coherence import unit_atoms


def exact_recovery(
    dictionary: ArrayLike, codes: Any, *, n_rows: int = 64, random_state: int = 0
) -> np.ndarray:
    """Return the exact recovery coefficient of supports S of some rows: max |pinv(D_S) d_j|_1, j not in S.

    Below 1, orthogonal matching pursuit and basis pursuit both find the code of every signal on that support,
    and no other code of these atoms has as small a sum of sizes.

    Parameters
    ----------
    dictionary : array-like of shape (n_atoms, n_observed)
    codes : sparse array or array-like of shape (n_samples, n_atoms)
    n_rows : int
        How many rows are drawn; all where there are fewer. Rows without any feature are left out.
    random_state : int

    Returns
    -------
    ndarray of shape (at most n_rows,)

    Examples
    --------
    >>> atoms = [[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.6, 0.52]]
    >>> exact_recovery(atoms, [[1, 0, 0, 0], [1, 1, 0, 0]]).round(2)
    array([0.6 , 1.21])

    References
    ----------
    Tropp (2004), Greed is good: algorithmic results for sparse approximation, Theorems 3.1 and 3.3.
    """
    atoms = unit_atoms(dictionary)
    table = csr_array(codes) if issparse(codes) else csr_array(np.asarray(codes))
    if table.ndim != 2 or table.shape[1] != len(atoms):
        raise ValueError(f"`codes` must have {len(atoms)} columns, got {table.shape}. One for each atom.")
    order = np.random.default_rng(random_state).permutation(table.shape[0])
    supports = [support for row in order[: 4 * n_rows] if len(support := _support(table, int(row)))]
    return np.array([_coefficient(atoms, support) for support in supports[:n_rows]])


def _support(table: csr_array, row: int) -> np.ndarray:
    some = slice(table.indptr[row], table.indptr[row + 1])
    return np.unique(table.indices[some][table.data[some] != 0])


def _coefficient(atoms: np.ndarray, support: np.ndarray) -> float:
    if len(support) == len(atoms):
        return 0.0
    sums = np.abs(np.linalg.pinv(atoms[support].T) @ atoms.T).sum(0)
    sums[support] = 0
    return float(sums.max())
