"""Candidates for slots: subspaces of directions that leave many observed variables alone."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

_STARTS, _FEW = 96, 8
_KNEES = (0.3, 0.05)  # of the share of a variable's influence that counts as none: smooth, then counting
_STEPS, _POLISH = 30, 10
_RIDGE = 1e-6


class Pool:
    """Sparse slots of each size, found from random directions.

    A direction u that moves few observed variables lies in one slot. It is found by reweighted least squares
    for sum_i log(u^T G_i u + knee^2), while the knee shrinks. The variables that it leaves alone then tell
    the other directions of its slot: they leave the same ones alone.

    Attributes
    ----------
    back : (z, z) tensor
        From coordinates in which the G_i sum to the identity, where slots are searched, to those of G.
    slots : dict of int to (slots, costs)
        For each size, orthonormal (s, z, size) and (s,).
    """

    def __init__(self, G: Float[Tensor, "x z z"], sizes: Sequence[int], generator: torch.Generator) -> None:
        total, eye = G.sum(0), torch.eye(G.shape[1]).to(G)
        self.back = torch.linalg.inv(torch.linalg.cholesky(total + _RIDGE * total.diagonal().mean() * eye)).mT
        white = self.back.mT @ G @ self.back
        shares = white.diagonal(dim1=1, dim2=2).sum(1).clamp_min(1e-30)
        self.G = white / shares[:, None, None]  # every observed variable counts alike
        single = self._singles(eye, _STARTS, generator)
        self.slots = {size: self._grown(single, size, eye) for size in set(sizes)}

    def sparsest(self, size: int, free: Float[Tensor, "z c"], generator: torch.Generator) -> Tensor:
        """Return the best slot of a few more starts, outside of what is found already."""
        slots, costs = self._grown(self._singles(free, _FEW, generator), size, free)
        return slots[costs.argmin()]

    def _singles(self, free: Tensor, n_starts: int, generator: torch.Generator) -> Float[Tensor, "s z 1"]:
        starts = torch.randn(n_starts, len(free), 1, generator=generator).to(free)
        return self._reweighted(starts / starts.norm(dim=1, keepdim=True), free, _STEPS, _KNEES)

    def _grown(self, single: Tensor, size: int, free: Tensor) -> tuple[Tensor, Tensor]:
        wide = _leading(self._inverse(single, _KNEES[1]), free, size)
        slots = self._reweighted(wide, free, _POLISH, (2 * _KNEES[1], _KNEES[1]))
        return slots, (self._moved(slots) / _KNEES[1] ** 2).log1p().sum(1)

    def _reweighted(self, U: Tensor, free: Tensor, steps: int, knees: tuple[float, float]) -> Tensor:
        for step in range(steps):
            knee = knees[0] * (knees[1] / knees[0]) ** (step / (steps - 1))
            U = _leading(self._inverse(U, knee), free, U.shape[2])
        return U

    def _inverse(self, U: Float[Tensor, "s z d"], knee: float) -> Float[Tensor, "s z z"]:
        """Return (sum_i w_i G_i)^-1 with the weights w_i = 1 / (tr U^T G_i U + knee^2) of the logarithm."""
        weights = 1 / (self._moved(U) + knee**2)
        total = torch.einsum("sx,xyz->syz", weights / weights.sum(1, keepdim=True), self.G)
        return torch.linalg.inv(total + _RIDGE * torch.eye(total.shape[1]).to(total))

    def _moved(self, U: Float[Tensor, "s z d"]) -> Float[Tensor, "s x"]:
        return torch.einsum("szd,xzy,syd->sx", U, self.G, U)


def complement(found: Float[Tensor, "z f"]) -> Float[Tensor, "z c"]:
    """Return an orthonormal basis of what is not found yet."""
    return torch.linalg.qr(found, mode="complete")[0][:, found.shape[1] :]


def _leading(inverse: Tensor, free: Tensor, size: int) -> Float[Tensor, "s z d"]:
    """Return the subspaces that minimise tr U^T M U among those of unit length outside of what is found."""
    vectors = torch.linalg.eigh(free.mT @ inverse @ free)[1][:, :, -size:]
    return torch.linalg.qr(inverse @ free @ vectors)[0]
