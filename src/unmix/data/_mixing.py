"""A nonlinear mixing whose Jacobian has a given support."""

from dataclasses import dataclass, replace

import numpy as np

from unmix.structure import Structure

HIDDEN = 16
SLOPE = 0.2  # of the leaky rectifier
_LINEAR_DRAWS = 64


@dataclass(frozen=True, eq=False)
class SparseMixing:
    """The map x_i = a_i . z + s_i h_i(z), where a_i and the network h_i use only the parents of x_i.

    Each observed variable has a network of its own (two hidden layers of 16 units), so a missing edge is an
    exact zero of the Jacobian. The linear part is random on the support: no diagonal, or other matching of
    observed variables to latents, is made to dominate.

    Parameters
    ----------
    structure : Structure
    linear : array of shape (n_observed, n_latents)
        Rows of norm 1.
    weights : tuple of arrays
        First, second and last layer, of shapes (x, h, z), (x, h, h) and (x, h).
    biases : tuple of arrays
        Of both hidden layers, shape (x, h).
    scale : array of shape (n_observed,)
        The strength s_i of each network.
    activation : {"leaky", "tanh"}

    Examples
    --------
    >>> from unmix.structure import ring
    >>> g = SparseMixing.draw(ring(3), nonlinearity=0.5, activation="leaky", rng=np.random.default_rng(0))
    >>> z = np.zeros((2, 3))
    >>> g(z).shape, g.jacobian(z).shape
    ((2, 3), (2, 3, 3))
    >>> bool(np.all(g.jacobian(z)[:, ~ring(3).support] == 0))
    True

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Section 4.1 (networks with leaky rectifiers),
    arXiv:2604.17568.
    """

    structure: Structure
    linear: np.ndarray
    weights: tuple[np.ndarray, np.ndarray, np.ndarray]
    biases: tuple[np.ndarray, np.ndarray]
    scale: np.ndarray
    activation: str

    @classmethod
    def draw(
        cls, structure: Structure, *, nonlinearity: float, activation: str, rng: np.random.Generator
    ) -> "SparseMixing":
        """Draw a mixing whose networks have `nonlinearity` times the spread of the linear part."""
        x, z = structure.shape
        support = structure.support
        fan_in = np.sqrt(support.sum(1))[:, None, None]
        first = rng.normal(size=(x, HIDDEN, z)) * support[:, None, :] / fan_in
        second = rng.normal(size=(x, HIDDEN, HIDDEN)) * 1.4 / np.sqrt(HIDDEN)
        last = rng.normal(size=(x, HIDDEN)) / np.sqrt(HIDDEN)
        biases = (0.5 * rng.normal(size=(x, HIDDEN)), 0.5 * rng.normal(size=(x, HIDDEN)))
        linear = _best_conditioned(support, rng)
        mixing = cls(structure, linear, (first, second, last), biases, np.ones(x), activation)
        spread = mixing.bend(rng.normal(size=(2000, z))).std(0)
        return replace(mixing, scale=nonlinearity / spread)

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return x of shape (n_samples, n_observed)."""
        return z @ self.linear.T + self.bend(z)

    def bend(self, z: np.ndarray) -> np.ndarray:
        """Return the nonlinear part s_i h_i(z), of shape (n_samples, n_observed)."""
        return self._hidden(z)[0] * self.scale

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        """Return dx_i / dz_j, of shape (n_samples, n_observed, n_latents)."""
        _, slope1, slope2 = self._hidden(z)
        first, second, last = self.weights
        # chain rule from the output side: last' diag(slope2) second diag(slope1) first
        back = np.einsum("nxg,xgh->nxh", last * slope2, second, optimize=True) * slope1
        bend = np.einsum("nxh,xhz->nxz", back, first, optimize=True)
        return self.linear + self.scale[:, None] * bend

    def flattened(self, factor: np.ndarray) -> "SparseMixing":
        """Return the same mixing with the network of each observed variable multiplied by a factor."""
        return replace(self, scale=self.scale * factor)

    def _hidden(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the output of the networks and the slopes of both hidden layers."""
        first, second, last = self.weights
        a, slope1 = self._activate(np.einsum("nz,xhz->nxh", z, first, optimize=True) + self.biases[0])
        a, slope2 = self._activate(np.einsum("nxh,xgh->nxg", a, second, optimize=True) + self.biases[1])
        return np.einsum("nxh,xh->nx", a, last), slope1, slope2

    def _activate(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.activation == "tanh":
            value = np.tanh(a)
            return value, 1 - value**2
        slope = np.where(a > 0, 1.0, SLOPE)
        return a * slope, slope


def _best_conditioned(support: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw random linear parts and return the one with the largest smallest singular value."""

    def draw() -> np.ndarray:
        a = support * rng.uniform(0.5, 1.5, support.shape) * rng.choice([-1.0, 1.0], support.shape)
        return a / np.linalg.norm(a, axis=1, keepdims=True)

    draws = [draw() for _ in range(_LINEAR_DRAWS)]
    return max(draws, key=lambda a: np.linalg.svd(a, compute_uv=False)[-1])
