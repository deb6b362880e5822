"""Factor analysis by expectation and maximisation: linear latents, and noise of its own for each variable."""

from typing import NamedTuple

import numpy as np

FLOOR = 1e-5  # of the noise, in variances of a variable: 0.3% of its spread counts as none
_ITERATIONS = 200
_SETTLED = 1e-4  # of the noise, at which the iteration may stop


class Factors(NamedTuple):
    """Loadings of shape (n_features, n_latents) and the variance of the noise of each variable."""

    loadings: np.ndarray
    noise: np.ndarray

    def lengths(self, x: np.ndarray) -> np.ndarray:
        """Return -log p of each row in nats, less half log 2 pi for each variable."""
        precision = self._precision()
        log_volume = -np.linalg.slogdet(precision)[1]
        return 0.5 * (np.einsum("ni,ij,nj->n", x, precision, x, optimize=True) + log_volume)

    def _precision(self) -> np.ndarray:
        """Invert the covariance through the small matrix of the latents (Woodbury)."""
        scaled = self.loadings / self.noise[:, None]
        inner = np.eye(self.loadings.shape[1]) + self.loadings.T @ scaled
        return np.diag(1 / self.noise) - scaled @ np.linalg.solve(inner, scaled.T)


def factors(covariance: np.ndarray, n_latents: int) -> Factors:
    """Fit `n_latents` factors to a covariance, from its principal components on.

    Examples
    --------
    >>> loadings = np.array([[1.0], [2.0], [1.0], [0.5]])
    >>> factors(loadings @ loadings.T + np.diag([0.1, 0.2, 0.3, 0.4]), 1).noise.round(2)
    array([0.1, 0.2, 0.3, 0.4])

    References
    ----------
    Rubin and Thayer (1982), EM algorithms for ML factor analysis, Psychometrika 47.
    """
    found = _principal(covariance, n_latents)
    for _ in range(_ITERATIONS if n_latents else 0):
        before, found = found, _step(covariance, found)
        if np.abs(np.log(found.noise / before.noise)).max() < _SETTLED:
            break
    return found


def _principal(covariance: np.ndarray, n: int) -> Factors:
    """Return probabilistic principal components, or independent variables where there are no latents."""
    if n == 0:
        return Factors(np.zeros((len(covariance), 0)), np.maximum(np.diag(covariance), FLOOR))
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1], vectors[:, ::-1]
    rest = max(float(values[n:].mean()) if n < len(values) else 0.0, FLOOR)
    loadings = vectors[:, :n] * np.sqrt(np.maximum(values[:n] - rest, FLOOR))
    return Factors(loadings, np.full(len(values), rest))


def _step(covariance: np.ndarray, now: Factors) -> Factors:
    scaled = now.loadings / now.noise[:, None]
    inner = np.linalg.inv(np.eye(now.loadings.shape[1]) + now.loadings.T @ scaled)
    to_latents = inner @ scaled.T  # E[z | x] = to_latents x
    cross = covariance @ to_latents.T
    loadings = np.linalg.solve(inner + to_latents @ cross, cross.T).T
    noise = np.diag(covariance) - np.einsum("ij,ij->i", loadings, cross)
    return Factors(loadings, np.maximum(noise, FLOOR))
