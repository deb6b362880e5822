"""What independent components need of tables in odd units or of few rows: the span of rows, and units."""

from typing import Any, NamedTuple

import numpy as np
import torch

from unmix.rows import Rows
from unmix.solvers.ica import RTOL

from ._number import is_auto

_RANGE = 1e-15, 1e15  # of single precision there is room for fourth powers, and for rows beyond the first


class Span(NamedTuple):
    """Centred rows in coordinates of their span, its axes, and the units of the columns that these are in."""

    rows: np.ndarray
    axes: np.ndarray
    unit: np.ndarray


def span_of(centred: np.ndarray, n_components: Any, rtol: float | None) -> Span:
    """Return the rows within their span; of columns in their own units, unless more directions are wanted.

    >>> rows = np.random.default_rng(0).normal(size=(4, 10)) * np.where(np.arange(10) < 2, 1e8, 1.0)
    >>> spans = [span_of(rows - rows.mean(0), None, rtol) for rtol in (None, 1e-6)]
    >>> [int(np.ptp(span.unit) > 0) for span in spans]
    [1, 0]
    """
    one = np.ones(centred.shape[1])
    plain = _within(centred, one)
    enough = n_components is not None and (is_auto(n_components) or n_components <= _rank(plain))
    if rtol is not None or enough:
        return plain
    size = centred.std(0)
    even = _within(centred, np.where(size > 0, size, 1.0))
    return even if _rank(even) > _rank(plain) else plain


def _within(centred: np.ndarray, unit: np.ndarray) -> Span:
    left, sizes, axes = np.linalg.svd(centred / unit, full_matrices=False)
    kept = sizes > sizes[0] * np.sqrt(np.finfo(float).eps)
    return Span((left * sizes)[:, kept], axes[kept], unit)


def _rank(span: Span) -> int:
    variance = np.square(span.rows).sum(0)
    return int((variance > RTOL * variance.max()).sum())


def extreme_units(rows: Any) -> np.ndarray | None:
    """Return powers of two that bring columns near 1, or None where all squares are in range anyway."""
    if not isinstance(rows, Rows):
        return None
    largest = np.abs(np.nan_to_num(rows.head().astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)).max(0)
    outside = (largest > 0) & ((largest < _RANGE[0]) | (largest > _RANGE[1]))
    if not outside.any():
        return None
    return np.where(outside, np.ldexp(1.0, -np.frexp(largest)[1]), 1.0)


def in_units(block: Any, unit: np.ndarray) -> Any:
    """Return a block in double precision and other units.

    >>> in_units(np.array([[4e200]]), np.array([0.25])).tolist()
    [[1e+200]]
    """
    if isinstance(block, torch.Tensor):
        return block.double() * torch.from_numpy(unit).to(block.device)
    return np.asarray(block, dtype=np.float64) * unit
