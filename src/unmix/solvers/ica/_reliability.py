"""What can be said about each component: how non-Gaussian, how well determined, which way up."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ._sums import CONTRASTS


def gaussian_like(scores: Float[np.ndarray, " z"]) -> Bool[np.ndarray, " z"]:
    """Mark the components that can't be told from Gaussian ones, given |a| in standard errors.

    One component is Gaussian below 3. Among k Gaussian ones the solver turns to the projections that look
    least Gaussian, and the largest of k dimensions grows like sqrt(k), with the constant of the spherical
    spin glass with four-fold products, about 1.8. So the largest k is taken for which the k smallest scores
    are below 3 + 1.8 (sqrt(k) - 1).

    Examples
    --------
    >>> gaussian_like(np.array([40.0, 1.0, 3.5, 2.0]))
    array([False,  True,  True,  True])
    """
    order = np.argsort(scores)
    bounds = 3 + 1.8 * (np.sqrt(np.arange(1, len(scores) + 1)) - 1)
    below = np.flatnonzero(np.maximum.accumulate(scores[order]) < bounds)
    marked = np.zeros(len(scores), dtype=bool)
    marked[order[: below[-1] + 1 if len(below) else 0]] = True
    return marked


def labeller(fun: str, n_samples: int) -> Callable[[Tensor], Tensor]:
    """Return a quick label for solvers, with the standard error that a Gaussian component has."""
    error = CONTRASTS[fun].spread / math.sqrt(n_samples)

    def label(excess: Tensor) -> Tensor:
        return torch.from_numpy(gaussian_like(excess.abs().cpu().numpy() / error)).to(excess.device)

    return label


class Shape(NamedTuple):
    """What one pass tells about components y of unit variance.

    `excess` is a = E[g'(y)] - E[g(y) y] with its standard `error`; `curvature` that of each rotation plane;
    `interference` the expected share of every other component; `dependence` how far each pair is from an
    independent one, see `dependence_of`; `objective` the contrast reached.
    """

    excess: np.ndarray
    error: np.ndarray
    curvature: np.ndarray
    interference: np.ndarray
    dependence: np.ndarray
    skewness: np.ndarray
    skewness_error: np.ndarray
    objective: float

    @property
    def gaussian(self) -> np.ndarray:
        """Mark components that can't be told from Gaussian ones."""
        return gaussian_like(np.abs(self.excess) / self.error)

    @property
    def reliability(self) -> np.ndarray:
        """Return the expected correlation of each component with an independent one, as far as it is one.

        The theory of the error takes independence for granted, and would give a spherical law, whose
        components any rotation replaces, nearly 1. So it is multiplied by 1 less the largest dependence.
        Two Gaussian components have no limit, whatever curvature the sample shows between them.
        """
        arbitrary = np.outer(self.gaussian, self.gaussian) & ~np.eye(len(self.excess), dtype=bool)
        expected = 1 / np.sqrt(1 + np.where(arbitrary, np.inf, self.interference).sum(1))
        return expected * (1 - self.dependence.max(1))


def shape_of(sums: tuple[Tensor, ...], n_summed: int, n_samples: int, fun: str) -> Shape:
    """Turn the sums of `shape_sums` over some rows into what they say of components found on `n_samples`.

    References
    ----------
    Tichavský, Koldovský, Oja (2006), Performance analysis of the FastICA algorithm and Cramér-Rao bounds for
    linear independent component analysis, Eq. (19): the symmetric variant.
    """
    means, planes, slopes = (part.cpu().numpy() / n_summed for part in sums)
    value, slope, gy, gg, cube, sixth, qq, q_square, fourth = means
    excess = slope - gy
    # the part of q along y^2 - 1 does not vary, since the variance of the sample is exactly 1
    along = np.square(q_square - excess) / np.maximum(fourth - 1, 1e-12)
    error = np.sqrt(np.maximum(qq - np.square(excess) - along, 1e-24) / n_samples)
    signs = np.where(excess < 0, -1.0, 1.0)
    turned = signs[:, None] * (planes - gy[:, None])
    curvature = (turned + turned.T) / 2
    return Shape(
        excess,
        error,
        curvature,
        _interference(curvature, np.abs(excess), gg - np.square(gy), n_samples),
        dependence_of(curvature, np.abs(excess), slopes - np.outer(slope, slope), fourth - 1, n_summed),
        cube,
        np.sqrt(sixth / n_summed),
        float(np.abs(value - CONTRASTS[fun].gaussian).sum()),
    )


def _interference(curvature: np.ndarray, size: np.ndarray, noise: np.ndarray, n_samples: int) -> np.ndarray:
    """Return var(W_ij) = (gamma_i + gamma_j + tau_j^2) / (n (tau_i + tau_j)^2), from 2 H_ij."""
    above = noise[:, None] + noise + np.square(size)
    with np.errstate(divide="ignore"):
        share = above / (n_samples * np.square(2 * np.maximum(curvature, 0)))
    np.fill_diagonal(share, 0.0)
    return share


def dependence_of(
    curvature: Float[np.ndarray, "z z"],
    size: Float[np.ndarray, " z"],
    slopes: Float[np.ndarray, "z z"],
    square: Float[np.ndarray, " z"],
    n_rows: int,
) -> Float[np.ndarray, "z z"]:
    """Return for each pair how far it is from independent beyond what chance explains, from 0 to 1.

    Independent components have the curvature (|a_i| + |a_j|) / 2 in their plane, and g'(y_i) and g'(y_j) are
    uncorrelated. A spherical law is flat instead, and the events that a false optimum adds up go together. So
    the larger of two numbers is taken: the share of that curvature by which it is missed, and the size of the
    correlation, each less its error under independence times what the largest of all pairs reaches by chance.
    A plane in which curvature is missing, and what is left may be chance, is flat: 1.

    Parameters
    ----------
    curvature : array of shape (z, z)
    size : array of shape (z,)
        |a|.
    slopes : array of shape (z, z)
        The covariance of g'(y).
    square : array of shape (z,)
        The variance of y^2.
    n_rows : int
        How many rows these are taken from.

    Examples
    --------
    >>> curvature = np.array([[0.2, 0.2, 0.0], [0.2, 0.2, 0.19], [0.0, 0.19, 0.2]])
    >>> dependence_of(curvature, np.full(3, 0.2), 0.1 * np.eye(3), np.full(3, 3.0), 10_000)
    array([[0., 0., 1.],
           [0., 0., 0.],
           [1., 0., 0.]])
    """
    reach = 1 + np.sqrt(4 * np.log(max(len(size), 2)))
    expected = np.maximum((size[:, None] + size) / 2, 1e-12)
    spread = np.maximum(np.diagonal(slopes), 1e-24)
    error = np.sqrt((np.outer(spread, square) + np.outer(square, spread)) / n_rows) / 2
    missed = np.maximum(np.abs(curvature - expected) - reach * error, 0) / expected
    together = np.abs(slopes) / np.sqrt(np.outer(spread, spread)) - reach / math.sqrt(n_rows)
    found = np.where((missed > 0) & (curvature < reach * error), 1.0, np.maximum(missed, together))
    np.fill_diagonal(found, 0.0)
    return np.clip(found, 0.0, 1.0)


def stability(rotations: list[Tensor]) -> Float[np.ndarray, " z"]:
    """Return how well each component of the first rotation is found again by the others.

    On white data the correlation of two components is the product of their rows; the best match in each
    other restart is taken, and the mean over restarts.
    """
    first, *others = rotations
    return np.mean([(first @ other.T).abs().max(1).values.cpu().numpy() for other in others], axis=0)
