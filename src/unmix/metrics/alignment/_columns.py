"""The columns of a run: read in blocks, checked once, standardised within the rows of a part."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from ...rows import Rows, array_rows, file_rows
from .._checks import _in_range, check_units, unmasked

_ENTRIES = 2**22  # numbers in a block
_NARROW = 1024  # codes up to this width are computed in double precision


class Span(NamedTuple):
    """Some rows, and which of them are held out."""

    start: int
    stop: int
    held: np.ndarray


class Split(NamedTuple):
    """Rows drawn at random to be held out; which ones does not depend on how rows are grouped."""

    n_rows: int
    share: float
    random_state: int
    block: int

    def spans(self) -> Iterator[Span]:
        """Start a pass over all rows."""
        rng = np.random.default_rng(self.random_state)
        for start in range(0, self.n_rows, self.block):
            stop = min(start + self.block, self.n_rows)
            yield Span(start, stop, rng.random(stop - start) < self.share)

    @property
    def n_held(self) -> int:
        """Rows that are held out."""
        return _n_held(self)

    @property
    def n_fit(self) -> int:
        """Rows that are not."""
        return self.n_rows - _n_held(self)

    @property
    def n_blocks(self) -> int:
        """Blocks of a pass."""
        return -(-self.n_rows // self.block)


@lru_cache(maxsize=8)  # asked for often, and a pass over all rows
def _n_held(split: Split) -> int:
    return sum(int(span.held.sum()) for span in split.spans())


@dataclass(frozen=True, eq=False)
class Columns:
    """A run whose columns are given mean 0 and variance 1, by the rows to fit (0) or held out (1) alone."""

    rows: Rows
    mean: np.ndarray  # (2, n_columns)
    spread: np.ndarray  # (2, n_columns), 0 where a column does not vary
    varies: np.ndarray  # (n_columns,)
    dtype: np.dtype

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.rows.n_features

    def take(self, span: Span, part: int, columns: Any = slice(None)) -> np.ndarray:
        """Read the rows of one part of a span; columns that do not vary there are zero."""
        return self._standard(self._raw(span), span, part, columns)

    def both(self, span: Span) -> tuple[np.ndarray, np.ndarray]:
        """Read a span once, and return its rows to fit and those held out."""
        raw = self._raw(span)
        return self._standard(raw, span, 0), self._standard(raw, span, 1)

    def _raw(self, span: Span) -> np.ndarray:
        return np.asarray(self.rows.take(span.start, span.stop))

    def _standard(self, raw: np.ndarray, span: Span, part: int, columns: Any = slice(None)) -> np.ndarray:
        kept = raw[span.held if part else ~span.held][:, columns]
        spread = self.spread[part, columns]
        weight = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        return ((kept - self.mean[part, columns]) * weight).astype(self.dtype, copy=False)


class Pair(NamedTuple):
    """Two runs, their rows in two parts, and what to call after each block."""

    first: Columns
    second: Columns
    split: Split
    tick: Callable[[], None]


def opened(runs: Sequence[Any], names: Sequence[str]) -> list[Rows]:
    """Return every run as rows, with as many rows each, or say which is wrong."""
    tables = [_rows(run, name) for run, name in zip(runs, names, strict=True)]
    for table, name in zip(tables, names, strict=True):
        if table.n_rows != tables[0].n_rows:
            raise ValueError(
                f"`{name}` must have as many rows as `{names[0]}`, got {table.n_rows} and "
                f"{tables[0].n_rows}. Row i of both must come from the same input."
            )
    return tables


def _rows(run: Any, name: str) -> Rows:
    if isinstance(run, Rows):
        return run
    if isinstance(run, str | os.PathLike):
        try:
            return file_rows(Path(run), lambda n_columns: max(1, _ENTRIES // n_columns))
        except ValueError as error:
            raise ValueError(str(error).replace("`X`", f"`{name}`")) from None
    if issparse(run):
        return _sparse_rows(run, name)
    entries = unmasked(run, name)
    if entries.dtype.kind not in "buif" or entries.ndim != 2 or 0 in entries.shape:
        raise ValueError(
            f"`{name}` must be numbers of shape (n_samples, n_latents), got {entries.dtype} of shape "
            f"{entries.shape}. Pass a table, or the path of one."
        )
    return array_rows(entries.astype(float) if entries.dtype.kind == "b" else entries, _ENTRIES)


def _sparse_rows(run: Any, name: str) -> Rows:
    """Return the rows of a sparse table, made dense block by block."""
    table = csr_array(run)
    if table.dtype.kind not in "buif" or 0 in table.shape:
        raise ValueError(
            f"`{name}` must be numbers of shape (n_samples, n_latents), got {table.dtype} of shape "
            f"{table.shape}. Pass a table, or the path of one."
        )
    n_rows, n_features = table.shape
    return Rows(lambda a, b: table[a:b].toarray(), n_rows, n_features, table.dtype, _ENTRIES)


def block_rows(tables: Sequence[Rows]) -> int:
    """Return how many rows are read at a time."""
    return int(np.clip(_ENTRIES // max(table.n_features for table in tables), 32, 8192))


def precision(tables: Sequence[Rows]) -> np.dtype:
    """Return the type to compute in: single where codes are wide and their products large."""
    wide = max(table.n_features for table in tables) > _NARROW
    return np.dtype(np.float32 if wide else np.float64)


def columns(rows: Rows, name: str, split: Split, dtype: np.dtype, tick: Callable[[], None]) -> Columns:
    """Read a run once: refuse what is not finite or never varies, and measure its columns in both parts."""
    parts = [(0, np.zeros(rows.n_features), np.zeros(rows.n_features)) for _ in range(2)]
    low, high = np.full(rows.n_features, np.inf), np.full(rows.n_features, -np.inf)
    for span in split.spans():
        raw = np.asarray(rows.take(span.start, span.stop))
        _check_finite(raw, name, span.start)
        low, high = np.minimum(low, raw.min(0)), np.maximum(high, raw.max(0))
        with np.errstate(over="ignore", invalid="ignore"):  # said below
            parts = [_added(*part, raw[span.held == held]) for held, part in enumerate(parts)]
        tick()
    largest = np.maximum(np.abs(low), np.abs(high))
    check_units(largest, name)
    _in_range(np.array([low, high], dtype=np.float64), name)
    rounding = 4 * np.finfo(np.float64).eps * largest
    varies = high - low > rounding
    if not varies.any():
        raise ValueError(f"`{name}` must vary, got the same row {rows.n_rows} times. Check the run.")
    spread = np.array([np.sqrt(squares / max(n, 1)) for n, _, squares in parts])
    spread[:, ~varies] = 0
    spread[spread <= rounding] = 0
    return Columns(rows, np.array([mean for _, mean, _ in parts]), spread, varies, dtype)


def _added(n: int, mean: np.ndarray, squares: np.ndarray, raw: np.ndarray) -> Any:
    """Add rows to a mean and a sum of squared deviations, without cancellation (Chan et al., 1983)."""
    if not len(raw):
        return n, mean, squares
    values = raw.astype(np.float64, copy=False)
    centre, m = values.mean(0), len(values)
    step = centre - mean
    squares = squares + ((values - centre) ** 2).sum(0) + step**2 * (n * m / (n + m))
    return n + m, mean + step * (m / (n + m)), squares


def _check_finite(raw: np.ndarray, name: str, start: int) -> None:
    if np.isfinite(raw).all():
        return
    row, column = np.argwhere(~np.isfinite(raw))[0].tolist()
    raise ValueError(
        f"`{name}` must be finite, got {raw[row, column]} in row {start + row}, column {column}. "
        "Drop or impute such rows first."
    )
