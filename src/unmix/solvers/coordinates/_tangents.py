"""Latents of bent mixings, by the directions in which few variables move: at every point the same few."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

_STARTS, _POINTS, _STEPS = 200, 200, 25
_KNEE = (0.3, 0.03)  # of log(1 + size / knee), at the first and the last step
_HEAVIEST, _REST = 1e4, 1e-3  # weight of a variable that does not move, and of one that may
_APART = 0.1  # squared length that a field must have beside those chosen before it
_LEAST = 1e-9  # of the largest variance
_ALONG = 0.03  # price of a slope along the own field, which prefers increasing functions of a latent


class Fields(NamedTuple):
    """Unit directions in the tangent spaces, how far each variable moves along them, and their costs."""

    directions: Float[Tensor, "s n z"]
    sizes: Float[Tensor, "s x"]
    costs: Float[Tensor, " s"]

    def chosen(self, indices: list[int]) -> "Fields":
        """Return some of the fields."""
        return Fields(*(part[indices] for part in self))


def sparse_fields(bases: Float[Tensor, "n x z"], generator: torch.Generator) -> Fields:
    """Find directions in tangent spaces along which the same few variables move at all points.

    A latent moves its children and nothing else, wherever it is: the variables that it leaves alone have
    Jacobians of rank n - 1 at every point, in any coordinates. Each start asks some n variables to stay; then
    sum_i log(1 + size_i / knee), where size_i is the root mean square over points of how far variable i
    moves, is lowered by reweighted least squares, whose steps are exact for all points at once.

    Parameters
    ----------
    bases : (n, x, z) tensor
        Orthonormal bases of the tangent spaces.
    generator : torch.Generator
        Of the starts.

    Returns
    -------
    Fields

    Examples
    --------
    >>> J = torch.tensor([[1.0, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    >>> turns = torch.linalg.qr(torch.randn(50, 2, 2, generator=torch.Generator().manual_seed(0)))[0]
    >>> fields = sparse_fields(torch.linalg.qr(J @ turns)[0], torch.Generator().manual_seed(0))
    >>> sorted((fields.chosen(independent(fields)).sizes > 0.1).int().tolist())
    [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]]

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Definition 2 (the support is a union over points),
    arXiv:2604.17568; Candès, Wakin and Boyd (2008), arXiv:0711.1612 (reweighting).
    """
    few = bases[:: -(-len(bases) // _POINTS)]
    n_observed, n = few.shape[1:]
    order = torch.rand(_STARTS, n_observed, generator=generator).argsort(1).to(few.device)
    weights = (order < n).to(few) + _REST
    for step in range(_STEPS):
        knee = _KNEE[0] * (_KNEE[1] / _KNEE[0]) ** (step / (_STEPS - 1))
        directions = least_moved(few, weights)
        moved = torch.einsum("nxz,snz->snx", few, directions)
        sizes = moved.square().mean(1).sqrt()
        weights = _weights(sizes, knee)
    return Fields(directions, sizes, torch.log1p(sizes / _KNEE[1]).sum(1))


def least_moved(bases: Float[Tensor, "n x z"], weights: Float[Tensor, "s x"]) -> Float[Tensor, "s n z"]:
    """Return the direction at each point in which the weighted squares of the movements are least."""
    squares = torch.einsum("nxz,sx,nxw->snzw", bases, weights, bases)
    return torch.linalg.eigh(squares)[1][..., 0]


def _weights(sizes: Tensor, knee: float) -> Tensor:
    return (1 / (sizes * (sizes + knee)).clamp_min(1 / _HEAVIEST)).clamp_max(_HEAVIEST)


def independent(fields: Fields) -> list[int]:
    """Choose fields, the sparsest first, each beside the span of those before it at most points.

    Bases of a space are a matroid, so that this greedy choice has the least sum of costs.
    """
    n_points, n = fields.directions.shape[1:]
    span = fields.directions.new_zeros(n_points, n, 0)
    chosen: list[int] = []
    for index in fields.costs.argsort().tolist():
        direction = fields.directions[index]
        rest = direction - (span @ (span.mT @ direction[..., None]))[..., 0]
        if rest.square().sum(-1).median() > _APART:
            chosen.append(index)
            span = torch.cat([span, (rest / rest.norm(dim=-1, keepdim=True))[..., None]], -1)
        if len(chosen) == n:
            break
    return chosen


class Steps(NamedTuple):
    """Steps along one sparse field for each latent, in units of the codes and of the observed variables."""

    codes: Float[Tensor, "n z k"]
    observed: Float[Tensor, "n x k"]


def sparse_steps(jacobians: Float[Tensor, "n x z"], generator: torch.Generator) -> Steps | None:
    """Return steps along the sparsest independent fields of a decoder, or None where there are too few.

    Parameters
    ----------
    jacobians : (n, x, z) tensor
        Of a decoder that fits well; its coordinates do not matter, and need not be sparse.
    generator : torch.Generator

    Returns
    -------
    Steps or None
    """
    bases, corner = torch.linalg.qr(jacobians)
    fields = sparse_fields(bases, generator)
    fields = fields.chosen(independent(fields))
    if len(fields.costs) < jacobians.shape[2]:
        return None
    directions = least_moved(bases, _weights(fields.sizes, _KNEE[1])).permute(1, 2, 0)
    return Steps(torch.linalg.solve(corner, directions), bases @ directions)


def along(values: Float[Tensor, "n v"], steps: Float[Tensor, "m v k"]) -> Float[Tensor, "k v"]:
    """Return linear functions of values, of unit variance, each of which changes along one field alone.

    Function k has the least mean of squared slopes along the other fields, which eigenvectors tell.

    Examples
    --------
    >>> values = torch.randn(500, 2, generator=torch.Generator().manual_seed(0))
    >>> steps = torch.tensor([[1.0, 1.0], [0.0, 1.0]]).expand(500, 2, 2)
    >>> map_of = along(values, steps)
    >>> (map_of / map_of.norm(dim=1, keepdim=True)).abs().round(decimals=1)
    tensor([[0.7000, 0.7000],
            [0.0000, 1.0000]])
    """
    far = steps.double()
    slopes = torch.einsum("nvk,nwk->kvw", far, far) / len(far)
    others = slopes.sum(0) - (1 - _ALONG) * slopes
    spread, turn = torch.linalg.eigh(torch.cov(values.double().T))
    white = turn / spread.clamp_min(_LEAST * spread[-1]).sqrt()
    return (white @ torch.linalg.eigh(white.mT @ others @ white)[1][..., :1])[..., 0].to(values)
