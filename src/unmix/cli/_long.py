"""Tables too long to judge a model by all of their rows: rows spread over them.

Files that can be are read in one pass, block by block. The rows are the same in every format.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..rows import file_rows
from ..tables import Columns, Recipe, Table, blocks_like
from ._output import say

MOST = 2**24  # numbers of a file that are kept
_STREAMED = (".npy", ".parquet")


def step_of(n_rows: int, recipe: Recipe) -> int:
    """Return of how many rows one is kept, for a model of so many columns."""
    return max(1, -(-n_rows * len(recipe.features) // MOST))


def is_thinned(table: Table, recipe: Recipe) -> bool:
    """Say whether some of the rows were left out since there are many."""
    return table.kept is not None and step_of(len(table.kept), recipe) > 1


def stride_of(path: str, recipe: Recipe) -> int:
    """Return of how many rows one is kept, 1 for a file that is read whole."""
    place = Path(path)
    if not place.is_dir() and not (place.is_file() and place.suffix.lower() in _STREAMED):
        return 1
    if place.suffix.lower() == ".npy" and place.stat().st_size <= MOST:  # a number takes a byte or more
        return 1
    try:
        rows = file_rows(place, lambda n_columns: 1)
    except ValueError:  # who reads it says what is wrong with it
        return 1
    return step_of(rows.n_rows, recipe)


def thinned(path: str, whole: np.ndarray, recipe: Recipe) -> np.ndarray:
    """Return which rows of a table are kept, given those without holes: all of these, or one in some."""
    step = step_of(len(whole), recipe)
    kept = whole & (np.arange(len(whole)) % step == 0)
    if step > 1:
        _tell(path, int(kept.sum()), len(whole))
    return kept


def _tell(path: str, n_kept: int, n_rows: int) -> None:
    say(f"unmix: note: {n_kept:,} of {n_rows:,} rows are used, spread over {Path(path).name}.")


def spread_rows(path: str, recipe: Recipe, columns: Columns, stride: int) -> Table:
    """Read every `stride`-th row as the recipe says; all rows are looked at, and a fault in any is told.

    `kept` says which rows these are, as for rows that are dropped for their holes.
    """
    parts, kept, seen = [], [], 0
    for block, whole in blocks_like(path, recipe, columns=columns):
        mask = whole & (np.arange(seen, seen + len(whole)) % stride == 0)
        parts.append(block.take(mask))
        kept.append(mask)
        seen += len(whole)
    n_kept = sum(len(part.values) for part in parts)
    _tell(path, n_kept, seen)
    return replace(_joined(parts), kept=np.concatenate(kept))


def codes_of(path: str, recipe: Recipe, code: Callable[[Table], np.ndarray]) -> np.ndarray:
    """Return the latents of all rows that have no holes, block by block."""
    parts = blocks_like(path, recipe)
    return np.concatenate([code(block if whole.all() else block.take(whole)) for block, whole in parts])


def _joined(parts: Sequence[Table]) -> Table:
    """Return the rows of all parts as one table."""
    import pyarrow as pa

    first = parts[0]
    ids = [part.ids for part in parts if part.ids is not None]
    return replace(
        first,
        values=np.concatenate([part.values for part in parts]),
        metadata={name: np.concatenate([part.metadata[name] for part in parts]) for name in first.metadata},
        ids=np.concatenate(ids) if ids else None,
        beside=None if first.beside is None else pa.concat_tables([part.beside for part in parts]),
    )
