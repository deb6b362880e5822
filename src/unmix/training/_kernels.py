"""Calls that torch keeps private, used where they were tested; elsewhere public ones of the same bits."""

from typing import Any

import torch
from torch import Tensor

_TESTED = (2, 11), (2, 14)  # from this version of torch on, and before that one
_NAMES = ("_fused_adamw_", "_foreach_add_", "_foreach_lerp_", "_foreach_copy_")

_version = tuple(map(int, torch.__version__.split(".")[:2]))
PRIVATE = _TESTED[0] <= _version < _TESTED[1] and all(hasattr(torch, name) for name in _NAMES)


def adamw_(
    tensors: list[Tensor],
    gradients: list[Tensor],
    means: list[Tensor],
    squares: list[Tensor],
    steps: list[Tensor],
    **options: Any,
) -> None:
    """Count a step and take it, with torch's fused kernel."""
    if PRIVATE:
        torch._foreach_add_(steps, 1)
        torch._fused_adamw_(tensors, gradients, means, squares, [], steps, amsgrad=False, **options)
        return
    from torch.optim.adamw import adamw  # imports torch's compiler: only where it must be

    adamw(tensors, gradients, means, squares, [], steps, fused=True, amsgrad=False, **options)


def lerp_(tensors: list[Tensor], ends: list[Tensor], weight: float | Tensor) -> None:
    """Move tensors towards their ends by a share of the way."""
    if PRIVATE and not isinstance(weight, Tensor):
        torch._foreach_lerp_(tensors, ends, weight)
        return
    for tensor, end in zip(tensors, ends, strict=True):
        tensor.lerp_(end, weight.to(tensor.dtype) if isinstance(weight, Tensor) else weight)


def copy_(tensors: list[Tensor], sources: list[Tensor]) -> None:
    """Copy sources into tensors."""
    if PRIVATE:
        torch._foreach_copy_(tensors, sources)
        return
    for tensor, source in zip(tensors, sources, strict=True):
        tensor.copy_(source)
