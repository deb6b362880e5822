"""What missing edges tell apart, beyond those that any mixing can be made to show.

A latent z_k with z_j mixed in, z_k + c z_j, turns the column of z_j in the Jacobian of x into A_j - c A_k. So
zeros in the column of z_j, at variables that z_k moves, protect z_k from z_j.
"""

import numpy as np
from scipy.special import gammaln

_MOVES = 0.2  # share of its largest effect from which on a latent moves a variable
_TURNS = 0.2  # share of its length by which a gradient has to vary in a direction for that to count
_FINEST = 1e-3  # no effect is known better


def zeros_between(jacobians: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the evidence at (k, j) that zeros keep z_j out of z_k, shape (n_latents, n_latents).

    In decimal places: -log10 of the chance that a dense mixing shows so many.
    """
    J = jacobians * codes.std(0)
    size, ranks, n = effects(J), gradient_ranks(J), codes.shape[1]
    columns = np.array([column_evidence(column, ranks, n) for column in size.T])
    rests = size < _MOVES
    seen = (~rests).T.astype(int) @ rests.astype(int)  # variables that z_k moves and z_j does not
    return np.where(seen >= 2, columns[None, :], 0.0)


def effects(J: np.ndarray) -> np.ndarray:
    """Return how much each latent moves each variable over all samples, each column 1 at its largest."""
    size = np.sqrt(np.square(J).mean(0))
    length = np.linalg.norm(size, axis=1, keepdims=True)
    size = size / np.where(length > 0, length, 1)
    most = size.max(0)
    return size / np.where(most > 0, most, 1)


def gradient_ranks(J: np.ndarray) -> np.ndarray:
    """Return how many directions the gradient of each variable takes over the samples: 1 if it is linear.

    A direction of the code along which a variable rests at every sample has to be orthogonal to all of them.
    """
    values = np.linalg.svd(J.transpose(1, 0, 2), compute_uv=False)
    return np.maximum((values > _TURNS * values[:, :1]).sum(1), 1)


def column_evidence(column: np.ndarray, ranks: np.ndarray, n_latents: int) -> float:
    """Return -log10 of a bound on the chance that a dense column shows such zeros, over all ways to look.

    Zeros at m variables of d ask r conditions of a direction, where r is the sum of their ranks; n - 1 of
    these are free, since some direction meets them. If all effects are below e,
    p <= C(d, m) C(r, n - 1) e^(r - n + 1), and the best m is taken.

    >>> dense, sparse = np.linspace(0.2, 1, 9), np.array([1, 1, 1, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01])
    >>> linear, bent = np.ones(9, int), np.full(9, 2)
    >>> [round(column_evidence(column, linear, 3), 1) for column in (dense, sparse)]
    [0.0, 4.9]
    >>> round(column_evidence(sparse, bent, 3), 1)
    16.3
    """
    order, free = np.argsort(column, kind="stable"), n_latents - 1
    asked = np.cumsum(ranks[order])
    e = np.maximum(column[order], _FINEST)
    m = np.arange(1, len(column) + 1)
    ways = _log_choose(len(column), m) + _log_choose(np.maximum(asked, free), free)
    places = -(ways + (asked - free) * np.log(e)) / np.log(10)
    return max(0.0, float(places[asked > free].max(initial=0.0)))


def _log_choose(n: np.ndarray | int, k: np.ndarray | int) -> np.ndarray:
    n, k = np.asarray(n, float), np.asarray(k, float)
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
