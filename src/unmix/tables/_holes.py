"""Missing and infinite values in features: counted by column, then dropped or filled as was asked."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ._names import listed
from ._table import EVERY, Columns, Table

_WORST = 3


OPTIONS = "choose --missing median, drop-rows or drop-columns"
ARGUMENT = 'pass columns=Columns(missing="median"), "drop-rows" or "drop-columns" to `unmix.tables.read`'


def without_holes(table: Table, columns: Columns, source: str) -> Table:
    """Return a table of finite numbers, or say where it has none.

    Columns without a single number go in any case; infinite values count as missing.

    >>> holes = Table(np.array([[1.0, np.nan], [3.0, 4.0], [5.0, 8.0]]), ("a", "b"))
    >>> without_holes(holes, Columns(missing="median"), "t.csv").values[:, 1].tolist()
    [6.0, 4.0, 8.0]
    """
    if _finite(table.values):
        return table
    table = without_columns(table, ~np.isfinite(table.values).any(0), "no number in it", source)
    if _finite(table.values):
        return table
    if columns.missing == "error":
        way = ARGUMENT if columns is EVERY else OPTIONS  # options of a command make a value of their own
        raise ValueError(counted(table.values, table.names, source, way))
    ways = {"drop-rows": _without_rows, "drop-columns": _without_columns, "median": _filled}
    return ways[columns.missing](table, source)


def _finite(values: np.ndarray) -> bool:
    """Whether all values are finite, without an array of the same size."""
    return bool(np.isfinite(values.min(initial=0)) and np.isfinite(values.max(initial=0)))


def without_columns(table: Table, gone: np.ndarray, reason: str, source: str) -> Table:
    """Drop features, and say so in a line."""
    if not gone.any():
        return table
    names, recipe = names_of(table), table.recipe
    lost = [names[j] for j in np.flatnonzero(gone)]
    if gone.all():
        raise ValueError(
            f"`{source}` must have a feature to work with, none is left ({reason}). Check the file."
        )
    note = f"Dropped {len(lost)} column{'s' * (len(lost) != 1)}, {reason}: {listed(lost)}."
    kept = tuple(name for name, g in zip(names, gone, strict=True) if not g)
    if recipe is not None:
        dropped = dict(recipe.dropped) | dict.fromkeys(lost, reason)
        medians = tuple(m for m, g in zip(recipe.medians, gone, strict=False) if not g)
        recipe = replace(recipe, features=kept, dropped=dropped, medians=medians).noting(note)
    named = None if table.names is None else kept
    return replace(table, values=np.ascontiguousarray(table.values[:, ~gone]), names=named, recipe=recipe)


def names_of(table: Table) -> tuple[str, ...]:
    """Return the names of the features: the table's own, or those of its recipe."""
    if table.names is not None:
        return table.names
    if table.recipe is not None:
        return table.recipe.features
    return tuple(f"x{j}" for j in range(table.values.shape[1]))


def counted(values: np.ndarray, names: Sequence[str] | None, source: str, way: str) -> str:
    """Count missing values by column, the worst first, and name the ways out."""
    rows = int((~np.isfinite(values)).any(1).sum())
    return counted_by(np.isnan(values).sum(0), np.isinf(values).sum(0), rows, len(values), names, source, way)


def counted_by(
    gaps: np.ndarray,
    infinite: np.ndarray,
    n_holed: int,
    n_rows: int,
    names: Sequence[str] | None,
    source: str,
    way: str,
) -> str:
    """Say the same from the counts of each column and of the rows that have some."""
    total = gaps + infinite
    order = [j for j in np.argsort(-total, kind="stable") if total[j]]
    worst = ", ".join(f"{_called(names, j)} has {_amount(gaps[j], infinite[j])}" for j in order[:_WORST])
    more = f" and {len(order) - _WORST:,} more columns have some" if len(order) > _WORST else ""
    what = "no missing values" if gaps.any() else "finite values"
    return (
        f"`{source}` must have {what}, column {worst}{more} ({n_holed:,} of {n_rows:,} rows). "
        f"Fill them in, or {way}."
    )


def _called(names: Sequence[str] | None, j: int) -> str:
    return str(j + 1) if names is None else repr(names[j])


def _amount(gaps: int, infinite: int) -> str:
    told = [f"{int(gaps):,}"] if gaps else []
    return " and ".join([*told, *([f"{int(infinite):,} infinite"] if infinite else [])])


def _without_rows(table: Table, source: str) -> Table:
    whole = np.isfinite(table.values).all(1)
    lost = int((~whole).sum())
    if not whole.any():
        raise ValueError(
            f"`{source}` must have a row without missing values, all {lost:,} have some. "
            "Choose --missing median or drop-columns."
        )
    note = f"Dropped {lost:,} of {len(whole):,} rows with missing values."
    return _noted(replace(table.take(whole), kept=whole), note)


def _without_columns(table: Table, source: str) -> Table:
    return without_columns(table, ~np.isfinite(table.values).all(0), "missing values in it", source)


def _filled(table: Table, source: str) -> Table:
    gaps = ~np.isfinite(table.values)
    medians = medians_of(table.values)
    found = _count(int(gaps.sum()), "missing value"), _count(int(gaps.any(0).sum()), "column")
    note = f"Filled {found[0]} in {found[1]} with the median of the column."
    recipe = None if table.recipe is None else replace(table.recipe, medians=tuple(medians.tolist()))
    return _noted(replace(table, values=fill(table.values, medians), recipe=recipe), note)


def _count(n: int, word: str) -> str:
    return f"{n:,} {word}{'s' * (n != 1)}"


def fill(values: np.ndarray, medians: np.ndarray) -> np.ndarray:
    """Return values with numbers in place of holes, column by column."""
    return np.where(np.isfinite(values), values, np.asarray(medians, dtype=values.dtype))


def medians_of(values: np.ndarray) -> np.ndarray:
    """Return the median of each column over its finite values."""
    return np.array([np.median(column[np.isfinite(column)]) for column in values.T])


def _noted(table: Table, note: str) -> Table:
    return replace(table, recipe=None if table.recipe is None else table.recipe.noting(note))
