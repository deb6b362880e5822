"""A mixing in which every slot moves a given set of observed variables, through a network of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unmix.structure import Structure

HIDDEN = 16
MIXINGS = ("bent", "additive", "interacting")
_LINEAR_DRAWS = 32
_BEND = 0.5  # of the bend phi(t) = t + 0.5 tanh(t) of every observed variable


@dataclass(frozen=True, eq=False)
class SlotMixing:
    """The map x = phi(sum_k A_k z_k + s B_k tanh(C_k z_k + c_k) + interactions), z_k the latents of slot k.

    Slot k moves the rows of `supports[:, k]`, all of them and no others: A_k and B_k are zero elsewhere.
    "bent": phi(t) = t + 0.5 tanh(t) in each row, so that slots that share a row interact in every order.
    "additive": phi is the identity and effects add up (Type H_2). "interacting": the identity, and in each
    shared row products of a linear function of one slot with one of another: derivatives of third order never
    touch two slots, those of second order do (Type H_3).

    Parameters
    ----------
    supports : bool array of shape (n_observed, n_slots)
    partition : tuple of tuples of int
        The latents of each slot.
    linear : array of shape (n_observed, n_latents)
    hidden : tuple of arrays
        C of shape (h n_slots, n_latents), zero outside of a slot's own units, and c of shape (h n_slots,).
    last : array of shape (n_observed, h n_slots)
        The B_k side by side.
    scale : float
        The strength s of the nonlinear part and of the interactions.
    products : array of shape (n_observed, n_latents, n_latents)
        Symmetric, zero within slots.
    bend : float
        Of phi.

    References
    ----------
    Brady et al. (2023), Provably learning object-centric representations, Section 5 (a network for each
    slot), arXiv:2305.14229; Brady et al. (2025), Interaction asymmetry, arXiv:2411.07784
    (interactions of an order lower than within slots).
    """

    supports: np.ndarray
    partition: tuple[tuple[int, ...], ...]
    linear: np.ndarray
    hidden: tuple[np.ndarray, np.ndarray]
    last: np.ndarray
    scale: float
    products: np.ndarray
    bend: float

    @classmethod
    def draw(
        cls,
        supports: np.ndarray,
        sizes: Sequence[int],
        *,
        mixing: str,
        nonlinearity: float,
        rng: np.random.Generator,
    ) -> "SlotMixing":
        """Draw networks whose output has `nonlinearity` times the spread of the linear part."""
        owner = np.repeat(np.arange(len(sizes)), sizes)
        units = np.repeat(np.arange(len(sizes)), HIDDEN)
        partition = tuple(tuple(np.flatnonzero(owner == k).tolist()) for k in range(len(sizes)))
        first = rng.normal(size=(len(units), len(owner))) * (units[:, None] == owner)
        first *= 1.5 / np.sqrt(np.array(sizes)[units])[:, None]
        last = rng.normal(size=(len(supports), len(units))) * supports[:, units] / np.sqrt(HIDDEN)
        linear = _best_conditioned(supports[:, owner], rng)
        products = _products(supports, owner, rng) if mixing == "interacting" else np.zeros((1, 1, 1))
        g = cls(
            supports,
            partition,
            linear,
            (first, rng.normal(size=len(units))),
            last * nonlinearity,
            1.0,
            products * nonlinearity,
            _BEND if mixing == "bent" else 0.0,
        )
        return g

    @property
    def structure(self) -> Structure:
        """Which latent moves which observed variable."""
        owner = np.repeat(np.arange(len(self.partition)), [len(slot) for slot in self.partition])
        return Structure(self.supports[:, owner])

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return x of shape (n_samples, n_observed)."""
        total = self._total(z)
        return total + self.bend * np.tanh(total)

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        """Return dx_i / dz_j, of shape (n_samples, n_observed, n_latents)."""
        first, bias = self.hidden
        slope = 1 - np.tanh(z @ first.T + bias) ** 2
        J = self.linear + self.scale * np.einsum("xh,nh,hz->nxz", self.last, slope, first, optimize=True)
        J += self.scale * 2 * np.einsum("xyz,nz->nxy", self.products, z, optimize=True)
        outer = 1 + self.bend * (1 - np.tanh(self._total(z)) ** 2)
        return outer[:, :, None] * J

    def flattened(self, factor: float) -> "SlotMixing":
        """Return the same mixing with its nonlinear parts multiplied by a factor."""
        return replace(self, scale=self.scale * factor)

    def _total(self, z: np.ndarray) -> np.ndarray:
        first, bias = self.hidden
        bent = np.tanh(z @ first.T + bias) @ self.last.T
        if self.products.any():
            bent = bent + np.einsum("xyz,ny,nz->nx", self.products, z, z, optimize=True)
        return z @ self.linear.T + self.scale * bent


def _best_conditioned(support: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw linear parts with rows of norm 1, and return the one with the largest smallest singular value."""
    draws = rng.normal(size=(_LINEAR_DRAWS, *support.shape)) * support
    draws /= np.linalg.norm(draws, axis=2, keepdims=True)
    return draws[np.linalg.svd(draws, compute_uv=False)[:, -1].argmax()]


def _products(supports: np.ndarray, owner: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw (a . z_k)(b . z_l) for slots that share a row, symmetrised and of unit spread."""
    a, b = (rng.normal(size=(len(supports), len(owner))) * supports[:, owner] for _ in range(2))
    across = owner[:, None] != owner
    outer = a[:, :, None] * b[:, None, :] * across
    both = outer + outer.transpose(0, 2, 1)
    size = np.sqrt(2 * np.square(both).sum((1, 2)))[:, None, None]
    return np.divide(both, size, out=np.zeros_like(both), where=size > 0)
