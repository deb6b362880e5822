"""The call for files: a table larger than memory is read block by block, adjusted and written again."""

import ctypes
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unmix.tables import (
    Columns,
    Recipe,
    Table,
    ahead,
    blocks_like,
    prepared,
    read,
    read_beside,
    read_like,
    suffix_of,
    survey,
    write,
    writing,
)

from ._anchored import fit_anchored
from ._deconfound import OBSM, names_out, told_of
from ._design import Design
from ._methods import DEFAULT, method_named

Progress = Callable[[float], None]
_TURN = 0.01  # entries that are read in the time of one entry of the cube of columns


@dataclass(frozen=True, eq=False)
class Source:
    """A table that was opened: in memory, or a file of which a block at a time is read.

    Parameters
    ----------
    path : str
    columns : Columns
    table : Table
        All of it, or only ids and metadata where the features are read in blocks.
    recipe : Recipe or None
        Which features to read in blocks; None where the table is in memory.
    """

    path: str
    columns: Columns
    table: Table
    recipe: Recipe | None = None

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.table.values)

    @property
    def n_features(self) -> int:
        """Features of the table."""
        return self.table.values.shape[1] if self.recipe is None else len(self.recipe.features)

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the features."""
        return self.table.names if self.recipe is None else self.recipe.features

    def blocks(self) -> Iterator[Table]:
        """Start a pass over the rows; the next block is read while one is used."""
        if self.recipe is None:
            yield self.table
            return
        for block, _ in ahead(blocks_like(self.path, self.recipe, columns=self.columns)):
            yield block

    def rows(self, chosen: np.ndarray) -> np.ndarray:
        """Return some rows, given by ascending numbers."""
        gathered = _Gathered(chosen)
        for block in self.blocks():
            gathered.add(block.values)
        return gathered.rows


class _Gathered:
    """Some rows of blocks that pass by, given by ascending numbers."""

    def __init__(self, chosen: np.ndarray) -> None:
        self.chosen, self.at = chosen, 0
        self.parts: list[np.ndarray] = []

    def add(self, values: np.ndarray) -> None:
        ends = np.searchsorted(self.chosen, [self.at, self.at + len(values)])
        self.parts.append(values[self.chosen[slice(*ends)] - self.at])
        self.at += len(values)

    @property
    def rows(self) -> np.ndarray:
        return np.concatenate(self.parts)


def open_source(path: str, columns: Columns, *, on_progress: Progress = lambda share: None) -> Source:
    """Open a table; a Parquet file is looked through and left on disk, unless rows with holes are to go."""
    if suffix_of(path) != ".parquet" or columns.missing == "drop-rows":
        return Source(path, columns, prepared(read(path, columns=columns), path))
    found = survey(path, columns, on_progress=on_progress).table.recipe
    assert found is not None
    table, _ = read_beside(path, columns)
    return Source(path, columns, replace(table, recipe=found), found)


def adjust_file(
    source: Source,
    where: Design,
    out: str | Path,
    *,
    method: str = DEFAULT,
    also: np.ndarray | None = None,
    random_state: int = 0,
    on_progress: Progress = lambda share: None,
) -> tuple[Path, np.ndarray]:
    """Write the adjusted table; the default method reads the source twice, others need it in memory.

    Returns the path, and those rows as they were whose ascending numbers are given by `also`: they are
    gathered on the way, so that the file need not be read once more.
    """
    chosen = np.arange(0) if also is None else also
    if method != DEFAULT or source.recipe is None or suffix_of(out) == ".h5ad":
        return _adjust_whole(source, where, out, method, chosen, random_state)
    reading = _share_of_fit(source)
    learnt = fit_anchored(
        lambda: (block.values for block in source.blocks()),
        where,
        on_progress=lambda s: on_progress(s * reading),
    )
    gathered, writes = _Gathered(chosen), Future[None]()
    writes.set_result(None)
    with writing(out, list(source.names or ())) as put, ThreadPoolExecutor(1) as pool:
        for block in source.blocks():
            batch = where.batch[gathered.at : gathered.at + len(block.values)]
            gathered.add(block.values)
            adjusted = learnt.apply(block.values, batch)
            writes.result()  # one block is written while the next is adjusted
            writes = pool.submit(put, adjusted, block)
            on_progress(reading + (1 - reading) * gathered.at / source.n_rows)
        writes.result()
    _hand_back()
    return Path(out), gathered.rows


def _hand_back() -> None:
    """Give memory that is free back to the system, where the C library can: that of threads would stay."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def _share_of_fit(source: Source) -> float:
    """Return the share of the work that is done before the first row is written."""
    passing, turning = source.n_rows * source.n_features, _TURN * source.n_features**3
    return (passing + turning) / (2.5 * passing + turning)


def _adjust_whole(
    source: Source, where: Design, out: str | Path, method: str, chosen: np.ndarray, random_state: int
) -> tuple[Path, np.ndarray]:
    table = source.table
    if source.recipe is not None:
        table, _ = read_like(source.path, source.recipe, columns=source.columns)
    adjusted = method_named(method)(table.values, where, random_state=random_state)
    adjusted = adjusted.astype(table.values.dtype, copy=False)
    cells = {"key": OBSM, "uns": told_of(where, method)}
    written = write(out, adjusted, names_out(table, method, adjusted), like=table, cells=cells)
    return written, table.values[chosen]
