"""The table that is described: observed rows with their names, other columns, and ids."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from unmix._findings import findings_of
from unmix.tables import Recipe, Table, listed, read, read_like


class Observed(NamedTuple):
    """Rows as a model wants them, and what else is known of them."""

    rows: Any
    names: tuple[str, ...] | None = None
    metadata: Mapping[str, Any] = {}
    ids: Any = None


def observed(X: Any, metadata: Any = None, ids: Any = None, *, model: Any = None) -> Observed:
    """Read the table; what is given beside it comes before what it brings.

    Parameters
    ----------
    X : array, Table, path, data frame or AnnData
        An array or a data frame of nothing but the columns of the model is taken as it is. Of other sources
        the columns of the model are its own, by name, and the others metadata.
    metadata : mapping or data frame, optional
    ids : array-like, optional
    model : fitted estimator, optional

    Returns
    -------
    Observed

    Examples
    --------
    >>> observed(np.ones((2, 1)), {"week": ["a", "b"]}).metadata
    {'week': array(['a', 'b'], dtype='<U1')}
    """
    source = _read(X, model)
    table = isinstance(source, Table)
    rows = source.values if table else source
    names = source.names if table else getattr(source, "columns", None)
    more = source.metadata if metadata is None and table else metadata
    known = source.ids if ids is None and table else ids
    if known is not None and len(known) != len(rows):
        raise ValueError(
            f"`ids` must hold one name per row, {len(rows)} of them, got {len(known)}. Pass them all."
        )
    named = None if names is None else tuple(map(str, names))
    return Observed(rows, named, _columns(more), None if known is None else np.asarray(known))


def _read(X: Any, model: Any) -> Any:
    """Read what is no plain matrix: files, AnnData, and frames with more than the columns of the model."""
    if isinstance(X, Table):
        return _with_columns_of(X, model)
    if not (isinstance(X, str | os.PathLike) or _is_frame(X) or hasattr(X, "obs")):
        return X
    if _is_frame(X) and _numeric(X) and np.shape(X)[1] == _width(model, np.shape(X)[1]):
        return X
    found = findings_of(model)
    if found.recipe is None and found.feature_names_in is None:
        return read(X)
    recipe = found.recipe or Recipe(tuple(map(str, found.feature_names_in)))
    return read_like(X, recipe)[0]


def _with_columns_of(table: Table, model: Any) -> Table:
    """Take the columns of the model, by name; the other numbers are metadata."""
    own = findings_of(model).feature_names_in
    if own is None or table.names is None or tuple(map(str, own)) == table.names:
        return table
    at = {name: k for k, name in enumerate(table.names)}
    lacking = [str(name) for name in own if str(name) not in at]
    if lacking:
        raise ValueError(
            f"`X` must have the columns that the model was fitted on, it lacks {listed(lacking)}. Add them."
        )
    picked = [at.pop(str(name)) for name in own]
    others = {name: table.values[:, k] for name, k in at.items()}
    names = tuple(map(str, own))
    return replace(table, values=table.values[:, picked], names=names, metadata={**table.metadata, **others})


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and not isinstance(X, np.ndarray)


def _numeric(frame: Any) -> bool:
    return np.asarray(frame).dtype.kind in "fiub"


def _width(model: Any, n: int) -> int:
    wanted = None if model is None else findings_of(model).n_features_in
    return n if wanted is None else wanted


def _columns(metadata: Any) -> dict[str, np.ndarray]:
    """Return the columns of a mapping or of a data frame as arrays."""
    if metadata is None:
        return {}
    names = list(metadata.columns) if hasattr(metadata, "columns") else list(metadata)
    return {str(name): np.asarray(metadata[name]) for name in names}
