"""From rows to white rows: the directions that vary, scaled to unit variance, and passes over them."""

from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.linalg import qr
from torch import Tensor

from unmix._group import added, current, tensors_from
from unmix.rows import DaskRows, Rows, array_rows

from ._blocks import Prepare, block_rows, sample_stride
from ._reliability import Shape, shape_of
from ._rotations import Evaluate
from ._sums import contrast_sums, shape_sums, spread_sums

RTOL = 1e-6  # share of the largest variance below which a direction counts as none, unless another is named
_ROUNDING = 8 * np.finfo(float).eps  # share of its mean by which a constant column may spread
HELD = 2**26  # entries of white rows of a file that are kept in memory, not read again for each pass


class Spread(NamedTuple):
    """How many rows there are, their mean and their covariance, in double precision."""

    n_samples: int
    mean: np.ndarray
    covariance: np.ndarray


class Whitening(NamedTuple):
    """Linear maps of centred rows to white ones and back, how many directions vary at all, and the columns
    that tell nothing beside the others, one for each direction that does not.
    """

    to: np.ndarray
    back: np.ndarray
    rank: int
    dropped: np.ndarray


def spread_of(rows: Rows | DaskRows, place: torch.device) -> Spread:
    """Pass over the rows once for their mean and covariance, and refuse what is not finite."""
    head = rows.head().astype(np.float64)
    shift = torch.from_numpy(np.nan_to_num(head.mean(0), posinf=0.0, neginf=0.0)).to(place)
    tensors_from(0, shift)
    n, total, products = added(*rows.total(spread_sums, Prepare(None, torch.float64, str(place)), shift))
    wrong = np.flatnonzero(~torch.isfinite(total * products.diagonal()).cpu().numpy())
    if len(wrong):
        named = [rows.names[j] for j in wrong] if rows.names else wrong.tolist()
        raise ValueError(
            f"`X` must be finite, columns {named} hold NaN, infinity or more than fits. Mend them."
        )
    left = total / n
    covariance = products / n - torch.outer(left, left)
    return Spread(int(n), (shift + left).cpu().numpy(), covariance.cpu().numpy())


def whitening_of(spread: Spread, n_components: int | None, rtol: float | None) -> Whitening:
    """Keep the directions whose variance exceeds `rtol` times the largest, the widest first.

    Without `rtol` it is 1e-6, and columns count in units of their own spread where that finds more directions
    than their own units do: a column in millimetres tells as much as one in kilometres.
    """
    size = np.sqrt(np.maximum(np.diag(spread.covariance), 0.0))
    varies = size > _ROUNDING * np.abs(spread.mean)
    if not varies.any():
        raise ValueError("`X` must vary, all of its columns are constant. Check the data.")
    found = _directions(spread, np.ones_like(size), RTOL if rtol is None else rtol)
    if (
        rtol is None
        and len(found.values) > found.rank
        and (n_components is None or n_components > found.rank)
    ):
        even = _directions(spread, np.where(varies, size, np.inf), RTOL)
        found = even if even.rank > found.rank else found
    if n_components is not None and n_components > found.rank:
        share = RTOL if rtol is None else rtol
        raise ValueError(
            f"`n_components` must be at most the rank of X, which is {found.rank} (directions with more than "
            f"rtol={share:g} of the largest variance), got {n_components}. Ask for fewer, or lower `rtol`."
        )
    return _kept(found, n_components)


class _Directions(NamedTuple):
    """Principal directions of columns in some units, the widest first, and how many of them vary."""

    values: np.ndarray
    axes: np.ndarray
    unit: np.ndarray
    rank: int


def _directions(spread: Spread, unit: np.ndarray, rtol: float) -> _Directions:
    values, vectors = np.linalg.eigh(spread.covariance / unit[:, None] / unit)
    values, vectors = values[::-1], vectors[:, ::-1]
    floor = max(rtol, len(values) * np.finfo(float).eps) * values[0]
    return _Directions(values, vectors, unit, min(int((values > floor).sum()), spread.n_samples - 1))


