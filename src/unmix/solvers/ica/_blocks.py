"""Blocks of rows as tensors: how large they are, and how they reach the device."""

from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

_CPU_BLOCK = 2**18  # entries per thread: what is computed from a block stays in the cache of a core
_CUDA_BLOCK = 2**25
_SAMPLE = 2**26  # entries of the rows that the first passes are made on, at most


class Prepare(NamedTuple):
    """Turn a block as it is stored into centred rows on a device, in the precision of the products."""

    mean: np.ndarray | None
    precision: torch.dtype
    place: str

    def __call__(self, block: Any) -> Float[Tensor, "n x"]:
        """Subtract the mean in the precision of the data, before any is lost."""
        rows = torch.as_tensor(_plain(block)).to(self.place)
        if not rows.is_floating_point():
            rows = rows.double()
        if self.mean is not None:
            rows = rows - torch.as_tensor(self.mean, dtype=rows.dtype, device=rows.device)
        return rows.to(self.precision)

    def packed(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Turn tensors into arrays, which travel between machines."""
        return tuple(value.cpu().numpy() if isinstance(value, Tensor) else value for value in values)

    def unpacked(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Turn arrays back into tensors on the device."""
        return tuple(
            torch.from_numpy(value.copy()).to(self.place) if isinstance(value, np.ndarray) else value
            for value in values
        )


def block_rows(n_features: int, place: torch.device, wanted: int | None = None) -> int:
    """Return how many rows a block has."""
    entries = _CUDA_BLOCK if place.type == "cuda" else _CPU_BLOCK * torch.get_num_threads()
    return wanted or max(256, entries // n_features)


def sample_stride(n_rows: int, n_features: int) -> int:
    """Return the stride that leaves about 4 d^2 rows, enough to find the basin; 1 where nothing is saved."""
    wanted = min(max(4 * n_features**2, 10_000), _SAMPLE // n_features)
    return n_rows // wanted if n_rows >= 3 * wanted else 1


def _plain(block: Any) -> Any:
    if isinstance(block, Tensor):
        return block.detach()
    return np.require(block, requirements=["W", "C"]) if isinstance(block, np.ndarray) else np.asarray(block)
