"""Linear structural causal models on random acyclic graphs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

NOISES: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "gumbel": lambda rng, shape: rng.gumbel(size=shape),
}


@dataclass(frozen=True, eq=False)
class LinearSCM:
    """Variables v with v_i = sum_j W_ij v_j + noise_i, where W is acyclic.

    Parameters
    ----------
    weights : array of shape (n, n)
        Entry (i, j) is the effect of j on i.
    noise : {"normal", "exponential", "gumbel"}
        Standard law of each noise.

    Examples
    --------
    >>> scm = LinearSCM.draw(5, degree=1, rng=np.random.default_rng(0))
    >>> int(scm.graph.sum()), scm.sample(7, np.random.default_rng(0)).shape
    (5, (7, 5))

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Section 5 (ER-k graphs), arXiv:2604.13218.
    """

    weights: np.ndarray
    noise: str = "normal"

    @classmethod
    def draw(
        cls, n_variables: int, *, degree: int, rng: np.random.Generator, noise: str = "normal"
    ) -> "LinearSCM":
        """Draw a graph of exactly `degree * n_variables` edges, acyclic in a random order (ER-k)."""
        later, earlier = np.tril_indices(n_variables, -1)
        edges = rng.choice(len(later), size=degree * n_variables, replace=False)
        weights = np.zeros((n_variables, n_variables))
        weights[later[edges], earlier[edges]] = rng.uniform(0.2, 1.0, len(edges)) * rng.choice(
            [-1.0, 1.0], len(edges)
        )
        order = rng.permutation(n_variables)
        return cls(weights[np.ix_(order, order)], noise)

    @property
    def graph(self) -> np.ndarray:
        """Return the adjacency matrix; entry (j, i) is True where j causes i."""
        return self.weights.T != 0

    def sample(self, n_samples: int, rng: np.random.Generator) -> np.ndarray:
        """Return samples of shape (n_samples, n_variables)."""
        n = len(self.weights)
        noise = NOISES[self.noise](rng, (n_samples, n))
        return np.linalg.solve(np.eye(n) - self.weights, noise.T).T  # v = (I - W)^{-1} noise
