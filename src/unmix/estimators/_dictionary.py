"""What every fitted dictionary of sparse features does: sparse codes of rows, rows of codes, and how often.

A fitted dictionary has `dictionary_` (unit rows), `encoder_weight_`, `encoder_bias_`, `bias_`, `threshold_`
in the units of the data, and an activation: z = act(E (x - b) + e), reconstructed as D^T z + b.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data
from torch import Tensor

from unmix.rows import ActivationStore, Rows, array_rows, arrow_rows, is_store, open_store
from unmix.training import device

from . import _streams
from ._tables import plain

_ENTRIES = 2**24  # pre-activations that are in memory at a time
_DESCRIBED = 2**20  # rows at most that tell how often features fire
_TYPES = [np.float64, np.float32]


class Layers(NamedTuple):
    """The arrays of a dictionary as tensors on one device, and how many features a row may have."""

    dictionary: Tensor
    encoder: Tensor
    encoder_bias: Tensor
    bias: Tensor
    threshold: Tensor | None
    activation: str
    k: int

    def codes(self, x: Tensor) -> sparse.csr_array:
        """Return the codes of a block of rows."""
        a = torch.addmm(self.encoder_bias, x - self.bias, self.encoder.T)
        if self.activation == "topk":
            values, index = a.topk(self.k, dim=1)
            rows = torch.arange(len(x), device=x.device)[:, None].expand_as(index)
            kept = values > 0
            return _csr(rows[kept], index[kept], values[kept], a.shape)
        kept = a > (0 if self.threshold is None else self.threshold.clamp_min(0))
        rows, index = kept.nonzero(as_tuple=True)
        return _csr(rows, index, a[kept], a.shape)


def _csr(rows: Tensor, index: Tensor, values: Tensor, shape: Any) -> sparse.csr_array:
    parts = [part.cpu().numpy() for part in (values, rows, index)]
    made = sparse.csr_array((parts[0], (parts[1], parts[2])), shape=tuple(shape))
    made.sort_indices()
    return made


def layers_of(model: Any, dtype: Any, place: torch.device) -> Layers:
    """Return the fitted arrays of a model as tensors of a type, on a device."""
    kind = torch.float64 if np.dtype(dtype) == np.float64 else torch.float32

    def tensor(values: Any) -> Tensor:
        return torch.as_tensor(np.asarray(values), dtype=kind, device=place)

    threshold = None if model.threshold_ is None else tensor(model.threshold_)
    names = ("dictionary_", "encoder_weight_", "encoder_bias_", "bias_")
    dictionary, encoder, encoder_bias, bias = (tensor(getattr(model, name)) for name in names)
    return Layers(dictionary, encoder, encoder_bias, bias, threshold, model.activation, model.k)


def is_rows(X: Any) -> bool:
    """Whether this is a table to be read in blocks."""
    return isinstance(X, ActivationStore) or _streams.is_rows(X)


def opened(model: Any, X: Any, *, reset: bool) -> Rows:
    """Open data of any kind as blocks of rows: checked against the model, or with `reset` remembered."""
    X = open_store(Path(X)) if isinstance(X, str | os.PathLike) and is_store(Path(X)) else X
    if isinstance(X, ActivationStore):
        rows = X.rows()
        if reset:
            model.model_name_, model.site_ = X.info.get("model"), X.info.get("site")
    elif isinstance(X, str | os.PathLike) and Path(X).suffix.lower() in (".arrow", ".feather"):
        rows = arrow_rows(Path(X), lambda d: max(1, 2**22 // d))
    elif is_rows(X):
        rows = _streams.opened(X)
    else:
        values = validate_data(model, plain(X), dtype=_TYPES, reset=reset)
        return array_rows(np.ascontiguousarray(values), max(1, 2**22 // values.shape[1]))
    (_streams.remember_columns if reset else _streams.check_columns)(model, rows)
    return rows


def blocks(rows: Rows, n_components: int) -> Iterator[np.ndarray]:
    """Yield rows in blocks whose pre-activations fit in memory, in single or double precision."""
    most = max(1, _ENTRIES // max(n_components, rows.n_features))
    for start in range(0, rows.n_rows, most):
        yield checked(rows.take(start, min(start + most, rows.n_rows)), start)


def checked(block: Any, start: int = 0) -> np.ndarray:
    """Return a block in single or double precision, and refuse what is not finite, by row."""
    values = np.asarray(block)
    values = values if values.dtype in _TYPES else values.astype(np.float32)
    bad = ~np.isfinite(values).all(1)
    if bad.any():
        raise ValueError(
            f"`X` must be finite, got NaN or infinity in row {start + int(bad.argmax()):,}. Mask such rows."
        )
    return values


def encoded(model: Any, X: Any) -> sparse.csr_array:
    """Return the codes of each row as a compressed sparse matrix, in the precision of X."""
    rows, place = opened(model, X, reset=False), device(model.device)
    wide = np.dtype(np.float64) if rows.dtype == np.float64 else np.dtype(np.float32)
    layers = layers_of(model, wide, place)
    parts = [layers.codes(_tensor(block, wide, place)) for block in blocks(rows, len(model.dictionary_))]
    return sparse.csr_array(sparse.vstack(parts, format="csr")) if len(parts) > 1 else parts[0]


def _tensor(block: np.ndarray, dtype: Any, place: torch.device) -> Tensor:
    return torch.as_tensor(np.ascontiguousarray(block, dtype=dtype)).to(place)


def decoded(model: Any, X: Any) -> np.ndarray:
    """Return the rows that codes stand for; codes may be sparse or dense."""
    codes = check_array(plain(X), dtype=_TYPES, accept_sparse="csr", input_name="X")
    if codes.shape[1] != len(model.dictionary_):
        raise ValueError(
            f"`X` must have shape (n_samples, n_components={len(model.dictionary_)}), got {codes.shape}."
        )
    made = codes @ model.dictionary_.astype(codes.dtype) + model.bias_.astype(codes.dtype)
    return np.asarray(made)


def explained(model: Any, X: Any) -> float:
    """Return the share of the variance of X, all columns together, that the model reconstructs."""
    rows, place = opened(model, X, reset=False), device(model.device)
    layers, left, count = layers_of(model, np.float64, place), 0.0, 0
    total, squares = np.zeros(rows.n_features), 0.0
    for block in blocks(rows, len(model.dictionary_)):
        values = block.astype(np.float64)
        codes = layers.codes(_tensor(values, np.float64, place))
        left += np.square(values - model.bias_ - codes @ model.dictionary_.astype(np.float64)).sum()
        about = values - model.bias_
        total, squares, count = total + about.sum(0), squares + np.square(about).sum(), count + len(values)
    return float(1 - left / (squares - np.square(total).sum() / count))


def describe(model: Any, rows: Rows) -> None:
    """Remember how often each feature fires, and how strongly at most, from rows spread over the data."""
    model.firing_, model.max_activation_ = described(model, spread(rows, len(model.dictionary_)))


def described(model: Any, parts: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of rows on which each feature fires, and its largest activation."""
    place, n = device(model.device), len(model.dictionary_)
    layers = layers_of(model, np.float32, place)
    fired, most, seen = np.zeros(n), np.zeros(n), 0
    for block in parts:
        codes = layers.codes(_tensor(block, np.float32, place))
        fired += np.bincount(codes.indices, minlength=n)
        np.maximum.at(most, codes.indices, codes.data)
        seen += len(block)
    return fired / seen, most


