"""Sparsity of slots: how many pairs of an output and a slot depend on each other."""

from collections.abc import Callable, Sequence
from typing import Any

from jaxtyping import Float
from torch import Tensor

from unmix._group import gathered, of_all
from unmix.nn import jacobian

from ._compositional import _membership

__all__ = ["slot_sparsity"]


def slot_sparsity(
    decoder: Callable[[Any], Any],
    z: Float[Tensor, "n z"],
    *,
    slots: int | Sequence[Sequence[int]],
    knee: float = 0.1,
    union: bool = False,
    eps: float = 1e-8,
) -> Float[Tensor, ""]:
    """Smooth count of the slots that each output depends on.

    With a_xk the norm of the gradient of output x with respect to slot k, an output pays
    knee log(1 + a_xk / knee) for each slot: like a_xk well below the knee, and nearly flat above it. Unlike
    products of influences (`compositional_contrast`) this hardly punishes overlap that is there, only further
    overlap, so that the truth stays a minimum when slots share many outputs. Within a slot no coordinates are
    preferred.

    Parameters
    ----------
    decoder : callable
        Maps (n, z) to (n, x), each sample by itself.
    z : (n, z) tensor
        Codes. Gradients are taken with respect to codes of unit variance over the batch, so that inflating
        the codes does not lower the penalty.
    slots : int or sequence of index sequences
        Number of equal consecutive slots, or the latents of each slot; every latent belongs to one slot.
    knee : float
        Where the logarithm bends.
    union : bool
        Count a pair once for the batch (root mean square of a_xk) and not in each sample, for slots that
        move the same outputs everywhere.
    eps : float
        Added under the square root of the norms, for their gradient at zero.

    Returns
    -------
    scalar tensor
        Sum over outputs and slots, mean over the batch.

    Examples
    --------
    >>> import torch
    >>> decoder = torch.nn.Linear(2, 2)
    >>> decoder.weight = torch.nn.Parameter(torch.tensor([[2., 3.], [0., 1.]]))
    >>> z = torch.tensor([[1., 1.], [-1., -1.]])
    >>> round(slot_sparsity(decoder, z, slots=2, knee=1e-6, eps=0.).item() * 1e6, 1)  # three pairs
    43.2

    References
    ----------
    Matthes, Han and Shen (2026), Mechanistic independence, Type S (the count that this smooths, for slots),
    arXiv:2509.22196; Candès, Wakin and Boyd (2008), arXiv:0711.1612 (the logarithm).
    """
    if not knee > 0:
        raise ValueError(f"`knee` must be above 0, got {knee!r}. A tenth is usual.")
    J = jacobian(decoder, z) * gathered(z.detach()).std(0, correction=0)
    squares = J.square() @ _membership(slots, z)
    a = ((of_all(squares.mean(0, keepdim=True)) if union else squares) + eps).sqrt()
    return knee * (a / knee).log1p().sum() / len(a)
