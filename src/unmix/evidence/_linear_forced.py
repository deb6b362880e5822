"""Correlations that a fit had to forbid: independent components are uncorrelated without being made so.

FastICA looks among uncorrelated components only. Where x is a linear mixture of independent latents that
costs nothing. Where it is not (latents depend on each other, the mixing bends, sensors have noise of their
own, a latent is missing) components that fit better would be correlated: the constraint binds. To first order
E[tanh(y_i) y_j], in units of what a rotation moves it by, is what component j holds of latent i, and the sum
over both orders is the correlation that was forbidden. A rotation does not move that sum, so that an error of
the fit does not, and its own error is that of a mean over rows.

References
----------
Cardoso, Laheld (1996), Equivariant adaptive source separation: components with and without the constraint.
"""

import numpy as np

from unmix._fitted import thinned

from ._linear_planes import standard

_MOST = 3000  # rows


def forbidden(codes: np.ndarray) -> np.ndarray:
    """Return for each pair of components the correlation that was forbidden over its standard error.

    About 1 in size by chance; 0 for a component with itself.

    >>> from unmix.estimators import FastICA
    >>> x = np.random.default_rng(0).laplace(size=(3000, 2)) @ [[1.0, 0.6], [-0.4, 1.0]]
    >>> of = [forbidden(FastICA(2, random_state=0).fit_transform(table))[0, 1] for table in (x, np.tanh(x))]
    >>> (np.abs(of) > 3).tolist()  # a mixture, and one that was bent
    [False, True]
    """
    y = standard(thinned(codes, _MOST)).astype(np.float32)  # errors of means are far larger than rounding
    bent, squares = np.tanh(y), np.square(y)
    own, bent_squares = bent * y, np.square(bent)
    slope = 1 - bent_squares
    moved = own.mean(0) - slope.mean(0)  # by a rotation; 0 for a Gaussian component
    stretch = _with_transpose(np.outer(own.mean(0) + slope.mean(0), moved)) / 2  # what correlation would do
    means = _with_transpose(moved * _mean(bent, y)) - stretch * _mean(y, y)
    second = _with_transpose(np.square(moved) * _mean(bent_squares, squares))
    second += 2 * np.outer(moved, moved) * _mean(own, own) + np.square(stretch) * _mean(squares, squares)
    second -= 2 * stretch * _with_transpose(moved * _mean(own, squares))
    error = np.sqrt(np.maximum(second - np.square(means), 0) / len(y))
    np.fill_diagonal(means, 0)
    return (means / np.maximum(error, 1e-30)).astype(np.float64)


def _mean(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the mean over rows of the product of each column of one table with each of another."""
    return a.T @ b / len(a)


def _with_transpose(table: np.ndarray) -> np.ndarray:
    return table + table.T
