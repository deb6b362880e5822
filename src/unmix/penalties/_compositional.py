"""Compositional contrast: whether different slots act on different outputs."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.nn import jacobian

__all__ = ["compositional_contrast"]


def compositional_contrast(
    decoder: Callable[[Any], Any],
    z: Float[Tensor, "n z"],
    *,
    slots: int | Sequence[Sequence[int]],
    eps: float = 1e-12,
) -> Float[Tensor, ""]:
    """Products of the influences that different slots have on the same output, summed.

    With a_xk the norm of the gradient of output x with respect to slot k, the contrast of a sample is
    sum_x sum_{k < l} a_xk a_xl. It is zero exactly when every output depends on one slot at most.

    Parameters
    ----------
    decoder : callable
        Maps (n, z) to (n, x), each sample by itself.
    z : (n, z) tensor
        Codes. Standardise them (see `unmix.nn.batch_norm_head`) while training: inflated codes lower the
        contrast without changing what is shared.
    slots : int or sequence of index sequences
        Number of equal consecutive slots, or the latents of each slot; every latent belongs to one slot.
    eps : float
        Added under the square root of the norms, for their gradient at zero.

    Returns
    -------
    scalar tensor
        Sum over outputs and pairs of slots, mean over the batch.

    Examples
    --------
    >>> decoder = torch.nn.Linear(2, 2)
    >>> decoder.weight = torch.nn.Parameter(torch.tensor([[2., 3.], [0., 1.]]))
    >>> round(compositional_contrast(decoder, torch.zeros(5, 2), slots=2, eps=0.).item(), 4)
    6.0

    References
    ----------
    Brady et al. (2023), Provably learning object-centric representations (the compositional contrast),
    arXiv:2305.14229.
    """
    member = _membership(slots, z)
    a = (jacobian(decoder, z).square() @ member + eps).sqrt()
    # (sum_k a_k)^2 - sum_k a_k^2 counts every pair twice
    return (a.sum(2).square() - a.square().sum(2)).sum() / (2 * len(z))


def _membership(slots: int | Sequence[Sequence[int]], z: Float[Tensor, "n z"]) -> Float[Tensor, "z k"]:
    """Indicate latent j in slot k."""
    n_latents = z.shape[1]
    if isinstance(slots, int):
        if slots < 1 or n_latents % slots:
            raise ValueError(
                f"`slots` must divide n_latents={n_latents}, got {slots}. Or list each slot's latents."
            )
        groups: Sequence[Sequence[int]] = torch.arange(n_latents).reshape(slots, -1).tolist()
    else:
        groups = slots
    if sorted(j for group in groups for j in group) != list(range(n_latents)):
        raise ValueError(
            f"`slots` must hold each of {n_latents} latents once, got {slots}. Check the indices."
        )
    member = torch.zeros(n_latents, len(groups))
    for k, group in enumerate(groups):
        member[list(group), k] = 1
    return member.to(z)
