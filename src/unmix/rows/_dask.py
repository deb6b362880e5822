"""The same sums, added up where the blocks are: on the workers of a Dask cluster."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ._rows import Sums


def is_dask(X: Any) -> bool:
    """Whether this is a collection of Dask; asking does not import Dask."""
    return hasattr(X, "__dask_graph__") and type(X).__module__.startswith("dask")


class DaskRows(NamedTuple):
    """A Dask array whose blocks of rows are read, summed and forgotten on the workers.

    Only sums travel, added pairwise in a fixed order, so that the result does not depend on which worker did
    what, nor on a worker that dies: what it held is computed again.
    """

    parts: tuple[Any, ...]
    n_features: int
    dtype: np.dtype
    names: tuple[str, ...] | None = None
    resident: bool = False

    def total(self, sums: Callable[..., Sums], prepare: Any, *arguments: Any) -> Sums:
        """Add up `sums(prepare(block), *arguments)` over all blocks, in a tree."""
        import dask

        shared = dask.delayed((sums, prepare, prepare.packed(arguments)), pure=False)
        level = [dask.delayed(_sums_of_block, pure=False)(part, shared) for part in self.parts]
        while len(level) > 1:
            level = [dask.delayed(_add, pure=False)(*level[i : i + 2]) for i in range(0, len(level), 2)]
        return prepare.unpacked(dask.compute(level[0])[0])

    def every(self, stride: int) -> Iterator[np.ndarray]:
        """Yield every `stride`-th row, gathered here; which rows does not depend on how they are grouped."""
        import dask

        lengths = dask.compute(*[dask.delayed(len, pure=False)(part) for part in self.parts])
        firsts = [int(-seen % stride) for seen in np.cumsum([0, *lengths[:-1]])]
        few = [
            dask.delayed(_every, pure=False)(p, i, stride) for p, i in zip(self.parts, firsts, strict=True)
        ]
        yield from dask.compute(*few)

    def mapped(self, function: Callable[[np.ndarray], np.ndarray], n_columns: int) -> Any:
        """Return the Dask array of `function(rows)`, block by block, not yet computed."""
        import dask
        import dask.array

        blocks = [dask.delayed(function, pure=False)(part) for part in self.parts]
        made = [
            dask.array.from_delayed(block, shape=(np.nan, n_columns), dtype=self.dtype) for block in blocks
        ]
        return dask.array.concatenate(made, allow_unknown_chunksizes=True)

    def head(self) -> np.ndarray:
        """Return a few rows of the first block."""
        import dask

        return dask.compute(dask.delayed(_first, pure=False)(self.parts[0]))[0]


def dask_rows(X: Any) -> DaskRows:
    """Open a Dask array or data frame of shape (n_samples, n_features), in blocks of whole rows."""
    import dask.array

    frame = "dataframe" in type(X).__module__ or "dask_expr" in type(X).__module__
    names = tuple(map(str, X.columns)) if frame else None
    values = X.to_dask_array() if frame else X
    if not isinstance(values, dask.array.Array) or values.ndim != 2:
        raise ValueError(
            f"`X` must be a Dask array or frame with two axes, got {type(X).__name__}. "
            "Stack delayed blocks with dask.array.from_delayed and dask.array.concatenate."
        )
    if values.dtype.kind not in "fiu":
        raise ValueError(f"`X` must hold real numbers, got the type {values.dtype}.")
    whole = values if values.numblocks[1] == 1 else values.rechunk({1: -1})
    return DaskRows(tuple(whole.to_delayed().ravel()), int(values.shape[1]), values.dtype, names)


def _sums_of_block(block: Any, shared: tuple[Any, ...]) -> tuple[np.ndarray, ...]:
    sums, prepare, arguments = shared
    return prepare.packed(sums(prepare(np.asarray(block)), *prepare.unpacked(arguments)))


def _add(*parts: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return tuple(sum(terms[1:], start=terms[0]) for terms in zip(*parts, strict=True))


def _every(block: Any, first: int, stride: int) -> np.ndarray:
    return np.asarray(block)[first::stride]


def _first(block: Any) -> np.ndarray:
    return np.asarray(block)[:1000]
