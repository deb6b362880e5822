"""Tensors side by side in one block of memory: a batch of all of them is one gather."""

import torch
from torch import Tensor


def side_by_side(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Copy 4-byte tensors with one row per sample into one block, and return views of it.

    `Minibatches` gathers such views at once: one copy for each batch instead of one for each tensor. Labels
    stay integers.

    Parameters
    ----------
    *tensors : float32 or int32 tensors of shape (n, k) or (n,)

    Returns
    -------
    tuple of tensors
        Views of one (n, columns) block, equal to the arguments.

    Examples
    --------
    >>> x, u = side_by_side(torch.ones(3, 2), torch.tensor([0, 1, 1], dtype=torch.int32))
    >>> x.shape, u.tolist(), x.stride()
    (torch.Size([3, 2]), [0, 1, 1], (3, 1))
    """
    columns = [tensor.reshape(len(tensor), -1) for tensor in tensors]
    block = torch.cat([column.view(torch.int32) for column in columns], dim=1)
    return views(block, columns_of(tensors))


def columns_of(tensors: tuple[Tensor, ...]) -> list[tuple[int, torch.dtype, bool]]:
    """Describe tensors that lie side by side: columns, type, and whether they are a vector."""
    return [(t.shape[1] if t.ndim == 2 else 1, t.dtype, t.ndim == 1) for t in tensors]


def views(block: Tensor, columns: list[tuple[int, torch.dtype, bool]]) -> tuple[Tensor, ...]:
    """Return the tensors that lie side by side in a block of 4-byte columns."""
    parts = block.split([width for width, _, _ in columns], dim=1)
    typed = [part.view(dtype) for part, (_, dtype, _) in zip(parts, columns, strict=True)]
    return tuple(t[:, 0] if vector else t for t, (_, _, vector) in zip(typed, columns, strict=True))


def block_of(tensors: tuple[Tensor, ...]) -> Tensor | None:
    """Return the block whose views these tensors are, None where they do not lie side by side."""
    storage = tensors[0].untyped_storage()
    shared = {tensor.untyped_storage().data_ptr() for tensor in tensors} == {storage.data_ptr()}
    shape = len(tensors[0]), sum(width for width, _, _ in columns_of(tensors))
    if len(tensors) < 2 or not shared or storage.nbytes() != 4 * shape[0] * shape[1]:
        return None
    return torch.empty(0, dtype=torch.int32, device=storage.device).set_(storage).view(shape)
