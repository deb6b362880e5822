"""What the checks look at: the table, its leading directions, and Gaussian data with the same covariance."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmix.solvers.number import Factors, Number, factors

ROWS = 10_000


@dataclass(frozen=True, eq=False)
class Material:
    """A table of finite numbers without constant columns, and the number of latents to look for."""

    values: np.ndarray
    number: Number
    random_state: int

    @property
    def n(self) -> int:
        """Latents that the checks look for: at least one, also where none is supported."""
        return max(1, self.number.n_supported)

    @cached_property
    def kept(self) -> np.ndarray:
        """The rows that are looked at, in their order."""
        rng = np.random.default_rng(self.random_state)
        n = len(self.values)
        return np.arange(n) if n <= ROWS else np.sort(rng.choice(n, ROWS, replace=False))

    @cached_property
    def x(self) -> np.ndarray:
        """Those rows, standardised."""
        rows = self.values[self.kept]
        return (rows - rows.mean(0)) / np.maximum(rows.std(0), 1e-300)

    @cached_property
    def covariance(self) -> np.ndarray:
        """Of the standardised variables."""
        return self.x.T @ self.x / len(self.x)

    @cached_property
    def linear(self) -> Factors:
        """The factor analysis with as many latents."""
        return factors(self.covariance, self.n)

    @cached_property
    def codes(self) -> np.ndarray:
        """The leading principal components, of variance 1."""
        values, vectors = np.linalg.eigh(self.covariance)
        return self.x @ (vectors[:, -self.n :] / np.sqrt(np.maximum(values[-self.n :], 1e-12)))

    @cached_property
    def gaussian(self) -> np.ndarray:
        """As many Gaussian rows with the same covariance."""
        rng = np.random.default_rng(self.random_state + 1)
        values, vectors = np.linalg.eigh(self.covariance)
        return rng.normal(size=self.x.shape) @ (vectors * np.sqrt(np.maximum(values, 0))).T
