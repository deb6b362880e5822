"""Tables made of others block by block: every row changed, or some rows alone."""

from collections.abc import Callable

import numpy as np

from ._rows import Rows


def changed(rows: Rows, change: Callable[[np.ndarray], np.ndarray], n_features: int | None = None) -> Rows:
    """Return rows that are changed whenever they are read.

    Examples
    --------
    >>> from unmix.rows import array_rows
    >>> changed(array_rows(np.arange(4.0).reshape(2, 2), block=1), lambda block: 2 * block).take(1, 2)
    array([[4., 6.]])
    """
    width = rows.n_features if n_features is None else n_features
    take = rows.take
    return rows._replace(take=lambda a, b: change(np.asarray(take(a, b))), n_features=width, resident=False)


def only(rows: Rows, kept: np.ndarray) -> Rows:
    """Return the rows with these sorted numbers; all of them are the table itself.

    Examples
    --------
    >>> from unmix.rows import array_rows
    >>> only(array_rows(np.arange(10.0).reshape(5, 2), block=2), np.array([0, 3])).take(0, 2).tolist()
    [[0.0, 1.0], [6.0, 7.0]]
    """
    if len(kept) == rows.n_rows:
        return rows
    take = rows.take

    def some(start: int, stop: int) -> np.ndarray:
        wanted = kept[start:stop]
        return np.asarray(take(int(wanted[0]), int(wanted[-1]) + 1))[wanted - wanted[0]]

    return rows._replace(take=some, n_rows=len(kept))


def gathered(rows: Rows, index: np.ndarray) -> np.ndarray:
    """Read rows by number in one pass, in the order asked for.

    Examples
    --------
    >>> from unmix.rows import array_rows
    >>> gathered(array_rows(np.arange(10.0).reshape(5, 2), block=2), np.array([3, 0])).tolist()
    [[6.0, 7.0], [0.0, 1.0]]
    """
    order = np.argsort(index, kind="stable")
    wanted, start = index[order], 0
    found = np.empty((len(index), rows.n_features), np.asarray(rows.take(0, 1)).dtype)
    for block in rows.blocks():
        first, last = np.searchsorted(wanted, [start, start + len(block)])
        found[order[first:last]] = np.asarray(block)[wanted[first:last] - start]
        start += len(block)
    return found
