"""What a sparse autoencoder makes of some rows, for all that is asked of its features."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

LEAST = 8  # rows that a feature must be on in before anything is said of it


class Measured(NamedTuple):
    """What a model makes of some rows: codes by column, what they leave of each row, and the atoms."""

    x: np.ndarray
    codes: csc_array
    left: np.ndarray
    atoms: np.ndarray
    times: np.ndarray


def measured(model: Any, x: np.ndarray) -> Measured:
    """Encode rows."""
    codes = csr_array(model.transform(x))
    left = x - model.inverse_transform(codes)
    by_column = csc_array(codes)
    return Measured(x, by_column, left, np.asarray(model.dictionary_, float), np.diff(by_column.indptr))
