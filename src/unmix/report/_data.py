"""The data that a report is about, however they were given."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Data:
    """Observed rows and, where it is known, the truth behind them; a part that is unknown is None."""

    rows: Any = None  # as a model wants them: a data frame stays one
    x: np.ndarray | None = None
    z: np.ndarray | None = None
    structure: Any = None
    names: Any = None
    description: str = ""
    labels: Any = None
    masks: Any = None
    graph: Any = None
    domains: Any = None  # of each row: observed, no truth
    metadata: Mapping[str, Any] = field(default_factory=dict)  # other columns of the same rows
    ids: Any = None  # names of the rows

    @property
    def active(self) -> np.ndarray | None:
        """Which true latents vary in each sample."""
        if self.masks is None or self.labels is None:
            return None
        return np.asarray(self.masks)[np.asarray(self.labels)].astype(bool)


def data_of(data: Any, metadata: Any = None, ids: Any = None, *, model: Any = None) -> Data:
    """Read a dataset that knows its latents, a table, or nothing; and what is known beside it of its rows."""
    if data is None:
        return Data()
    from ..description import observed

    known = hasattr(data, "z") and not hasattr(data, "columns")  # a data frame may have a column of that name
    beside = observed(data.x if known else data, metadata, ids, model=model)
    read = _with_truth(data, beside.rows) if known else Data(beside.rows, _matrix(beside.rows))
    return replace(read, names=beside.names, metadata=beside.metadata, ids=beside.ids)


def _with_truth(data: Any, rows: Any) -> Data:
    more: dict[str, Any] = {
        name: getattr(data, name, None) for name in ("structure", "labels", "masks", "graph")
    }
    z = None if data.z is None else np.asarray(data.z)
    about = str(getattr(data, "description", "") or "")
    domains = getattr(data, "u", None)
    return Data(rows, _matrix(rows), z, description=about, domains=domains, **more)


def _matrix(rows: Any) -> np.ndarray:
    x = np.asarray(rows)
    if x.ndim != 2:
        raise ValueError(f"`data` must be a LatentDataset or a matrix of samples, got shape {x.shape}.")
    return x
