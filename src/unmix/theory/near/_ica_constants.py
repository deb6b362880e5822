"""How stable whitening and ICA are: the constants of Theorem 2 of near-identifiability, and curvature."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._certificate import attributes, finite_table

_Pair = tuple[np.ndarray, np.ndarray]


def whitening_constants(bound: float, smallest: float) -> tuple[float, float]:
    """Return K_w, K_w' such that whitened vectors differ by at most K_w eps + K_w' eps^2.

    For X, Y of mean zero with ||X|| <= B, ||X - Y|| <= eps, and covariances whose eigenvalues are at least
    lambda: K_w = lambda^(-1/2) + B^2 lambda^(-3/2), K_w' = B lambda^(-3/2) / 2.

    Parameters
    ----------
    bound : float
        B.
    smallest : float
        lambda, positive.

    Returns
    -------
    tuple of two floats

    Examples
    --------
    >>> k, k2 = whitening_constants(2, 0.5)
    >>> round(k * 0.01 + k2 * 0.01**2, 6)
    0.127562

    References
    ----------
    Nelson et al. (2026), Lemma A.5, arXiv:2603.11970; constants worked out along its proof.
    """
    if bound < 0 or not smallest > 0:
        raise ValueError(
            f"`bound` must be at least 0 and `smallest` positive, got {bound} and {smallest}. "
            "Drop directions without variance first."
        )
    return smallest**-0.5 + bound**2 * smallest**-1.5, bound * smallest**-1.5 / 2


def ica_constant(bound: float, curvature: float, n_components: int) -> float:
    """Return K_ica = 1 + (B / gamma)(l2 B + l1): ICA of white vectors moved by eps moves by K_ica eps.

    To first order in eps, for the contrast sum_j log cosh(y_j), whose gradient is at most l1 = sqrt(D) long
    and whose second derivative is at most l2 = 1.

    Parameters
    ----------
    bound : float
        B, the largest norm of a white vector.
    curvature : float
        gamma, as `ica_curvature` measures it, positive.
    n_components : int
        D.

    Returns
    -------
    float

    Examples
    --------
    >>> ica_constant(2.0, 0.5, 4)
    17.0

    References
    ----------
    Nelson et al. (2026), Lemma A.8, arXiv:2603.11970; constants worked out along its proof.
    """
    if bound < 0 or not curvature > 0 or n_components < 1:
        raise ValueError(
            "`bound` must be at least 0, `curvature` positive and `n_components` at least 1, got "
            f"{bound}, {curvature} and {n_components}. No curvature, no bound: two components are Gaussian."
        )
    return float(1 + (bound / curvature) * (bound + np.sqrt(n_components)))


@dataclass(frozen=True, eq=False)
class Curvature:
    """How firmly the data hold an ICA solution in place; see `ica_curvature`.

    Attributes
    ----------
    gamma : float
        Smallest curvature over all planes: how firmly the least certain rotation is held. Not positive
        where two components are Gaussian; infinite for a single component, which cannot be rotated.
    planes : ndarray of shape (d, d)
        Curvature of rotating component i into j; NaN on the diagonal.
    reliability : ndarray of shape (d,)
        E[g'(y)] - E[g(y) y] per component: 0 for a Gaussian, positive above it, negative below.
    standard_error : ndarray of shape (d,)
        Of the reliability.
    gradient : float
        Largest entry of skew(diag(s) E[g(y) y']): 0 where y is an ICA solution.
    """

    gamma: float
    planes: np.ndarray
    reliability: np.ndarray
    standard_error: np.ndarray
    gradient: float

    @property
    def gaussian(self) -> np.ndarray:
        """Which components are within 3 standard errors of a Gaussian's reliability; shape (d,)."""
        return np.abs(self.reliability) < 3 * self.standard_error

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return attributes(self, "gamma", "reliability", "standard_error", "gaussian", "gradient")


def ica_curvature(y: ArrayLike, *, contrast: str = "logcosh") -> Curvature:
    """Measure the curvature of the ICA objective at white components y, plane by plane.

    With g = G' and s_i the sign of E[g'(y_i)] - E[g(y_i) y_i], the objective sum_i s_i E[G(y_i)] has in the
    plane (i, j) the curvature H_ij = 1/2 (s_i (E[g'(y_i) y_j^2] - E[g(y_i) y_i]) + the same with i and j
    exchanged), half its second derivative in the angle. It vanishes where both components are Gaussian.

    Parameters
    ----------
    y : array-like of shape (n_samples, n_components)
        Components of mean zero and unit variance, as ICA returns them.
    contrast : {"logcosh", "exp", "cube"}

    Returns
    -------
    Curvature

    Examples
    --------
    >>> y = np.random.default_rng(0).laplace(size=(100_000, 3)) / np.sqrt(2)
    >>> round(ica_curvature(y).gamma, 2)
    0.15
    >>> normal = np.random.default_rng(0).normal(size=(100_000, 2))
    >>> abs(ica_curvature(normal).gamma) < 0.01
    True

    References
    ----------
    Nelson et al. (2026), Lemma A.8 (the curvature gamma), arXiv:2603.11970. Hyvärinen (1999), Fast and
    robust fixed-point algorithms for independent component analysis, for the contrasts.
    """
    values = finite_table(y, "y", "(n_samples, n_components)")
    if contrast not in _CONTRASTS:
        raise ValueError(f"`contrast` must be one of {tuple(_CONTRASTS)}, got {contrast!r}.")
    if np.abs((values**2).mean(0) - 1).max() > 0.1:
        raise ValueError("`y` must have unit variance in every column. Whiten it first.")
    g, slope = _CONTRASTS[contrast](values)
    n, d = values.shape
    own = slope - g * values
    reliability = own.mean(0)
    sign = np.where(reliability < 0, -1.0, 1.0)
    one_way = sign[:, None] * (slope.T @ values**2 / n - (g * values).mean(0)[:, None])
    planes = (one_way + one_way.T) / 2
    np.fill_diagonal(planes, np.nan)
    pull = sign[:, None] * (g.T @ values) / n
    return Curvature(
        float(np.nanmin(planes)) if d > 1 else float("inf"),
        planes,
        reliability,
        own.std(0) / np.sqrt(n),
        float(np.abs(pull - pull.T).max() / 2),
    )


def _log_cosh(y: np.ndarray) -> _Pair:
    g = np.tanh(y)
    return g, 1 - g**2


def _exp(y: np.ndarray) -> _Pair:
    bell = np.exp(-(y**2) / 2)
    return y * bell, (1 - y**2) * bell


def _cube(y: np.ndarray) -> _Pair:
    return y**3, 3 * y**2


_CONTRASTS = {"logcosh": _log_cosh, "exp": _exp, "cube": _cube}