def _kept(found: _Directions, n_components: int | None) -> Whitening:
    kept = slice(0, found.rank if n_components is None else n_components)
    scale, axes = np.sqrt(found.values[kept]), found.axes[:, kept]
    axes = axes * np.where(axes[np.abs(axes).argmax(0), np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    units = np.where(np.isinf(found.unit), 0.0, found.unit)  # of constant columns nothing comes back
    return Whitening(
        (axes / scale).T / found.unit, units[:, None] * (axes * scale), found.rank, _dropped(found)
    )


def _dropped(found: _Directions) -> np.ndarray:
    """Return the columns that the others determine, one for each direction that does not vary."""
    left = len(found.values) - found.rank
    if not left:
        return np.empty(0, dtype=np.int64)
    _, order = qr(found.axes[:, : found.rank].T, mode="r", pivoting=True)
    return np.sort(order[found.rank :])


class White(NamedTuple):
    """Rows that are white once multiplied by `basis`; where that is None they are so already."""

    rows: Rows | DaskRows
    prepare: Prepare
    basis: Tensor | None
    n_samples: int

    def moments(self, fun: str) -> Evaluate:
        """Return the function that passes over the rows for E[g(y) y^T] and E[g'(y)] at a rotation."""

        def evaluate(rotation: Tensor) -> tuple[Tensor, Tensor]:
            cross, slope = added(*self.rows.total(contrast_sums, self.prepare, self._weights(rotation), fun))
            return cross / self.n_samples, slope / self.n_samples

        return evaluate

    def shape(self, rotation: Tensor, fun: str, n_samples: int | None = None) -> Shape:
        """Pass over the rows once more, for what can be said about each component found on `n_samples`."""
        sums = added(*self.rows.total(shape_sums, self.prepare, self._weights(rotation), fun))
        return shape_of(sums, self.n_samples, n_samples or self.n_samples, fun)

    def _weights(self, rotation: Tensor) -> Tensor:
        # the whitening is folded into the rotation, so that no whitened copy is needed
        folded = rotation if self.basis is None else rotation @ self.basis
        return folded.to(self.prepare.precision)

    def sample(self, n_components: int) -> "White":
        """Return a white sample in memory on which to look for the basin, or self where nothing is saved."""
        stride = sample_stride(self.n_samples, n_components)
        return self if stride == 1 else self._held(stride, n_components)

    def in_memory(self, n_components: int) -> "White":
        """Whiten once and for all, where the rows are in memory anyway or the white ones are few."""
        few = isinstance(self.rows, Rows) and self.n_samples * n_components <= HELD
        return self._held(1, n_components) if self.rows.resident or few else self

    def _held(self, stride: int, n_components: int) -> "White":
        basis = None if self.basis is None else self.basis.to(self.prepare.precision).T
        kept = self._kept(stride)
        white = torch.empty(kept, n_components, dtype=self.prepare.precision, device=self.prepare.place)
        filled = 0
        for block in self.rows.every(stride):
            rows = self.prepare(block)
            white[filled : filled + len(rows)] = rows if basis is None else rows @ basis
            filled += len(rows)
        held = array_rows(white, block_rows(n_components, white.device))
        n_samples = kept if current().alone else -(-self.n_samples // stride)
        return White(held, self.prepare._replace(mean=None), None, n_samples)

    def _kept(self, stride: int) -> int:
        """Count the rows of this process that are numbered by multiples of a stride."""
        if not isinstance(self.rows, Rows):
            return -(-self.n_samples // stride)
        first = self.rows.first
        return len(range(first + -first % stride, first + self.rows.n_rows, stride))


def white_rows(
    rows: Any, spread: Spread, to: np.ndarray | None, precision: torch.dtype, place: torch.device
) -> White:
    """Return rows as white ones; `to` is None where they are only centred."""
    prepare = Prepare(spread.mean, precision, str(place))
    basis = None if to is None else torch.from_numpy(to.copy()).to(place)
    n_components = rows.n_features if to is None else len(to)
    return White(rows, prepare, basis, spread.n_samples).in_memory(n_components)


def shape_of_codes(y: np.ndarray, fun: str, n_samples: int | None = None) -> Shape:
    """Return what can be said about components that are at hand, each scaled to unit variance.

    They were found on `n_samples` rows, by default as many as there are.

    >>> y = np.random.default_rng(0).laplace(size=(2000, 2))
    >>> shape_of_codes(y, "logcosh").reliability.round(2)
    array([1., 1.])
    """
    unit = (y - y.mean(0)) / np.maximum(y.std(0), 1e-300)
    rows = torch.from_numpy(np.ascontiguousarray(unit, dtype=np.float32))
    sums = shape_sums(rows, torch.eye(y.shape[1], dtype=rows.dtype), fun)
    return shape_of(sums, len(y), n_samples or len(y), fun)
