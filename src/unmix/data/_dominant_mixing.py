"""A mixing in which every latent has an observed variable that mostly shows it."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from unmix.structure import Structure

_ROW_SUM = 0.9  # of the derivatives beside the diagonal, which is 1


@dataclass(frozen=True, eq=False)
class DominantMixing:
    """The map x_k = z_p(k) + sum_i c_ki tanh(w_ki z_i + b_ki) over the other parents i of x_k.

    With sum_i |c_ki w_ki| = 0.9 the rows with a latent p(k) of their own are diagonally dominant, so that the
    map is injective everywhere. Rows without one are sums a_k . z plus the same bends. Raw x looks much like
    z here: compare scores with that of x.

    Parameters
    ----------
    structure : Structure
    linear : array of shape (n_observed, n_latents)
        One 1 in the rows with a latent of their own.
    strength, slope, offset : arrays of shape (n_observed, n_latents)
        The c, w and b of each edge; c is 0 where there is no bend.
    bent : bool
        False replaces tanh(t) by t.

    Examples
    --------
    >>> from unmix.structure import ring
    >>> g = DominantMixing.draw(ring(3), bent=True, rng=np.random.default_rng(0))
    >>> J = g.jacobian(np.zeros((1, 3)))
    >>> bool(np.array_equal(J[0] != 0, ring(3).support))
    True

    References
    ----------
    Li et al. (2025), Synergy Between Sufficient Changes and Sparse Mixing Procedure, arXiv:2503.00639 (the
    model; the family is ours).
    """

    structure: Structure
    linear: np.ndarray
    strength: np.ndarray
    slope: np.ndarray
    offset: np.ndarray
    bent: bool

    @classmethod
    def draw(cls, structure: Structure, *, bent: bool, rng: np.random.Generator) -> "DominantMixing":
        """Draw a mixing along a structure that is injective."""
        support = structure.support
        own = _own_latent(support)
        linear = support * rng.uniform(0.5, 1.5, support.shape) * rng.choice([-1.0, 1.0], support.shape)
        linear[own >= 0] = 0.0
        linear[np.flatnonzero(own >= 0), own[own >= 0]] = 1.0
        beside = support & ((linear == 0) | (own < 0)[:, None])
        slope = rng.uniform(0.5, 2.0, support.shape)
        share = beside * rng.uniform(0.5, 1.0, support.shape) * rng.choice([-1.0, 1.0], support.shape)
        share *= _ROW_SUM / np.maximum(np.abs(share).sum(1, keepdims=True), 1e-12)
        return cls(structure, linear, share / slope, slope, rng.normal(size=support.shape), bent)

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return x of shape (n_samples, n_observed)."""
        inside = z[:, None, :] * self.slope + self.offset
        bend = np.tanh(inside) if self.bent else inside
        return z @ self.linear.T + (self.strength * bend).sum(-1)

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        """Return dx_i / dz_j, of shape (n_samples, n_observed, n_latents)."""
        inside = z[:, None, :] * self.slope + self.offset
        steepness = 1 - np.tanh(inside) ** 2 if self.bent else np.ones_like(inside)
        return self.linear + self.strength * self.slope * steepness


def _own_latent(support: np.ndarray) -> np.ndarray:
    """Return the latent matched to each observed variable, -1 where there is none."""
    return np.asarray(maximum_bipartite_matching(csr_array(support), perm_type="column"))
