"""How dependent all pairs of components are, from one product of memberships.

Each component is cut into nine cells, and softly: as if a little noise were added to it, independent noise to
each. So what is far smaller than a component, such as the rest of another one between rare events, is not
taken for dependence. Which rows are above which cut, for all components at once, gives by one matrix product
the table of every pair, and from it their mutual information. What independent components show by chance is
known for such tables, half a degree of freedom in each row (Wilks, 1938), so that nothing need be shuffled;
soft cells have fewer of these than sharp ones.
"""

import numpy as np

_CUTS = np.array([-3.5, -1.8, -0.9, -0.3, 0.3, 0.9, 1.8, 3.5], dtype=np.float32)
_WIDTH = 0.35  # standard deviations of the noise; for its normal law a logistic one stands in
_LOGISTIC = 1.702


def left_between(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mutual information of pairs of standardised columns beyond chance, in nats, and its error.

    Both have shape (n_components, n_components) and nan on the diagonal.

    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=(2000, 3)) * np.stack([rng.uniform(size=2000)] * 2 + [np.ones(2000)], axis=1)
    >>> left, error = left_between((y - y.mean(0)) / y.std(0))
    >>> (left > 3 * error).tolist()
    [[False, True, False], [True, False, False], [False, False, False]]
    """
    n_rows, n = y.shape
    shares = _cells(y) / n_rows
    alone = shares.sum(3)[:, :, 0]  # the same beside every other component
    held = alone > 0.5 / n_rows  # the others are empty, up to rounding
    seen = held[:, :, None, None] & held & (shares > 1e-3 / n_rows)
    told = np.log(np.where(seen, shares / np.where(seen, alone[:, :, None, None] * alone, 1.0), 1.0))
    weighed = shares * told
    mean, square = weighed.sum((1, 3)), np.einsum("ikjl,ikjl->ij", weighed, told)
    free, spread = _freedom(np.einsum("ikil->ikl", shares), np.where(held, alone, np.inf))
    chance, doubt = np.outer(free, free) / (2 * n_rows), np.outer(spread, spread) / (2 * n_rows**2)
    left = mean - chance
    error = np.sqrt(doubt + np.maximum(square - mean**2 - 2 * chance, 0) / n_rows)
    itself = np.eye(n, dtype=bool)
    return np.where(itself, np.nan, left), np.where(itself, np.nan, error)


def _freedom(own: np.ndarray, alone: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many degrees of freedom the cells of a component have, and the sum of their squares.

    They are the eigenvalues of the covariance of memberships in units of the shares: 1 for sharp cells.
    """
    root = np.sqrt(alone[:, :, None] * alone[:, None, :])
    covariance = np.where(np.isinf(root), 0.0, own / root - root)
    return np.einsum("ikk->i", covariance), np.square(covariance).sum((1, 2))


def _cells(y: np.ndarray) -> np.ndarray:
    """Add up the rows in each cell of the table of each pair, shape (n, 9, n, 9)."""
    n_rows, n = y.shape
    above = np.ones((n_rows, 1 + n * len(_CUTS)), dtype=np.float32)
    steep = np.float32(_LOGISTIC / _WIDTH / 2)
    soft = np.tanh(steep * (y.astype(np.float32)[:, :, None] - _CUTS))
    above[:, 1:] = 0.5 + 0.5 * soft.reshape(n_rows, -1)
    sums = (above.T @ above).astype(np.float64)
    which = np.c_[np.zeros(n, int), 1 + np.arange(n * len(_CUTS)).reshape(n, -1)]
    table = sums[which[:, :, None, None], which]
    table = table - np.concatenate([table[:, 1:], np.zeros_like(table[:, :1])], axis=1)
    return table - np.concatenate([table[..., 1:], np.zeros_like(table[..., :1])], axis=3)
