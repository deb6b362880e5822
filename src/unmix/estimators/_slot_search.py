"""The sparsest slots: linear coordinates in which groups of latents move few observed variables."""

import torch
from jaxtyping import Float
from torch import Tensor

_STARTS = 64
_KNEES = (0.3, 0.05)  # of the influence that counts as none: first smooth, then nearly counting
_STEPS, _POLISH = 40, 15
_RIDGE = 1e-6


def influences(J: Float[Tensor, "n x z"]) -> Float[Tensor, "x z z"]:
    """Return E[J_i^T J_i] for each observed variable i: direction u moves it by sqrt(u^T G_i u).

    A mean over samples sees the union of supports, and more: where a slot bends, its gradient turns, so that
    one row tells all directions of the slot from those of the others.
    """
    return torch.einsum("nxy,nxz->xyz", J, J) / len(J)


def sparsest_slots(
    G: Float[Tensor, "x z z"],
    sizes: list[int],
    generator: torch.Generator,
    *,
    n_starts: int = _STARTS,
) -> tuple[Float[Tensor, "z z"], list[int]]:
    """Find directions, grouped into slots, such that slots move as few observed variables as possible.

    Slots are found one after the other, the sparsest first, which is optimal for bases of minimal weight (a
    matroid). Each search starts from random single directions: a direction that moves few variables lies in
    one slot, and the variables it leaves alone tell the rest of that slot from the others. Reweighted least
    squares minimise sum_i log(u^T G_i u + knee^2) while the knee shrinks, outside of what is found already.

    Parameters
    ----------
    G : (x, z, z) tensor
        See `influences`.
    sizes : list of int
        Latents of each slot.
    generator : torch.Generator
    n_starts : int

    Returns
    -------
    directions : (z, z) tensor
        Columns, slot by slot.
    sizes : list of int
        Of the slots in that order: the given ones, reordered.

    References
    ----------
    Matthes, Han and Shen (2026), Mechanistic independence, Type S, arXiv:2509.22196; Spielman, Wang and Wright
    (2012), Exact recovery of sparsely-used dictionaries (one sparse vector after the other).
    """
    white, back = _whitened(G)
    left = sorted(sizes)
    found = white.new_zeros(len(back), 0)
    order: list[int] = []
    while left:
        slot = _sparsest(white, _complement(found), sorted(set(left)), generator, n_starts)
        left.remove(slot.shape[1])
        order.append(slot.shape[1])
        found = torch.cat([found, slot], dim=1)
    return back @ found, order


def _whitened(G: Tensor) -> tuple[Tensor, Tensor]:
    """Change to coordinates in which the influences sum to the identity, each row counting alike."""
    total = G.sum(0)
    eye = torch.eye(len(total)).to(G)
    back = torch.linalg.inv(torch.linalg.cholesky(total + _RIDGE * total.diagonal().mean() * eye)).mT
    white = back.mT @ G @ back
    return white / _traces(white)[:, None, None], back


def _traces(G: Tensor) -> Tensor:
    return G.diagonal(dim1=1, dim2=2).sum(1).clamp_min(1e-30)


def _complement(found: Float[Tensor, "z f"]) -> Float[Tensor, "z c"]:
    """Return an orthonormal basis of what is not found yet."""
    if not found.shape[1]:
        return torch.eye(len(found)).to(found)
    return torch.linalg.qr(found, mode="complete")[0][:, found.shape[1] :]


def _sparsest(
    G: Tensor, free: Tensor, allowed: list[int], generator: torch.Generator, n_starts: int
) -> Float[Tensor, "z d"]:
    """Return the slot, of an allowed size, that moves the fewest observed variables."""
    starts = torch.randn(n_starts, G.shape[1], 1, generator=generator).to(G)
    single = _reweighted(torch.linalg.qr(starts)[0], G, free, _STEPS, _KNEES)
    order = _cost(single, G).argsort()
    size = _size(single[order[0]], G, free, allowed)
    inverse = _inverse(single, G, _KNEES[1])
    slots = _reweighted(_leading(inverse, free, size), G, free, _POLISH, (2 * _KNEES[1], _KNEES[1]))
    return slots[_cost(slots, G).argmin()]


def _size(single: Tensor, G: Tensor, free: Tensor, allowed: list[int]) -> int:
    """Return the size after which the spectrum falls most: as many directions live on the same rows."""
    if len(allowed) == 1:
        return allowed[0]
    inverse = _inverse(single[None], G, _KNEES[1])[0]
    spectrum = torch.linalg.eigvalsh(free.mT @ inverse @ free).flip(0).clamp_min(1e-30).log()
    drop = -torch.diff(spectrum, append=spectrum.new_full((1,), float("-inf")))
    return max((size for size in allowed if size < len(spectrum)), key=lambda size: float(drop[size - 1]))


def _reweighted(U: Tensor, G: Tensor, free: Tensor, steps: int, knees: tuple[float, float]) -> Tensor:
    for step in range(steps):
        knee = knees[0] * (knees[1] / knees[0]) ** (step / (steps - 1))
        U = _leading(_inverse(U, G, knee), free, U.shape[2])
    return U


def _inverse(U: Float[Tensor, "s z d"], G: Float[Tensor, "x z z"], knee: float) -> Float[Tensor, "s z z"]:
    """Return (sum_i w_i G_i)^-1 with the weights w_i = 1 / (|U^T G_i U| + knee^2) of the logarithm."""
    weights = 1 / (_moved(U, G) + knee**2)
    weights = weights / weights.sum(1, keepdim=True)
    return torch.linalg.inv(torch.einsum("sx,xyz->syz", weights, G) + _RIDGE * torch.eye(G.shape[1]).to(G))


def _leading(inverse: Tensor, free: Tensor, size: int) -> Float[Tensor, "s z d"]:
    """Return the subspaces that minimise U^T M U among those of unit length outside of what is found."""
    vectors = torch.linalg.eigh(free.mT @ inverse @ free)[1][:, :, -size:]
    return torch.linalg.qr(inverse @ free @ vectors)[0]


def _moved(U: Tensor, G: Tensor) -> Float[Tensor, "s x"]:
    return torch.einsum("szd,xzy,syd->sx", U, G, U)


def _cost(U: Tensor, G: Tensor) -> Float[Tensor, " s"]:
    return torch.log1p(_moved(U, G) / _KNEES[1] ** 2).sum(1)
