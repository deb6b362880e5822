"""An invertible network of orthonormal layers, drawn at random."""

from dataclasses import dataclass

import numpy as np

ACTIVATIONS = ("leaky", "smooth", "sigmoid")


@dataclass(frozen=True, eq=False)
class LayeredMixing:
    """A mixing x = a(... a(z W_1) ...) W_m of square orthonormal matrices and invertible activations.

    Parameters
    ----------
    weights : tuple of m arrays of shape (n, n)
    slopes : tuple of m - 1 floats
        Of the activation before each further matrix.
    activation : {"leaky", "smooth", "sigmoid"}
        max(s h, h), with any s > 0; s h + (1 - s) log(1 + exp(h)); or 1 / (1 + exp(-h)).

    Examples
    --------
    >>> g = LayeredMixing.draw(3, n_layers=4, slopes=(0.5, 1.5), rng=np.random.default_rng(0))
    >>> z = np.ones((2, 3))
    >>> g(z).shape, g.jacobian(z).shape
    ((2, 3), (2, 3, 3))

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Section 5 (mixing functions), arXiv:2604.13218.
    """

    weights: tuple[np.ndarray, ...]
    slopes: tuple[float, ...]
    activation: str = "leaky"

    @classmethod
    def draw(
        cls,
        n_latents: int,
        *,
        n_layers: int,
        slopes: tuple[float, float],
        rng: np.random.Generator,
        activation: str = "leaky",
    ) -> "LayeredMixing":
        """Draw a mixing with the slope of each activation uniform between two bounds."""
        weights = [np.linalg.qr(rng.normal(size=(n_latents, n_latents)))[0] for _ in range(n_layers)]
        drawn = rng.uniform(*slopes, size=n_layers - 1)
        return cls(tuple(weights), tuple(float(s) for s in drawn), activation)

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return x of shape (n_samples, n_observed)."""
        h = z @ self.weights[0]
        for weight, slope in zip(self.weights[1:], self.slopes, strict=True):
            h = self._activate(h, slope)[0] @ weight
        return h

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        """Return dx_i / dz_j, of shape (n_samples, n_observed, n_latents)."""
        h = z @ self.weights[0]
        J = np.broadcast_to(self.weights[0].T, (len(z), *self.weights[0].shape))
        for weight, slope in zip(self.weights[1:], self.slopes, strict=True):
            h, derivative = self._activate(h, slope)
            h, J = h @ weight, weight.T @ (derivative[:, :, None] * J)
        return J

    def _activate(self, h: np.ndarray, slope: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the activation and its derivative."""
        if self.activation == "leaky":
            return np.maximum(slope * h, h), np.where(h > slope * h, 1.0, slope)
        logistic = 0.5 * (1 + np.tanh(h / 2))  # without overflow
        if self.activation == "smooth":
            return slope * h + (1 - slope) * np.logaddexp(0, h), slope + (1 - slope) * logistic
        return logistic, logistic * (1 - logistic)
