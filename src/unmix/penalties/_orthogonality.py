"""Penalties that ask the latents to act orthogonally, or without interaction."""

import math
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from unmix._group import mine, whole
from unmix.nn import first_directional, jacobian, jvp_columns, second_directional

__all__ = ["hessian_penalty", "ima_contrast", "orojar"]

Decoder = Callable[[Any], Any]
_FEW = 32  # latents whose second derivatives are not counted
_MOST_BYTES = 2**32  # of second derivatives; to compute with them takes several times as much


def orojar(
    decoder: Decoder,
    z: Float[Tensor, "n z"],
    *,
    exact: bool = True,
    n_vectors: int = 2,
    step: float | None = None,
    generator: torch.Generator | None = None,
) -> Float[Tensor, ""]:
    """Orthogonal Jacobian regularisation: variance over Rademacher v of |J v|^2.

    It equals 2 sum_{i != j} (J_i' J_j)^2, twice the squared off-diagonal of J'J, and is zero exactly when the
    columns of the Jacobian are orthogonal.

    Parameters
    ----------
    decoder : callable
        Maps (n, z) to (n, x), each sample by itself.
    z : (n, z) tensor
        Codes.
    exact : bool
        Sum the off-diagonal of J'J; otherwise estimate the variance, without bias, from draws of v.
    n_vectors : int
        Number of draws when not exact.
    step : float, optional
        Forward differences of this length instead of derivatives (0.1 in the published code).
    generator : torch.Generator, optional
        Source of the draws; PyTorch's default one if not given.

    Returns
    -------
    scalar tensor
        Mean over the batch.

    Examples
    --------
    >>> decoder = torch.nn.Linear(2, 2)
    >>> decoder.weight = torch.nn.Parameter(torch.tensor([[1., 1.], [0., 1.]]))
    >>> orojar(decoder, torch.zeros(5, 2)).item()
    4.0

    References
    ----------
    Wei et al. (2021), Orthogonal Jacobian regularization for unsupervised disentanglement in image
    generation, Section 3, arXiv:2108.07668.
    """
    if exact:
        J = jacobian(decoder, z) if step is None else jvp_columns(decoder, z, _all(z), step=step)
        return _quadratic_variance(J.mT @ J).mean()
    return _sampled_variance(
        lambda a, v: first_directional(decoder, a, v, step=step).square().sum(1, keepdim=True),
        z,
        n_vectors,
        generator,
    )


def hessian_penalty(
    decoder: Decoder,
    z: Float[Tensor, "n z"],
    *,
    exact: bool = True,
    n_vectors: int = 2,
    step: float | None = None,
    generator: torch.Generator | None = None,
) -> Float[Tensor, ""]:
    """Hessian penalty: variance over Rademacher v of v' H v, summed over outputs.

    For each output it equals 2 sum_{i != j} H_ij^2, and is zero exactly when no two latents interact.
    Arguments as for `orojar`. Networks of piecewise linear activations have H = 0 almost everywhere: give
    them a `step` (0.1 in the published code), which reaches across the kinks.

    The exact form holds n * x * z * z second derivatives at once. With more than 32 latents it is refused
    where they take more than 4 GiB: use ``exact=False, step=0.1`` for wide codes of images.

    Examples
    --------
    >>> def product(z): return z[:, :1] * z[:, 1:]
    >>> hessian_penalty(product, torch.randn(5, 2)).item()
    4.0

    References
    ----------
    Peebles et al. (2020), The Hessian penalty: a weak prior for unsupervised disentanglement,
    Section 3, arXiv:2008.10599.
    """
    if exact:
        _refuse_large(decoder, z)
        return _quadratic_variance(_hessian(decoder, z, step)).sum(1).mean()
    return _sampled_variance(
        lambda a, v: second_directional(decoder, a, v, step=step), z, n_vectors, generator
    )


