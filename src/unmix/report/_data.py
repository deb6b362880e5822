"""The data that a report is about, however they were given."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..tables import features_of


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

    @property
    def active(self) -> np.ndarray | None:
        """Which true latents vary in each sample."""
        if self.masks is None or self.labels is None:
            return None
        return np.asarray(self.masks)[np.asarray(self.labels)].astype(bool)


def data_of(data: Any) -> Data:
    """Read a dataset that knows its latents, a table, or nothing."""
    if data is None:
        return Data()
    data = features_of(data)
    names = getattr(data, "columns", None)
    if names is not None or not hasattr(data, "z"):  # a data frame may have a column of that name
        return Data(data, _matrix(data), names=names)
    more = {name: getattr(data, name, None) for name in ("structure", "labels", "masks", "graph")}
    z = None if data.z is None else np.asarray(data.z)
    about = str(getattr(data, "description", "") or "")
    domains = getattr(data, "u", None)
    return Data(data.x, _matrix(data.x), z, description=about, domains=domains, **more)


def _matrix(rows: Any) -> np.ndarray:
    x = np.asarray(rows)
    if x.ndim != 2:
        raise ValueError(f"`data` must be a LatentDataset or a matrix of samples, got shape {x.shape}.")
    return x
