"""The call for files: a table larger than memory is read block by block, adjusted and written again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unmix.tables import (
    Columns,
    Recipe,
    Table,
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

from ._anchored import Adjustment, fit_anchored
from ._deconfound import names_out
from ._design import Design
from ._methods import DEFAULT, method_named

Progress = Callable[[float], None]
_TURN = 0.03  # entries that are read in the time of one entry of all covariances that are decomposed


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
        """Start a pass over the rows."""
        if self.recipe is None:
            yield self.table
            return
        for block, _ in blocks_like(self.path, self.recipe, columns=self.columns):
            yield block

    def rows(self, chosen: np.ndarray) -> np.ndarray:
        """Return some rows, given by ascending numbers."""
        parts, start = [], 0
        for block in self.blocks():
            stop = start + len(block.values)
            own = chosen[np.searchsorted(chosen, start) : np.searchsorted(chosen, stop)]
            parts.append(block.values[own - start])
            start = stop
        return np.concatenate(parts)


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
    random_state: int = 0,
    on_progress: Progress = lambda share: None,
) -> tuple[Path, Adjustment | None]:
    """Write the adjusted table; the default method reads the source twice, others need it in memory."""
    if method != DEFAULT or source.recipe is None or suffix_of(out) == ".h5ad":
        return _adjust_whole(source, where, out, method, random_state), None
    reading = _share_of_fit(source)
    learnt = fit_anchored(
        lambda: (block.values for block in source.blocks()),
        where,
        on_progress=lambda s: on_progress(s * reading),
    )
    done = 0
    with writing(out, list(source.names or ())) as put:
        for block in source.blocks():
            batch = where.batch[done : done + len(block.values)]
            put(learnt.apply(block.values, batch), block)
            done += len(batch)
            on_progress(reading + (1 - reading) * done / source.n_rows)
    return Path(out), learnt


def _share_of_fit(source: Source) -> float:
    """Return the share of the work that is done before the first row is written."""
    passing, turning = source.n_rows * source.n_features, _TURN * source.n_features**3
    return (passing + turning) / (2.5 * passing + turning)


def _adjust_whole(source: Source, where: Design, out: str | Path, method: str, random_state: int) -> Path:
    table = source.table
    if source.recipe is not None:
        table, _ = read_like(source.path, source.recipe, columns=source.columns)
    adjusted = method_named(method)(table.values, where, random_state=random_state)
    adjusted = adjusted.astype(table.values.dtype, copy=False)
    return write(out, adjusted, names_out(table, method, adjusted), like=table)
