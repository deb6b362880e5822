"""Batch normalisation over the rows of all processes."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from .._group import current, of_all


@contextmanager
def shared_norms(trained: Iterable[Any]) -> Iterator[None]:
    """Let the batch norms of modules see the whole batch while processes train together."""
    norms = [norm for part in trained if isinstance(part, nn.Module) for norm in part.modules()]
    norms = [] if current().alone else [norm for norm in norms if isinstance(norm, _BatchNorm)]
    for norm in norms:
        norm.forward = partial(_normalised, norm)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for norm in norms:
            vars(norm).pop("forward", None)


def _normalised(norm: Any, x: Tensor) -> Tensor:
    if not (norm.training and current().parted):
        return type(norm).forward(norm, x)
    axes, shape = [0, *range(2, x.ndim)], (1, -1, *[1] * (x.ndim - 2))
    mean = of_all(x.mean(axes))
    centred = x - mean.view(shape)
    variance = of_all(centred.square().mean(axes))
    _remember(norm, mean.detach(), variance.detach(), x)
    y = centred * (variance + norm.eps).rsqrt().view(shape)
    return y if norm.weight is None else y * norm.weight.view(shape) + norm.bias.view(shape)


@torch.no_grad()
def _remember(norm: Any, mean: Tensor, variance: Tensor, x: Tensor) -> None:
    """Let running means take in those of a batch, as `torch.nn.BatchNorm1d` does."""
    if norm.running_mean is None:
        return
    norm.num_batches_tracked.add_(1)
    share = 1 / float(norm.num_batches_tracked) if norm.momentum is None else norm.momentum
    n = (current().n_rows or len(x) * current().size) * x[0, 0].numel()
    norm.running_mean.lerp_(mean.to(norm.running_mean), share)
    norm.running_var.lerp_((variance * n / max(n - 1, 1)).to(norm.running_var), share)