def ima_contrast(decoder: Decoder, z: Float[Tensor, "n z"]) -> Float[Tensor, ""]:
    """Independent mechanism analysis: sum_j log |J_j| - log det(J'J) / 2, mean over the batch.

    Never negative (Hadamard), zero exactly for orthogonal columns, and blind to the scale of each latent;
    infinite where the Jacobian loses rank.

    Examples
    --------
    >>> decoder = torch.nn.Linear(2, 2)
    >>> decoder.weight = torch.nn.Parameter(torch.tensor([[3., 4.], [0., 3.]]))
    >>> round(ima_contrast(decoder, torch.zeros(5, 2)).item(), 4) # log(5 / 3)
    0.5108

    References
    ----------
    Gresele et al. (2021), Independent mechanism analysis, a new concept? (the IMA contrast),
    arXiv:2106.05200.
    """
    J = jacobian(decoder, z)
    if J.shape[1] < J.shape[2]:
        raise ValueError(
            f"`decoder` must have at least as many outputs as latents, got {J.shape[1]} outputs for "
            f"{J.shape[2]} latents. Use fewer latents."
        )
    norms = torch.linalg.vector_norm(J, dim=1, keepdim=True).clamp_min(torch.finfo(J.dtype).tiny)
    unit = J / norms  # first, so that the determinant does not carry the scales that cancel
    return -torch.linalg.slogdet(unit.mT @ unit).logabsdet.mean() / 2


def _quadratic_variance(matrix: Float[Tensor, "*n z z"]) -> Float[Tensor, "*n"]:
    """Variance of v' M v over Rademacher v, 2 sum_{i != j} M_ij^2 for symmetric M."""
    off_diagonal = matrix - torch.diag_embed(matrix.diagonal(dim1=-2, dim2=-1))
    return 2 * off_diagonal.square().sum((-2, -1))


def _sampled_variance(
    form: Callable[[Tensor, Tensor], Tensor],
    z: Float[Tensor, "n z"],
    n_vectors: int,
    generator: torch.Generator | None,
) -> Float[Tensor, ""]:
    """Unbiased variance of `form(z, v)` over Rademacher draws of v, all in one call; summed over outputs."""
    if n_vectors < 2:
        raise ValueError(f"`n_vectors` must be at least 2, got {n_vectors}. A variance needs two draws.")
    device = z.device if generator is None else generator.device
    shape = n_vectors, whole(len(z)), z.shape[1]
    coins = mine(torch.randint(0, 2, shape, generator=generator, device=device).transpose(0, 1))
    v = (2 * coins - 1).transpose(0, 1).to(z)
    values = form(z, v.flatten(0, 1))
    return values.unflatten(0, (n_vectors, len(z))).var(0).sum(1).mean()


def _refuse_large(decoder: Decoder, z: Float[Tensor, "n z"]) -> None:
    """Refuse second derivatives that are too many to be held, before the system ends the process."""
    if z.shape[1] <= _FEW:
        return
    shape = len(z), decoder(z)[0].numel(), z.shape[1], z.shape[1]  # all rows: one may need its own place
    size = math.prod(shape) * z.element_size()
    if size > _MOST_BYTES:
        raise ValueError(
            "`exact` must be False where second derivatives take more than 4 GiB, got True, and those of "
            f"shape {shape} (samples, outputs, latents, latents) take {size / 2**30:,.0f} GiB. "
            "Use exact=False, step=0.1."
        )


def _hessian(decoder: Decoder, z: Float[Tensor, "n z"], step: float | None) -> Float[Tensor, "n x z z"]:
    """Second derivatives of every output, or mixed differences of length `step`."""
    if step is None:
        second = jacobian(lambda a: jacobian(decoder, a), z, mode="forward")
    else:
        columns = _all(z)
        second = jvp_columns(lambda a: jvp_columns(decoder, a, columns, step=step), z, columns, step=step)
    return second.unflatten(1, (-1, z.shape[1]))


def _all(z: Tensor) -> Tensor:
    return torch.arange(z.shape[1], device=z.device)
