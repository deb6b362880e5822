"""Supports of the components of a degenerate mixture, found among neighbours, and where they intersect."""

import torch
from jaxtyping import Float
from torch import Tensor

_JOINED = 16
_GAP = 5.0  # least ratio between a singular value of the support and one outside
_SHARED = 0.995  # eigenvalue of a mean of projections that counts as 1
_FLOOR = 1e-4


def normal_projections(
    y: Float[Tensor, "n z"], n_anchors: int, generator: torch.Generator
) -> tuple[Float[Tensor, "a z z"], Float[Tensor, "a z"]]:
    """Return projections onto what is constant among the neighbours of random samples, and their centres.

    Local principal components: where neighbours belong to one component of the mixture, they span its
    support, and the rest of the space is spanned by the rows of its inactive latents. Anchors around which
    nothing is constant are left out.
    """
    anchors = y[torch.randint(len(y), (n_anchors,), generator=generator).to(y.device)]
    nearest = torch.cdist(anchors, y).topk(min(y.shape[1] + 3, len(y)), largest=False).indices
    centres = y[nearest].mean(1)
    _, values, right = torch.linalg.svd(y[nearest] - centres[:, None], full_matrices=True)
    values = values.clamp_min(_FLOOR * values[:, :1])
    gaps, last = (values[:, :-1] / values[:, 1:]).max(1)  # the support ends at the widest gap
    outside = torch.arange(y.shape[1], device=y.device) > last[:, None]
    normals = right * outside[:, :, None]
    clear = gaps > _GAP
    return (normals.mT @ normals)[clear], centres[clear]


def support_intersections(
    y: Float[Tensor, "n z"], n_starts: int, generator: torch.Generator
) -> tuple[Float[Tensor, "s z"], Float[Tensor, " s"]]:
    """Return rows and offsets of latents by intersecting the normal spaces of supports.

    A row belongs to the normal space of every component in which its latent is inactive. Starting from one
    component, others are joined as long as a common direction is left; when just one is, it is a row.

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Assumptions 3.6 and 3.8, arXiv:2604.13218.
    """
    if y.shape[1] == 1:  # a single row is no intersection
        return y[:0], y[:0, 0]
    projections, centres = normal_projections(y, 2 * n_starts, generator)
    if len(projections) == 0:
        return y[:0], y[:0, 0]
    first = torch.arange(len(projections), device=y.device)[:n_starts]
    total, count = projections[first].clone(), y.new_ones(len(first))
    values, vectors = torch.linalg.eigh(total)
    for _ in range(_JOINED):
        other = torch.randint(len(projections), (len(first),), generator=generator).to(y.device)
        joined = (total + projections[other]) / (count + 1)[:, None, None]
        new_values, new_vectors = torch.linalg.eigh(joined)
        fits = (new_values[:, -1] > _SHARED) & ((values > _SHARED).sum(1) > 1)
        total[fits] += projections[other[fits]]
        count[fits] += 1
        values[fits], vectors[fits] = new_values[fits], new_vectors[fits]
    rows = vectors[:, :, -1].contiguous()
    return rows, -(rows * centres[first]).sum(1)
