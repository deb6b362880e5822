"""Some rows of files that are too long to be read whole: the same rows of each."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..rows import Rows, array_rows, file_rows
from ..tables import read
from ._known import read_latents

_STREAMED = (".npy", ".parquet")
_BLOCK = 2**22  # entries of a block


Asked = tuple[str, tuple[str, ...] | None]


def latents_of(files: Sequence[Asked], most: int, random_state: int) -> tuple[list[np.ndarray], str]:
    """Read files of latents, at most `most` numbers of all together: the same random rows of each.

    Which rows these are depends on how many there are alone, so that they are the same in every format.

    Parameters
    ----------
    files : sequence of pairs
        Paths, each with the arrays that an NPZ file is asked for; None for a table, all of whose columns are
        read.
    most : int
    random_state : int

    Returns
    -------
    tables : list of arrays
    said : str
        How many rows were drawn of how many; empty where all were read.
    """
    opened = [_opened(*file) for file in files]
    held = {k: _values(*files[k]) for k, each in enumerate(opened) if each is None}
    rows = [each or array_rows(held[k], max(1, len(held[k]))) for k, each in enumerate(opened)]
    n_rows, n_kept = rows[0].n_rows, most // sum(each.n_features for each in rows)
    if n_rows <= n_kept or len({each.n_rows for each in rows}) > 1:
        return [held[k] if k in held else _values(*file) for k, file in enumerate(files)], ""
    drawn = np.sort(np.random.default_rng(random_state).permutation(n_rows)[:n_kept])
    told = f"Computed on {n_kept:,} of {n_rows:,} rows, drawn at random."
    return [picked(each, drawn, path) for each, (path, _) in zip(rows, files, strict=True)], told


def _values(path: str, key: tuple[str, ...] | None) -> np.ndarray:
    return (read(path) if key is None else read_latents(path, key)).values


def _opened(path: str, key: tuple[str, ...] | None) -> Rows | None:
    """Open a file of numbers alone, or return None for one that is to be read as other tables are."""
    if Path(path).suffix.lower() not in _STREAMED or not Path(path).is_file():
        return None
    try:
        rows = file_rows(path, lambda n_columns: max(1, _BLOCK // n_columns))
    except ValueError:
        return None
    latents = [key is not None and name[:1] == "z" and name[1:].isdecimal() for name in rows.names or ()]
    return None if any(latents) and not all(latents) else rows


def picked(rows: Rows, drawn: np.ndarray, name: str) -> np.ndarray:
    """Read the rows with these sorted numbers in one pass, and refuse what is not finite in any row.

    >>> from unmix.rows import array_rows
    >>> picked(array_rows(np.arange(10.0).reshape(5, 2), block=2), np.array([0, 3]), "z").tolist()
    [[0.0, 1.0], [6.0, 7.0]]
    """
    kept, start = [], 0
    for block in rows.blocks():
        values = np.asarray(block)
        if not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0].tolist()
            raise ValueError(
                f"`{name}` must be finite, got {values[row, column]} in row {start + row}, column {column}. "
                "Drop or impute such rows first."
            )
        first, last = np.searchsorted(drawn, [start, start + len(values)])
        kept.append(values[drawn[first:last] - start])
        start += len(values)
    return np.concatenate(kept)
