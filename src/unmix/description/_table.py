"""The table that is described: observed rows with their names, other columns, and ids."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np


class Observed(NamedTuple):
    """Rows as a model wants them, and what else is known of them."""

    rows: Any
    names: tuple[str, ...] | None = None
    metadata: Mapping[str, Any] = {}
    ids: Any = None


def observed(X: Any, metadata: Any = None, ids: Any = None) -> Observed:
    """Read the table; what is given beside it comes before what it brings.

    >>> observed(np.ones((2, 1)), {"week": ["a", "b"]}).metadata
    {'week': array(['a', 'b'], dtype='<U1')}
    """
    read = hasattr(X, "metadata") and hasattr(X, "values")  # a table of `unmix.tables`
    rows = X.values if read else X
    names = getattr(X, "names", None) if read else getattr(X, "columns", None)
    more = X.metadata if metadata is None and read else metadata
    known = getattr(X, "ids", None) if ids is None and read else ids
    n = len(rows)
    if known is not None and len(known) != n:
        raise ValueError(f"`ids` must hold one name per row, {n} of them, got {len(known)}. Pass them all.")
    return Observed(rows, None if names is None else tuple(map(str, names)), _columns(more), _sequence(known))


def _columns(metadata: Any) -> dict[str, np.ndarray]:
    """Return the columns of a mapping or of a data frame as arrays."""
    if metadata is None:
        return {}
    names = list(metadata.columns) if hasattr(metadata, "columns") else list(metadata)
    return {str(name): np.asarray(metadata[name]) for name in names}


def _sequence(ids: Any) -> Any:
    return None if ids is None else np.asarray(ids)
