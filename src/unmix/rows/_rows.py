"""Rows of a table as blocks: of an array, a memory-mapped NPY file or a Parquet file."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

_CPU_BLOCK = 2**18  # entries per thread: what is computed from a block stays in the cache of a core
_CUDA_BLOCK = 2**25
_SAMPLE = 2**26  # entries of the rows that the first passes are made on, at most

Sums = tuple[Tensor, ...]


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


class Rows(NamedTuple):
    """A table of which only one block at a time needs to be in memory.

    Parameters
    ----------
    blocks : callable
        Starts a pass: returns an iterator over blocks of rows.
    n_features : int
    dtype : numpy.dtype
    names : tuple of str, optional
    resident : bool
        Whether the table is in memory anyway, so that a whitened copy of it is no more than as much again.
    """

    blocks: Callable[[], Iterator[Any]]
    n_features: int
    dtype: np.dtype
    names: tuple[str, ...] | None = None
    resident: bool = False

    def total(self, sums: Callable[..., Sums], prepare: Prepare, *arguments: Any) -> Sums:
        """Add up `sums(rows, *arguments)` over all blocks."""
        added: Sums = ()
        for block in self.blocks():
            part = sums(prepare(block), *arguments)
            added = tuple(a + p for a, p in zip(added, part, strict=True)) if added else part
        return added

    def every(self, stride: int) -> Iterator[Any]:
        """Yield every so many-th row, in blocks; which rows does not depend on how they are grouped."""
        seen = 0
        for block in self.blocks():
            yield block[-seen % stride :: stride]
            seen += len(block)

    def head(self) -> np.ndarray:
        """Return a few rows of the first block."""
        few = next(iter(self.blocks()))[:1000]
        return few.cpu().numpy() if isinstance(few, Tensor) else np.asarray(few)


def block_rows(n_features: int, place: torch.device, wanted: int | None = None) -> int:
    """Return how many rows a block has."""
    entries = _CUDA_BLOCK if place.type == "cuda" else _CPU_BLOCK * torch.get_num_threads()
    return wanted or max(256, entries // n_features)


def sample_stride(n_rows: int, n_features: int) -> int:
    """Return the stride that leaves about 4 d^2 rows, enough to find the basin; 1 where nothing is saved."""
    wanted = min(max(4 * n_features**2, 10_000), _SAMPLE // n_features)
    return n_rows // wanted if n_rows >= 3 * wanted else 1


def array_rows(values: np.ndarray | Tensor, block: int) -> Rows:
    """Return the rows of an array; one that is mapped from a file is left there."""
    starts = range(0, len(values), block)
    mapped = isinstance(values, np.memmap)
    dtype = values.dtype if isinstance(values, np.ndarray) else np.dtype(str(values.dtype).split(".")[1])
    return Rows(lambda: (values[i : i + block] for i in starts), values.shape[1], dtype, resident=not mapped)


def file_rows(path: str | os.PathLike[str], block: Callable[[int], int]) -> Rows:
    """Open an NPY or a Parquet file; `block` tells the rows of a block from the number of columns."""
    file = Path(path)
    readers = {".npy": _npy_rows, ".parquet": _parquet_rows}
    if file.suffix.lower() not in readers:
        raise ValueError(
            f"`X` must be an array, or the path of an NPY or Parquet file, got {str(path)!r}. Convert it."
        )
    if not file.is_file():
        raise ValueError(f"`X` must be a file that exists, got {str(path)!r}. Check the path.")
    return readers[file.suffix.lower()](file, block)


def _npy_rows(file: Path, block: Callable[[int], int]) -> Rows:
    try:
        mapped = np.load(file, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(
            f"`X` must be a whole NPY file without pickled objects, got {str(file)!r}. ({error})"
        ) from None
    _check_table(mapped.shape, mapped.dtype, file)
    n_rows, n_features = mapped.shape
    size = block(n_features)

    def blocks() -> Iterator[np.ndarray]:
        # mapped anew for each block: what was read before does not stay in the memory of this process
        for i in range(0, n_rows, size):
            yield np.array(np.load(file, mmap_mode="r", allow_pickle=False)[i : i + size])

    return Rows(blocks, n_features, mapped.dtype)


def _parquet_rows(file: Path, block: Callable[[int], int]) -> Rows:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise ValueError("Parquet files need pyarrow: pip install 'unmix[frames]', or use NPY.") from None
    try:
        schema = parquet.read_schema(file)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"`X` must be a whole Parquet file, got {str(file)!r}. ({error})") from None
    names = tuple(name for name in schema.names if not name.startswith("__index_level_"))
    types = [schema.field(name).type for name in names]
    for name, kind in zip(names, types, strict=True):
        if not (pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind)):
            raise ValueError(
                f"`X` must hold numbers only, column {name!r} of {str(file)!r} holds {kind}. Drop it."
            )
    dtype = np.dtype(np.float32 if all(str(kind) == "float" for kind in types) else np.float64)
    size = block(max(1, len(names)))

    def blocks() -> Iterator[np.ndarray]:
        with parquet.ParquetFile(file) as opened:
            for batch in opened.iter_batches(size, columns=list(names)):
                columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
                yield np.stack(columns, axis=1).astype(dtype, copy=False)

    _check_table((parquet.read_metadata(file).num_rows, len(names)), dtype, file)
    return Rows(blocks, len(names), dtype, names)


def _check_table(shape: tuple[int, ...], dtype: np.dtype, file: Path) -> None:
    if dtype.kind not in "fiu":
        raise ValueError(f"`X` must hold real numbers, {str(file)!r} holds {dtype}.")
    if len(shape) != 2 or shape[1] == 0 or shape[0] < 2:
        raise ValueError(f"`X` must have at least two rows and a column, {str(file)!r} has shape {shape}.")


def _plain(block: Any) -> Any:
    if isinstance(block, Tensor):
        return block.detach()
    return np.require(block, requirements=["W", "C"]) if isinstance(block, np.ndarray) else np.asarray(block)
