"""Tables larger than memory as estimators take them: read in blocks, standardised on the way."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unmix._group import current
from unmix.rows import Rows, file_rows
from unmix.solvers.ica import block_rows, spread_of
from unmix.training import Streamed, device

from . import _tables
from ._tables import PRECISION as PRECISION

_DESCRIBED = 20_000  # rows that tell the scale of the codes and the structure

Function = Callable[[Tensor], Tensor]


def is_rows(X: Any) -> bool:
    """Whether this is a table to be read in blocks: a path, or `Rows`."""
    return isinstance(X, str | os.PathLike | Rows)


def opened(X: Any) -> Rows:
    """Open a path."""
    return X if isinstance(X, Rows) else file_rows(X, lambda n: block_rows(n, torch.device("cpu")))


def read(model: Any, X: Any) -> Streamed:
    """Pass over the rows once for mean, scale and rank, and return a source of batches."""
    rows = opened(X)
    spread = spread_of(rows.part(current().rank, current().size), torch.device("cpu"))
    scale = np.sqrt(np.diag(spread.covariance))
    _tables.check_varies(scale, np.abs(spread.mean) + scale)
    _tables.check_rank(spread.covariance / np.outer(scale, scale), model._least_rank)
    model.mean_, model.scale_ = spread.mean, scale
    remember_columns(model, rows)
    place = device(model.device)

    def prepare(block: Any) -> Tensor:
        return ((torch.as_tensor(np.asarray(block), dtype=torch.float64) - mean) / unit).float().to(place)

    mean, unit = torch.from_numpy(spread.mean), torch.from_numpy(scale)
    return Streamed(rows, prepare)


def remember_columns(model: Any, rows: Any) -> None:
    """Take number and names of the columns, as scikit-learn does for arrays."""
    model.n_features_in_ = rows.n_features
    _tables.forget(model, "feature_names_in_", "image_shape_", "bytes_", *_tables.REMEMBERED)
    if rows.names is not None:
        model.feature_names_in_ = np.array(rows.names, dtype=object)


def check_columns(model: Any, rows: Any) -> None:
    """Compare number and names of the columns with those that the model was fitted on."""
    if rows.n_features != model.n_features_in_:
        raise ValueError(f"`X` must have {model.n_features_in_} features, got {rows.n_features}.")
    names = getattr(model, "feature_names_in_", None)
    if rows.names is not None and names is not None and list(names) != list(rows.names):
        raise ValueError(f"`X` must have the feature names {list(names)}, got {list(rows.names)}.")


def encoded(model: Any, X: Any, encode: Function) -> np.ndarray:
    """Return the codes of each row."""
    return _each_block(model, X, lambda block: _tables.encoded(model, block, encode))


def slopes(model: Any, X: Any, encode: Function) -> np.ndarray:
    """Return the decoder's Jacobian at the codes of each row, in the units of X."""
    return _each_block(model, X, lambda block: _tables.slopes(model, block, encode))


def explained(model: Any, X: Any) -> float:
    """Return the share of the variance of X that the model reconstructs."""
    sums = _each_block(
        model, X, lambda block: np.array([[part.sum() for part in _tables.residuals(model, block)]])
    )
    left, total = sums.sum(0)
    return float(1 - left / total)


def _each_block(model: Any, X: Any, of_block: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    rows = opened(X)
    check_columns(model, rows)
    return np.concatenate([of_block(block) for block in finite_blocks(rows)])


def finite_blocks(rows: Rows) -> Iterator[np.ndarray]:
    """Yield the blocks as arrays, and refuse the first cell that is no number."""
    start = 0
    for block in rows.blocks():
        values = np.asarray(block)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0].tolist()
            named = rows.names[column] if rows.names else column
            raise ValueError(
                f"`X` must be finite, got {values[row, column]} in row {start + row}, column {named}. "
                "Drop or fill such rows first."
            )
        yield values
        start += len(values)


def describe(model: Any, source: Streamed, encode: Function) -> None:
    """Remember the scale of the codes and the structure, from rows spread over the table."""
    _tables.describe(model, source.head(_DESCRIBED)[0], encode)
