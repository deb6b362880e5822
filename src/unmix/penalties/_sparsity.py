"""Sparsity of the decoder's dependency structure, and of the latents themselves."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from unmix._group import gathered, of_all
from unmix.nn import jacobian, jvp_columns

__all__ = ["dependency_sparsity", "jacobian_sparsity", "latent_sparsity"]

FORMS = ("l1", "group", "log", "group_log")


def dependency_sparsity(
    decoder: Callable[[Any], Any],
    z: Float[Tensor, "n z"],
    *,
    form: str = "l1",
    columns: int | None = None,
    step: float | None = None,
    normalize: str | None = None,
    eps: float = 1e-8,
    knee: float = 0.1,
    generator: torch.Generator | None = None,
) -> Float[Tensor, ""]:
    """Sum of the absolute entries of the decoder's Jacobian, the convex stand-in for the number of edges.

    Parameters
    ----------
    decoder : callable
        Maps (n, z) to (n, x), each sample by itself.
    z : (n, z) tensor
        Codes.
    form, eps, knee
        How an entry counts; see `jacobian_sparsity`.
    columns : int, optional
        Use this many latents, drawn without replacement and shared by the batch, scaled by z / columns so
        that the expectation is the exact penalty.
    step : float, optional
        Forward differences of this length instead of derivatives.
    normalize : {None, "std"}
        "std" multiplies column j by the batch's standard deviation of z_j, held constant, so that inflating
        the codes does not lower the penalty.
    generator : torch.Generator, optional
        Source of the drawn columns; PyTorch's default one if not given.

    Returns
    -------
    scalar tensor
        Sum over the entries within a sample, mean over the batch.

    Examples
    --------
    >>> decoder = torch.nn.Linear(2, 2)
    >>> decoder.weight = torch.nn.Parameter(torch.tensor([[1., -2.], [0., 3.]]))
    >>> dependency_sparsity(decoder, torch.zeros(5, 2)).item()
    6.0

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Theorem 1 and Section 4.2, arXiv:2604.17568.
    """
    n_latents = z.shape[1]
    if normalize not in (None, "std"):
        raise ValueError(f"`normalize` must be None or 'std', got {normalize!r}. Choose one of these.")
    if columns is not None and not 1 <= columns <= n_latents:
        raise ValueError(f"`columns` must be between 1 and n_latents={n_latents}, got {columns}. Use fewer.")
    chosen = _chosen(z, columns, generator)
    J = jacobian(decoder, z) if columns is step is None else jvp_columns(decoder, z, chosen, step=step)
    if normalize == "std":
        J = J * gathered(z.detach()).std(0, correction=0)[chosen]
    total = jacobian_sparsity(J, form=form, eps=eps, knee=knee)
    return total if columns is None else total * (n_latents / columns)


def jacobian_sparsity(
    J: Float[Tensor, "n x z"], *, form: str = "l1", eps: float = 1e-8, knee: float = 0.1
) -> Float[Tensor, ""]:
    """Sparsity of Jacobians already at hand, say from `unmix.nn.value_and_jacobian`.

    Parameters
    ----------
    J : (n, x, z) tensor
    form : {"l1", "group", "log", "group_log"}
        "l1" counts |J_ij| in each sample. "group" counts the root mean square of J_ij over the batch,
        sqrt(mean_n J_nij^2 + eps): the support is a union over samples, so an entry is paid for once.
        "log" and "group_log" bend these sizes s into knee log(1 + s / knee): like s well below `knee`, and
        nearly flat above it, so that large entries are hardly shrunk.
    eps : float
        Keeps the square root of the group forms differentiable at zero.
    knee : float
        Where the logarithmic forms bend.

    Examples
    --------
    >>> J = torch.tensor([[[3., 0.]], [[4., 0.]]])
    >>> jacobian_sparsity(J).item(), round(jacobian_sparsity(J, form="group", eps=0.).item(), 4)
    (3.5, 3.5355)

    References
    ----------
    Candès, Wakin and Boyd (2008), Enhancing sparsity by reweighted l1 minimization (the logarithmic
    form), arXiv:0711.1612.
    """
    if form not in FORMS:
        raise ValueError(f"`form` must be one of {FORMS}, got {form!r}. Choose one of these.")
    group = form.startswith("group")
    size = (of_all(J.square().mean(0)) + eps).sqrt() if group else J.abs()
    if form.endswith("log"):
        size = knee * torch.log1p(size / knee)
    return size.sum() / (1 if group else len(J))


def latent_sparsity(decoder: Any, z: Float[Tensor, "n z"]) -> Float[Tensor, ""]:
    """Mean over the batch of the L1 norm of the codes, the usual alternative to sparse dependencies.

    The decoder is not used; it is there so that any penalty can take this one's place.

    Examples
    --------
    >>> latent_sparsity(None, torch.tensor([[1., -2.], [0., 3.]])).item()
    3.0

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Table 1 ("+ Latent"), arXiv:2604.17568.
    """
    return z.abs().sum() / len(z)


def _chosen(z: Tensor, columns: int | None, generator: torch.Generator | None) -> Tensor:
    """Choose the latents to differentiate by: all, or some drawn without replacement."""
    if columns is None:
        return torch.arange(z.shape[1], device=z.device)
    device = z.device if generator is None else generator.device
    return torch.randperm(z.shape[1], generator=generator, device=device)[:columns].to(z.device)
