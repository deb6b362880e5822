"""What missing edges tell apart, beyond those that any mixing can be made to show.

A latent z_k with z_j mixed in, z_k + c z_j, makes the column of z_j in the Jacobian of x another one, A_j - c A_k.
So zeros in the column of z_j, at variables that z_k moves, protect z_k from z_j.
"""

import numpy as np
from scipy.special import gammaln

_MOVES = 0.2  # share of its largest effect from which on a latent moves a variable
_FINEST = 1e-3  # no effect is known better


def effects(jacobians: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return how much each latent moves each variable over all samples, each column 1 at its largest."""
    size = np.sqrt(np.square(jacobians).mean(0)) * codes.std(0)
    row = np.linalg.norm(size, axis=1, keepdims=True)
    size = size / np.where(row > 0, row, 1)
    most = size.max(0)
    return size / np.where(most > 0, most, 1)


def column_evidence(column: np.ndarray, n_latents: int) -> float:
    """Return -log10 of a bound on the chance that a dense column shows such zeros, over all ways to look.

    n - 1 zeros are free: some direction has them. For m more, each below e,
    p <= C(d, n - 1) C(d - n + 1, m) e^m, and the best m is taken.

    >>> dense, sparse = np.linspace(0.2, 1, 9), np.array([1, 1, 1, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01])
    >>> round(column_evidence(dense, 3), 1), round(column_evidence(sparse, 3), 1)
    (0.0, 4.9)
    """
    d, free = len(column), n_latents - 1
    more = np.arange(1, d - free + 1)
    e = np.maximum(np.sort(column)[free : free + len(more)], _FINEST)
    ways = _log_choose(d, free) + _log_choose(d - free, more)
    return max(0.0, float(np.max(-(ways + more * np.log(e)) / np.log(10), initial=0.0)))


def pair_evidence(size: np.ndarray) -> np.ndarray:
    """Return the evidence at (k, j) that zeros keep z_j out of z_k, shape (n_latents, n_latents)."""
    n = size.shape[1]
    columns = np.array([column_evidence(column, n) for column in size.T])
    rests = size < _MOVES
    seen = (~rests).T.astype(int) @ rests.astype(int)  # variables that z_k moves and z_j does not
    return np.where(seen >= 2, columns[None, :], 0.0)


def _log_choose(n: int, k: np.ndarray | int) -> np.ndarray:
    k = np.asarray(k, float)
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
