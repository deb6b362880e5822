"""Each batch anchored at its own controls, in units of what controls do within batches."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ._design import Design
from ._field import narrowed, standard, widened

WIDEST = 6000  # columns, of whose covariance there are several in memory
RIDGE, BETWEEN = 1.0, 0.1  # of the mean variance, and of the covariance: chosen by benchmarks/screens.py
_FLOOR = 1e-9  # of unit variance: controls may be constant within batches
_ENTRIES = 1 << 22  # of a block
_TURN = 0.01  # rows that are read in the time of one entry of the covariance that is decomposed

Blocks = Callable[[], Iterable[np.ndarray]]


@dataclass(frozen=True, eq=False)
class Adjustment:
    """What was learnt from controls, and is applied row by row.

    Parameters
    ----------
    offsets : array of shape (n_batches, n_features)
        Mean of the controls of each batch, in the units of the table.
    matrix : array of shape (n_features, n_features)
        What rows less the offset of their batch are multiplied by. It turns nothing more than it must, so
        that each column still belongs to its feature.
    variances : array of shape (n_features,)
        What rows are sphered by along the principal directions of controls; ascending.
    """

    offsets: np.ndarray
    matrix: np.ndarray
    variances: np.ndarray

    def apply(self, x: np.ndarray, batch: np.ndarray) -> np.ndarray:
        """Return rows with the effect of their batch taken out, in the precision of `x`."""
        out = np.empty(x.shape, dtype=np.result_type(x.dtype, np.float32))
        matrix, offsets = self.matrix.astype(out.dtype), self.offsets.astype(out.dtype)
        for start in range(0, len(x), size := _rows(x)):
            rows = slice(start, start + size)
            out[rows] = (x[rows] - offsets[batch[rows]]) @ matrix
        return out


def anchored(x: np.ndarray, design: Design, *, random_state: int = 0) -> np.ndarray:
    """Adjust a table in memory; see `fit_anchored`.

    Examples
    --------
    >>> from unmix.deconfound import design
    >>> rng = np.random.default_rng(0)
    >>> plate = np.repeat(np.arange(20), 50)
    >>> x = rng.normal(size=(1000, 4)) + rng.normal(size=(20, 4))[plate]
    >>> y = anchored(x, design({"plate": plate}, ["plate"]))
    >>> bool(np.abs([y[plate == k].mean(0) for k in range(20)]).max() < 1e-9)
    True
    """
    values, basis = (x, None) if x.shape[1] <= len(x) else narrowed(standard(x))
    learnt = fit_anchored(lambda: array_blocks(values), design, span_of=0 if basis is None else x.shape[1])
    return widened(learnt.apply(values, design.batch), basis)


def array_blocks(x: np.ndarray) -> Iterator[np.ndarray]:
    """Yield blocks of rows."""
    return (x[start : start + _rows(x)] for start in range(0, len(x), _rows(x)))


def _rows(x: np.ndarray) -> int:
    return max(1, _ENTRIES // x.shape[1])


def fit_anchored(
    blocks: Blocks,
    design: Design,
    *,
    span_of: int = 0,
    on_progress: Callable[[float], None] | None = None,
) -> Adjustment:
    """Learn offsets and units from controls, in one pass over blocks of rows.

    Columns are brought to unit variance over all rows. Rows are centred on the controls of their own batch,
    and sphered by a covariance: that of controls within batches, a tenth of that between means of batches, so
    that directions in which batches differ count for less, and a ridge as large as the mean variance within
    batches, for few controls understate small variances and noise would be blown up. These shares were chosen
    on simulated screens, and are the same for all tables.

    Parameters
    ----------
    blocks : callable
        Starts a pass: returns the blocks of rows in order, without missing values.
    design : Design
    span_of : int
        Where the rows are coordinates within the span of wider ones, whose columns have unit variance: how
        many columns those have. Otherwise columns are brought to unit variance first.
    on_progress : callable, optional
        Told the share of the work that is done.

    Returns
    -------
    Adjustment
    """
    sums = _Sums(design, span_of)
    tell = on_progress or (lambda share: None)
    for block in blocks():
        sums.add(block)
        tell(sums.at / (len(design) + _TURN * block.shape[1] ** 2))
    return _adjustment(sums)


class _Sums:
    """What a pass over the rows adds up: squares of all rows, sums of controls by batch, their products."""

    def __init__(self, design: Design, span_of: int) -> None:
        self.design, self.span_of, self.at = design, span_of, 0
        self.shift: Any = None

    def add(self, block: np.ndarray) -> None:
        if self.shift is None:
            self._begin(block)
        values = block - self.shift  # sums of squares far from zero would lose digits
        rows = slice(self.at, self.at + len(values))
        control, self.at = self.design.control[rows], self.at + len(values)
        self.total += values.sum(0)
        self.squares += np.einsum("ij,ij->j", values, values)
        self._add_controls(values if control.all() else values[control], self.design.batch[rows][control])

    def _begin(self, block: np.ndarray) -> None:
        d = block.shape[1]
        if d > WIDEST:
            raise ValueError(
                f"`X` must have at most {WIDEST:,} columns where it has more rows than that, got {d:,}. Take "
                "principal components first, as in --obsm X_pca."
            )
        self.shift = block.mean(0, dtype=np.float64)
        self.total, self.squares = np.zeros(d), np.zeros(d)
        self.counts = np.bincount(self.design.batch[self.design.control], minlength=len(self.design.names))
        self.batch_sums, self.products = np.zeros((len(self.design.names), d)), np.zeros((d, d))

    def _add_controls(self, values: np.ndarray, batch: np.ndarray) -> None:
        one_hot = csr_array(
            (np.ones(len(batch)), (batch, np.arange(len(batch)))), (len(self.counts), len(batch))
        )
        self.batch_sums += one_hot @ values
        self.products += values.T @ values

    @property
    def scale(self) -> np.ndarray:
        """The standard deviation of each column over all rows, 1 for a constant one."""
        if self.span_of:
            return np.ones_like(self.total)
        variance = self.squares / self.at - (self.total / self.at) ** 2
        return np.sqrt(np.where(variance > 0, variance, 1.0))

    def covariance(self) -> np.ndarray:
        """Return what rows are sphered by."""
        scale, n, d = self.scale, int(self.counts.sum()), len(self.total)
        means = self.batch_sums / np.maximum(self.counts, 1)[:, None] - self.batch_sums.sum(0) / n
        means *= np.sqrt(self.counts)[:, None] / scale
        between = means.T @ means / max(n - 1, 1)
        whole = self.products - np.outer(total := self.batch_sums.sum(0), total / n)
        whole /= max(n - 1, 1) * scale
        whole /= scale[:, None]
        whole -= between  # leaves what is within batches
        ridge = RIDGE * float(np.trace(whole)) / (self.span_of or d)
        whole += BETWEEN * between
        whole[np.diag_indices(d)] += max(ridge, _FLOOR)
        return whole


def _adjustment(sums: _Sums) -> Adjustment:
    variances, directions = np.linalg.eigh(sums.covariance())
    sphering = (directions / np.sqrt(variances)) @ directions.T
    offsets = sums.batch_sums / np.maximum(sums.counts, 1)[:, None] + sums.shift
    return Adjustment(offsets, sphering / sums.scale[:, None], variances)