def spread(rows: Rows, n_components: int) -> Iterator[np.ndarray]:
    """Yield blocks spread over the data, all of them where there are not too many rows."""
    size = max(1, min(_ENTRIES // max(n_components, rows.n_features), rows.n_rows))
    n_blocks = -(-rows.n_rows // size)
    for number in range(0, n_blocks, max(1, n_blocks * size // _DESCRIBED)):
        start = number * size
        yield checked(rows.take(start, min(start + size, rows.n_rows)), start)


def check_enough(rows: Rows) -> None:
    """Refuse a single row."""
    if rows.n_rows < 2:
        raise ValueError(f"`X` must have more than one row, got n_samples = {rows.n_rows}. Collect more.")


def geometric_median(x: np.ndarray, n_iter: int = 50) -> np.ndarray:
    """Return the point with the smallest sum of distances to rows (Weiszfeld's iteration).

    Examples
    --------
    >>> geometric_median(np.array([[0.0], [1.0], [100.0]])).round(3).tolist()
    [1.0]
    """
    centre = np.median(x, axis=0)
    floor = 1e-9 * float(np.linalg.norm(x - centre, axis=1).mean() + 1e-300)
    for _ in range(n_iter):
        closeness = 1 / np.maximum(np.linalg.norm(x - centre, axis=1), floor)
        before, centre = centre, closeness @ x / closeness.sum()
        if np.linalg.norm(centre - before) <= floor:
            break
    return centre
