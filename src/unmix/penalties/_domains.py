"""Losses of domain-conditional generators: the mask of what changes, and sparse effects on images."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unmix._group import mine, whole

__all__ = ["domain_code", "edge_count", "mask_sparsity", "perturbation_sparsity"]

_ACTIVE = 0.1  # importance below which a coordinate does not change with the domain


def perturbation_sparsity(
    decoder: Callable[[Any], Any],
    z: Float[Tensor, "n z"],
    *,
    step: float = 0.1,
    active: Bool[Tensor, " z"] | None = None,
    generator: torch.Generator | None = None,
) -> Float[Tensor, ""]:
    """Mean absolute change of the output per unit of one latent, drawn anew for each sample.

    The sparse term of CG-GAN as intended: the second output is that of the perturbed code, both come from one
    decoder without noise of its own, and the difference is divided by the step. The released code passes the
    unperturbed code twice, so that its term measures noise inputs only.

    Parameters
    ----------
    decoder : callable
        Maps (n, z) to (n, ...); it must give the same output for a code (fixed noise, no style mixing).
    z : (n, z) tensor
    step : float
        Length of the step, in either direction.
    active : (z,) bool tensor, optional
        Latents to draw from, those that change with the domain; all by default.
    generator : torch.Generator, optional

    Examples
    --------
    >>> decoder = torch.nn.Linear(2, 2)
    >>> decoder.weight = torch.nn.Parameter(torch.tensor([[1., 0.], [3., 0.]]))
    >>> round(perturbation_sparsity(decoder, torch.zeros(5, 2), active=torch.tensor([True, False])).item(), 4)
    2.0

    References
    ----------
    Li et al. (2025), Synergy Between Sufficient Changes and Sparse Mixing Procedure, Equation 9 and the
    CG-GAN of its Section 4, arXiv:2503.00639.
    """
    if step <= 0:
        raise ValueError(f"`step` must be above 0, got {step}. Use 0.1, say.")
    choices = torch.arange(z.shape[1]) if active is None else torch.nonzero(active.cpu()).flatten()
    if len(choices) == 0:
        raise ValueError("`active` must hold at least one latent, got none. Lower the mask's weight.")
    n = whole(len(z))
    which = mine(torch.randint(len(choices), (n,), generator=generator))
    sign = (2 * mine(torch.randint(2, (n, 1), generator=generator)) - 1).to(z)
    moved = z + sign * step * torch.nn.functional.one_hot(choices[which].to(z.device), z.shape[1]).to(z)
    return (decoder(moved) - decoder(z)).abs().mean() / step


def domain_code(
    noise: Float[Tensor, "n z"],
    shift: Callable[[Any], Any],
    importance: Float[Tensor, " d"],
    *,
    threshold: float = _ACTIVE,
) -> Float[Tensor, "n z"]:
    """Let the first d coordinates of a noise vector change with the domain, as far as they matter.

    z = noise + m * shift(noise) on the first d coordinates, with the mask m = importance where that is above
    the threshold, and the noise itself on the others. Both groups are scaled to unit second moment.

    Parameters
    ----------
    noise : (n, z) tensor
    shift : callable
        The flow of the domain at hand, (n, d) to (n, d).
    importance : (d,) tensor
        Trained with the generator, from ones, against `mask_sparsity`.
    threshold : float

    Examples
    --------
    >>> z = domain_code(torch.ones(2, 3), lambda e: e, torch.tensor([1.0, 0.05]))
    >>> [round(value, 4) for value in z[0].tolist()]
    [1.2649, 0.6325, 1.0]

    References
    ----------
    Xie, Kong, Gong and Zhang (2023), Multi-domain image generation and translation with identifiability
    guarantees; Li et al. (2025), arXiv:2503.00639.
    """
    d = len(importance)
    mask = importance * (importance > threshold)
    changed = noise[:, :d] + mask * shift(noise[:, :d])
    return torch.cat([_unit(changed), _unit(noise[:, d:])], dim=1)


def mask_sparsity(importance: Float[Tensor, " d"]) -> Float[Tensor, ""]:
    """Mean absolute importance: few coordinates should change with the domain.

    Examples
    --------
    >>> mask_sparsity(torch.tensor([1.0, -0.5])).item()
    0.75
    """
    return importance.abs().mean()


def edge_count(decoder: Any, z: Any = None) -> Float[Tensor, ""]:
    """Count the expected edges of a decoder with gates, `unmix.nn.gated_mlp`; codes are not used.

    Examples
    --------
    >>> from unmix.nn import gated_mlp
    >>> round(edge_count(gated_mlp(2, 3)).item(), 2)
    5.84

    References
    ----------
    Louizos, Welling and Kingma (2018), Learning sparse neural networks through L0 regularization, Equation
    12, arXiv:1712.01312; Li et al. (2025), Theorem 1 (the minimal number of edges), arXiv:2503.00639.
    """
    if not hasattr(decoder, "edge_count"):
        raise TypeError(
            f"`decoder` must have gates, got {type(decoder).__name__}. Build it by unmix.nn.gated_mlp."
        )
    return decoder.edge_count()


def _unit(values: Tensor) -> Tensor:
    """Scale rows to unit second moment."""
    return values * (values.square().mean(1, keepdim=True) + 1e-8).rsqrt()
