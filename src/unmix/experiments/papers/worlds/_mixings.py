"""Mixings of three families, along a structure, by layers and by slots, and laws of latents.

Each seed takes the next family: hidden units that saturate (tanh), that swing (sine) and that have one bend
(leaky). A mixing that folds at the samples is flattened until it does not.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Rng = np.random.Generator
FAMILIES = ("tanh", "sine", "leaky")
_UNITS = 6  # hidden, of each observed variable
_LEAST = 0.1  # singular value of the Jacobian at a sample
_PROBES = 1000
_FLATTER = 0.8
_BENDS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray], np.ndarray]]] = {
    "tanh": (np.tanh, lambda t: 1 - np.tanh(t) ** 2),
    "sine": (np.sin, np.cos),
    "leaky": (lambda t: np.where(t > 0, t, 0.2 * t), lambda t: np.where(t > 0, 1.0, 0.2)),
}
LAWS: dict[str, Callable[[Rng, tuple[int, int]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "laplace": lambda rng, shape: rng.laplace(scale=np.sqrt(0.5), size=shape),
    "uniform": lambda rng, shape: rng.uniform(-np.sqrt(3), np.sqrt(3), size=shape),
    "gamma": lambda rng, shape: rng.gamma(2.0, np.sqrt(0.5), size=shape) - np.sqrt(2.0),
    "dependent": lambda rng, shape: (
        np.sqrt(0.5) * rng.normal(size=(shape[0], 1)) + np.sqrt(0.5) * rng.normal(size=shape)
    ),
}


def family_of(seed: int) -> str:
    """Name the family of a seed: one after the other.

    >>> [family_of(seed) for seed in (3, 4, 5)]
    ['tanh', 'sine', 'leaky']
    """
    return FAMILIES[seed % len(FAMILIES)]


class Rows(NamedTuple):
    """Observed variables x_i = w_i z + sum_k a_ik phi(b_ik z + c_ik), with w and b on a support."""

    linear: np.ndarray
    inner: np.ndarray
    shift: np.ndarray
    outer: np.ndarray
    family: str

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Mix samples."""
        bent = _BENDS[self.family][0](self._inside(z))
        return z @ self.linear.T + np.einsum("nxk,xk->nx", bent, self.outer)

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        """Return the derivatives at samples, shape (n, x, z)."""
        slope = _BENDS[self.family][1](self._inside(z)) * self.outer
        return self.linear + np.einsum("nxk,xkz->nxz", slope, self.inner)

    def _inside(self, z: np.ndarray) -> np.ndarray:
        return np.einsum("nz,xkz->nxk", z, self.inner) + self.shift


def along(
    support: np.ndarray, z: np.ndarray, rng: Rng, *, family: str, bend: float = 0.7, weakest: float = 0.5
) -> np.ndarray:
    """Mix samples along a support; `bend` is the spread of the bent part against that of the linear one.

    Linear edges have a size from `weakest` to 1. The bent part is flattened until no sample has a singular
    value below 0.1 (and, with as many variables as latents, determinants have one sign).
    """
    rows = _drawn(support, z, rng, family=family, bend=bend, weakest=weakest)
    for _ in range(40):
        if _upright(rows.jacobian(z[:_PROBES])):
            break
        rows = rows._replace(outer=_FLATTER * rows.outer)
    return rows(z)


def _drawn(support: np.ndarray, z: np.ndarray, rng: Rng, *, family: str, bend: float, weakest: float) -> Rows:
    shape = (len(support), _UNITS, support.shape[1])
    linear = support * rng.uniform(weakest, 1, support.shape) * rng.choice([-1.0, 1.0], support.shape)
    inner = support[:, None] * rng.normal(size=shape) * 1.5 / np.sqrt(support.sum(1))[:, None, None]
    rows = Rows(linear, inner, rng.normal(size=shape[:2]), rng.normal(size=shape[:2]), family)
    straight, bent = z @ linear.T, rows(z) - z @ linear.T
    return rows._replace(outer=rows.outer * (bend * straight.std(0) / bent.std(0))[:, None])


def _upright(J: np.ndarray) -> bool:
    square = J.shape[1] == J.shape[2]
    one_sided = not square or abs(np.sign(np.linalg.det(J)).sum()) == len(J)
    return bool(one_sided and np.linalg.svd(J, compute_uv=False)[:, -1].min() > _LEAST)


def layers(z: np.ndarray, n_observed: int, n_layers: int, rng: Rng, *, family: str) -> np.ndarray:
    """Mix all latents into all variables by layers, each but the last bent at every unit."""
    x = z / z.std(0)
    for number in range(n_layers):
        x = x @ _conditioned(x.shape[1], n_observed, rng)
        if number < n_layers - 1:
            x = x / x.std(0)
            x = x + 0.9 * np.sin(x) if family == "sine" else _BENDS[family][0](x) + 0.1 * x
    return x


def _conditioned(n_in: int, n_out: int, rng: Rng) -> np.ndarray:
    """Draw a matrix whose singular values are alike within a factor of four."""
    left, _, right = np.linalg.svd(rng.normal(size=(n_in, n_out)), full_matrices=False)
    return (left * rng.uniform(0.5, 2.0, left.shape[1])) @ right
