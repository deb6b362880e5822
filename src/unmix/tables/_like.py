"""A further table as the recipe of the first one says: the same columns, the same treatment of holes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ._holes import counted, fill
from ._names import listed
from ._raw import Raw
from ._read import read_raw, table_of
from ._table import EVERY, Columns, Recipe, Table

_FACTOR = 100.0


def read_like(
    source: Any, recipe: Recipe, *, columns: Columns = EVERY, keys: Sequence[str] = ("x",)
) -> tuple[Table, np.ndarray]:
    """Read a table for a model: its columns by name, in its order, whatever else the table has.

    Parameters
    ----------
    source : path or object, as for `read`
    recipe : Recipe
        What was done to the table that the model was fitted on.
    columns : Columns
        Ids, columns to leave out, and another treatment of missing values than the recipe's.
    keys : sequence of str
        As for `read`.

    Returns
    -------
    table : Table
        With all rows of the source.
    whole : array of bool
        Rows without holes: all but those that `drop-rows` would drop, which hold medians instead.

    Examples
    --------
    >>> recipe = Recipe(("x0",), named=False, n_columns=2, missing="drop-rows", medians=(7.0,))
    >>> table, whole = read_like(np.array([[1.0, 2.0], [np.nan, 3.0]]), recipe)
    >>> table.values.tolist(), whole.tolist()
    ([[1.0], [7.0]], [True, False])
    """
    raw, called, _ = read_raw(source, _asking(columns, recipe), keys)
    return followed(raw, recipe, columns, called)


def read_like_with(
    source: Any, recipe: Recipe, *, columns: Columns = EVERY, also: Sequence[str] = ()
) -> tuple[tuple[Table, np.ndarray], dict[str, np.ndarray]]:
    """Read a table as `read_like` does, and from the same NPZ file other arrays, where it has them."""
    raw, called, more = read_raw(source, _asking(columns, recipe), ("x",), also)
    return followed(raw, recipe, columns, called), more


def _asking(columns: Columns, recipe: Recipe) -> Columns:
    """Return which columns to read: of AnnData from the array of the fit."""
    columns = replace(columns, layer=columns.layer or recipe.layer, obsm=columns.obsm or recipe.obsm)
    return replace(columns, features=recipe.features) if recipe.named else columns


def followed(raw: Raw, recipe: Recipe, columns: Columns, source: str) -> tuple[Table, np.ndarray]:
    """Do to what was read, whole or a block of it, what the recipe says."""
    if recipe.named and raw.names is not None:
        _check_names(raw, recipe, source)
        table = table_of(raw, replace(columns, features=recipe.features), source)
        order = {name: j for j, name in enumerate(table.names or ())}
        table = replace(table, values=_picked(table.values, [order[name] for name in recipe.features]))
    else:
        table = table_of(raw, columns, source)
        table = replace(table, values=_by_position(table, recipe, source))
    table = _without_dropped(table, recipe)
    names = recipe.features if recipe.named else None
    values, whole = patched(table.values, recipe, columns.missing, source)
    return replace(table, values=values, names=names, recipe=recipe), whole


def _without_dropped(table: Table, recipe: Recipe) -> Table:
    """Leave out numbers that the fit had no use for: they are no metadata either."""
    gone = [n for n, c in table.metadata.items() if n in recipe.dropped and c.dtype.kind in "fiu"]
    if not gone:
        return table
    beside = None if table.beside is None else table.beside.drop_columns(gone)
    return replace(table, metadata={n: c for n, c in table.metadata.items() if n not in gone}, beside=beside)


def _picked(values: np.ndarray, places: list[int]) -> np.ndarray:
    same = places == list(range(values.shape[1]))
    return values if same else np.ascontiguousarray(values[:, places])


def _check_names(raw: Raw, recipe: Recipe, source: str) -> None:
    held = {*(raw.names or ()), *(() if raw.arrow is None else raw.arrow.column_names)}
    lacking = [name for name in recipe.features if name not in held]
    if lacking:
        raise ValueError(
            f"`{source}` must have the columns that the model was fitted on, it lacks {listed(lacking)}. "
            "Rename or add them."
        )


def _by_position(table: Table, recipe: Recipe, source: str) -> np.ndarray:
    """Find the columns of a table without names by place; one that has only those is taken as it is."""
    assert table.recipe is not None
    n, width = len(recipe.features), table.values.shape[1]
    at = {name: j for j, name in enumerate(table.recipe.features)}
    if not recipe.named and table.recipe.n_columns == recipe.n_columns and set(recipe.features) <= set(at):
        return _picked(table.values, [at[name] for name in recipe.features])
    if width == n:
        return table.values
    also = "" if recipe.named or recipe.n_columns in (n, None) else f" or {recipe.n_columns}"
    raise ValueError(f"`{source}` must have {n}{also} features, as the table of the fit, got {width}.")


def patched(values: np.ndarray, recipe: Recipe, missing: str, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Fill holes with the medians of the fit; say which rows had none, or refuse holes."""
    holes = ~np.isfinite(values)
    if not holes.any():
        return values, np.ones(len(values), dtype=bool)
    way = recipe.missing if missing == "error" else missing
    if way not in ("median", "drop-rows") or not recipe.medians:
        names = recipe.features if recipe.named else None
        raise ValueError(counted(values, names, source, "choose --missing median or drop-rows"))
    whole = ~holes.any(1) if way == "drop-rows" else np.ones(len(values), dtype=bool)
    return fill(values, np.array(recipe.medians)), whole


def other_units(values: np.ndarray, recipe: Recipe) -> str:
    """Say which features are so far from those of the fit that they may be in other units, or nothing.

    >>> recipe = Recipe(("mass",), medians=(5.0,), spreads=(1.0,))
    >>> other_units(np.array([[5000.0], [6000.0]]), recipe)
    "Are the units those of the fit? Far from it lie 'mass'."
    """
    if not recipe.spreads or not recipe.medians or not len(values):
        return ""
    middle, spread = np.array(recipe.medians), np.array(recipe.spreads)
    here = np.median(values, axis=0)
    far = np.abs(here - middle) > _FACTOR * np.maximum(spread, 1e-12 * np.abs(middle))
    far &= spread > 0
    found = [name for name, odd in zip(recipe.features, far, strict=True) if odd]
    return f"Are the units those of the fit? Far from it lie {listed(found)}." if found else ""
