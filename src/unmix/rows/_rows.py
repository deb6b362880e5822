"""Rows of a table as blocks: of an array, or of a file of which one block at a time is in memory."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

Sums = tuple[Any, ...]


class Rows(NamedTuple):
    """A table of which only one block at a time needs to be in memory.

    Parameters
    ----------
    take : callable (start, stop) -> array of shape (stop - start, n_features)
        Reads rows.
    n_rows, n_features : int
    dtype : numpy.dtype
    block : int
        Rows in a block.
    names : tuple of str, optional
    first : int
        Number of the first row in the table that these are a part of.
    resident : bool
        Whether the table is in memory anyway, so that a whitened copy at most doubles what it takes.

    Examples
    --------
    >>> rows = array_rows(np.arange(10.0).reshape(5, 2), block=2)
    >>> [len(block) for block in rows.blocks()], rows.take(3, 5).tolist()
    ([2, 2, 1], [[6.0, 7.0], [8.0, 9.0]])
    """

    take: Callable[[int, int], Any]
    n_rows: int
    n_features: int
    dtype: np.dtype
    block: int
    names: tuple[str, ...] | None = None
    resident: bool = False
    first: int = 0

    def part(self, rank: int, size: int) -> "Rows":
        """Return the rows of one of so many processes: as many as of the others, one after another.

        Examples
        --------
        >>> rows = array_rows(np.arange(10.0).reshape(5, 2), block=2)
        >>> [rows.part(rank, 2).take(0, 1).tolist() for rank in (0, 1)]
        [[[0.0, 1.0]], [[4.0, 5.0]]]
        """
        if size == 1:
            return self
        take, (start, stop) = self.take, (self.n_rows * k // size for k in (rank, rank + 1))
        return self._replace(
            take=lambda a, b: take(a + start, b + start), n_rows=stop - start, first=self.first + start
        )

    def blocks(self) -> Iterator[Any]:
        """Start a pass: yield the blocks in order."""
        starts = range(0, self.n_rows, self.block)
        return (self.take(start, min(start + self.block, self.n_rows)) for start in starts)

    def total(self, sums: Callable[..., Sums], prepare: Any, *arguments: Any) -> Sums:
        """Add up `sums(prepare(block), *arguments)` over all blocks."""
        added: Sums = ()
        for block in self.blocks():
            part = sums(prepare(block), *arguments)
            added = tuple(a + p for a, p in zip(added, part, strict=True)) if added else part
        return added

    def every(self, stride: int) -> Iterator[Any]:
        """Yield every `stride`-th row, in blocks; which rows does not depend on how they are grouped."""
        seen = self.first
        for block in self.blocks():
            yield block[-seen % stride :: stride]
            seen += len(block)

    def head(self, n: int = 1000) -> np.ndarray:
        """Return the first rows, not more than a block."""
        few = self.take(0, min(n, self.block, self.n_rows))
        return few.cpu().numpy() if hasattr(few, "cpu") else np.asarray(few)


def array_rows(values: Any, block: int) -> Rows:
    """Return the rows of an array or tensor; one that is mapped from a file is left there."""
    dtype = np.dtype(str(values.dtype).rpartition(".")[2])
    mapped = isinstance(values, np.memmap)
    n_rows, n_features = values.shape
    return Rows(lambda a, b: values[a:b], n_rows, n_features, dtype, block, resident=not mapped)
