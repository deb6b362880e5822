"""Columns that no model can use, left out with a line that says so; and what else looks odd."""

import re
from dataclasses import replace

import numpy as np

from ._holes import names_of, without_columns
from ._names import listed
from ._table import Recipe, Table

_BLOCK, FEW = 4096, 10_000
_CODES = re.compile(
    r"(?:^|_|\b)(plate|batch|well|site|cluster|donor|patient|subject|sample|replicate|class|group|label|id)(?:$|_|\b)",
    re.IGNORECASE,
)


def prepared(table: Table, source: str = "X") -> Table:
    """Return the table without constant and repeated columns, with a recipe for tables to come.

    Repeated are columns that are equal in every row; the first of them stays.

    >>> from unmix.tables import read
    >>> ready = prepared(read(np.array([[1.0, 5, 1, 0], [2, 5, 2, 1], [4, 5, 4, 1]])))
    >>> ready.values.shape, dict(ready.recipe.dropped)
    ((3, 2), {'x1': 'constant', 'x2': 'a copy of another'})
    """
    table = table if table.recipe is not None else replace(table, recipe=_plain_recipe(table))
    table = without_columns(table, _constant(table.values), "constant", source)
    table = without_columns(table, _repeated(table.values), "a copy of another", source)
    return described(table, len(table.values))


def described(table: Table, n_rows: int) -> Table:
    """Note what is usual of each feature, and what looks odd of a table of so many rows."""
    few = table.values[:: max(1, -(-len(table.values) // FEW))]
    low, middle, high = np.quantile(few, [0.25, 0.5, 0.75], axis=0)
    assert table.recipe is not None
    medians = table.recipe.medians or tuple(middle.tolist())
    recipe = replace(table.recipe, medians=medians, spreads=tuple(((high - low) / 2).tolist()))
    return replace(table, recipe=recipe.noting(*_oddities(table, n_rows)))


def _plain_recipe(table: Table) -> Recipe:
    return Recipe(names_of(table), table.names is not None, table.values.shape[1])


def _constant(values: np.ndarray) -> np.ndarray:
    """Tell columns that do not vary beyond rounding, block by block so that nothing large is copied."""
    mean = values.mean(0, dtype=np.float64)
    squares, largest = np.zeros_like(mean), np.zeros_like(mean)
    for start in range(0, len(values), _BLOCK):
        rows = values[start : start + _BLOCK]
        squares += np.square(rows - mean).sum(0)
        np.maximum(largest, np.abs(rows).max(0), out=largest)
    return np.sqrt(squares / len(values)) <= 1e-12 * largest


def _repeated(values: np.ndarray) -> np.ndarray:
    """Tell columns that equal an earlier one; those with the same sum and few rows are compared."""
    few = values[:: max(1, len(values) // 64)]
    sums = values.sum(0)
    groups: dict[tuple[bytes, bytes], list[int]] = {}
    for j in range(values.shape[1]):
        groups.setdefault((few[:, j].tobytes(), sums[j].tobytes()), []).append(j)
    gone = np.zeros(values.shape[1], dtype=bool)
    for group in groups.values():
        seen: set[bytes] = set()
        for j in group if len(group) > 1 else ():
            held = values[:, j].tobytes()
            gone[j] = held in seen
            seen.add(held)
    return gone


def _oddities(table: Table, n_rows: int) -> list[str]:
    """Say what a person would look at twice: codes among the numbers, and a table on its side."""
    names = names_of(table)
    suspect = [j for j, name in enumerate(names) if _CODES.search(name)] if table.names is not None else []
    codes = [names[j] for j in suspect if bool((table.values[:, j] == np.round(table.values[:, j])).all())]
    notes = []
    if codes:
        notes.append(
            f"Whole numbers that may be codes are features: {listed(codes)}; --drop leaves such columns out."
        )
    n_columns = table.values.shape[1]
    if n_columns > n_rows:
        notes.append(
            f"The table has more columns ({n_columns:,}) than rows ({n_rows:,}); rows must be samples. "
            "If it lies on its side, transpose it."
        )
    return notes
