"""Mixture parameters at the boundary: checked, in common units, with the support of each component."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._certificate import names
from ._subspaces import Flat

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Mixture:
    """A potentially degenerate Gaussian mixture, in units in which each latent has a total variance of one.

    Attributes
    ----------
    weights : ndarray of shape (J,)
    means : ndarray of shape (J, n)
    covariances : ndarray of shape (J, n, n)
    scale : ndarray of shape (n,)
        Standard deviation of each latent in the given units.
    tolerance : float
        Eigenvalues below this share of a component's largest count as zero.
    precisions : ndarray of shape (J, n, n)
        Pseudo-inverses of the covariances.
    supports : tuple of Flat
        Z_j = mu_j + col(Sigma_j).
    rank_margins : tuple of float
        For each component, the factor by which the eigenvalue nearest to what counts as zero is off it.
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    scale: np.ndarray
    tolerance: float
    precisions: np.ndarray
    supports: tuple[Flat, ...]
    rank_margins: tuple[float, ...]

    @property
    def angle(self) -> float:
        """What counts as zero for angles, and for distances in standard deviations.

        Noise of relative variance t tilts a support by about the square root of t.
        """
        return float(np.sqrt(self.tolerance))

    @property
    def ranks(self) -> np.ndarray:
        """The dimension r_j of each support."""
        return np.array([support.basis.shape[1] for support in self.supports])

    def keep(self, components: list[int], weights: np.ndarray) -> "Mixture":
        """Return the mixture of some components, with new weights."""
        chosen = tuple(self.supports[j] for j in components)
        margins = tuple(self.rank_margins[j] for j in components)
        return Mixture(
            weights,
            self.means[components],
            self.covariances[components],
            self.scale,
            self.tolerance,
            self.precisions[components],
            chosen,
            margins,
        )


def checked_mixture(
    weights: ArrayLike, means: ArrayLike, covariances: ArrayLike, tolerance: float
) -> Mixture:
    """Return a mixture, or say what is wrong with its parameters."""
    w, mu, sigma = (np.asarray(a, dtype=np.float64) for a in (weights, means, covariances))
    _check_shapes(w, mu, sigma)
    _check_weights(w)
    if not 0 < tolerance < 0.25:
        raise ValueError(f"`tolerance` must be between 0 and 0.25, got {tolerance}. It is relative.")
    _check_symmetric(sigma)
    scale = _scale(w, mu, sigma)
    units = scale[:, None] * scale
    return _with_supports(w, mu / scale, (sigma + sigma.swapaxes(1, 2)) / 2 / units, scale, tolerance)


def _with_supports(w: np.ndarray, mu: np.ndarray, sigma: np.ndarray, scale: np.ndarray, t: float) -> Mixture:
    values, vectors = np.linalg.eigh(sigma)
    largest = values.max(1, keepdims=True)
    _check_semidefinite(values, largest)
    # rounding leaves eigenvalues of the size of eps times the largest of the whole mixture
    zero = np.maximum(t * largest, 100 * _EPS * largest.max())
    kept = values > zero
    inverse = np.where(kept, 1 / np.where(kept, values, 1.0), 0.0)
    precisions = (vectors * inverse[:, None, :]) @ vectors.swapaxes(1, 2)
    supports = tuple(Flat(m, v[:, k]) for m, v, k in zip(mu, vectors, kept, strict=True))
    margins = tuple(np.exp(np.abs(np.log(np.maximum(values, _EPS * zero) / zero))).min(1).tolist())
    return Mixture(w, mu, sigma, scale, t, precisions, supports, margins)


def _scale(w: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    centre = w @ mu
    within = np.diagonal(sigma, axis1=1, axis2=2)
    scale = np.sqrt(w @ (np.maximum(within, 0.0) + (mu - centre) ** 2))
    constant = np.flatnonzero(scale <= 1e-12 * np.maximum(1.0, np.abs(centre)))
    if len(constant):
        raise ValueError(
            f"`covariances` must let every latent vary, got a latent that is constant in the whole mixture: "
            f"{names(constant.tolist())}. No data can tell about it: drop it."
        )
    return scale


def _check_shapes(w: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> None:
    if w.ndim != 1 or not len(w):
        raise ValueError(f"`weights` must have shape (J,), got {w.shape}. Give one weight per component.")
    if mu.ndim != 2 or len(mu) != len(w) or not mu.shape[1]:
        raise ValueError(f"`means` must have shape ({len(w)}, n), got {mu.shape}. One row per component.")
    if sigma.shape != (*mu.shape, mu.shape[1]):
        raise ValueError(
            f"`covariances` must have shape {(*mu.shape, mu.shape[1])}, got {sigma.shape}. "
            "Give one full matrix per component."
        )
    for name, values in (("weights", w), ("means", mu), ("covariances", sigma)):
        if not np.isfinite(values).all():
            raise ValueError(f"`{name}` must be finite, got NaN or infinite entries. Look for empty parts.")


def _check_weights(w: np.ndarray) -> None:
    if (w <= 0).any():
        j = int(np.argmax(w <= 0))
        raise ValueError(f"`weights` must be positive, got {w[j]} for component {j}. Drop that component.")
    if abs(w.sum() - 1) > 1e-6:
        raise ValueError(f"`weights` must sum to one, got {w.sum():.6g}. Divide them by their sum.")


def _check_symmetric(sigma: np.ndarray) -> None:
    gaps = np.abs(sigma - sigma.swapaxes(1, 2)).max((1, 2))
    wrong = gaps > 1e-8 * np.abs(sigma).max((1, 2))
    if wrong.any():
        j = int(np.argmax(wrong))
        raise ValueError(
            f"`covariances` must be symmetric, got entries that differ by {gaps[j]:.3g} in component {j}. "
            "Average the matrix with its transpose if this is rounding."
        )


def _check_semidefinite(values: np.ndarray, largest: np.ndarray) -> None:
    wrong = (values < -1e-8 * np.abs(values).max(1, keepdims=True)).any(1) | (largest[:, 0] < 0)
    if wrong.any():
        j = int(np.argmax(wrong))
        raise ValueError(
            f"`covariances` must be positive semi-definite, got the eigenvalue {values[j].min():.3g} "
            f"(latents in units of their standard deviation) in component {j}. Zero is allowed, less is not."
        )
