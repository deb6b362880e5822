"""Each batch anchored at its own controls, in units of what controls do when a batch is left out."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.isotonic import isotonic_regression

from ._design import Design
from ._field import narrowed, standard, widened

N_FOLDS = 10
WIDEST = 6000  # columns, of whose covariance there are eleven in memory
_BLOCK = 8192
_FLOOR = 1e-6  # of the mean variance of controls: exact copies of a column have none of their own

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
        Of controls along the principal directions, as found on batches that were left out; ascending.
    in_sample : array of shape (n_features,)
        The same as found on the controls themselves: what is far below `variances` was overfitted.
    """

    offsets: np.ndarray
    matrix: np.ndarray
    variances: np.ndarray
    in_sample: np.ndarray

    def apply(self, x: np.ndarray, batch: np.ndarray) -> np.ndarray:
        """Return rows with the effect of their batch taken out, in the precision of `x`."""
        out = np.empty(x.shape, dtype=np.result_type(x.dtype, np.float32))
        matrix, offsets = self.matrix.astype(out.dtype), self.offsets.astype(out.dtype)
        for start in range(0, len(x), _BLOCK):
            rows = slice(start, start + _BLOCK)
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
    learnt = fit_anchored(lambda: array_blocks(values), design, units=basis is None)
    return widened(learnt.apply(values, design.batch), basis)


def array_blocks(x: np.ndarray) -> Iterator[np.ndarray]:
    """Yield blocks of rows."""
    return (x[start : start + _BLOCK] for start in range(0, len(x), _BLOCK))


def fit_anchored(
    blocks: Blocks, design: Design, *, units: bool = True, on_progress: Callable[[float], None] | None = None
) -> Adjustment:
    """Learn offsets and units from controls, in one pass over blocks of rows.

    Columns are brought to unit variance over all rows. Rows are centred on the controls of their own batch,
    and sphered by the covariance that controls have over all batches, before centring, so that directions in
    which batches differ count for less. Principal directions of few controls understate small variances; the
    variance along each is therefore taken from batches that the direction was not fitted to, which leaves
    nothing to choose.

    Parameters
    ----------
    blocks : callable
        Starts a pass: returns the blocks of rows in order, without missing values.
    design : Design
    units : bool
        Whether to bring columns to unit variance first.
    on_progress : callable, optional
        Told the share of the work that is done.

    Returns
    -------
    Adjustment

    References
    ----------
    Bartz (2016), Cross-validation based nonlinear shrinkage, arXiv:1611.00798: variances on held-out data.
    """
    sums = _Sums(design, units)
    tell = on_progress or (lambda share: None)
    for block in blocks():
        sums.add(block)
        tell(_reading(len(design), block.shape[1]) * sums.at / len(design))
    return _adjustment(sums, tell)


def _reading(n_rows: int, n_features: int) -> float:
    """Return the share of a fit that the pass over the rows takes, beside the decompositions."""
    return n_rows / (n_rows + 0.03 * n_features**2)


class _Sums:
    """What a pass over the rows adds up: squares of all rows, and products of controls by fold."""

    def __init__(self, design: Design, units: bool) -> None:
        self.design, self.units, self.at = design, units, 0
        self.fold, self.n_folds = folds_of(design)
        self.shift: Any = None

    def add(self, block: np.ndarray) -> None:
        values = np.asarray(block, dtype=np.float64)
        if self.shift is None:
            self._begin(values)
        values = values - self.shift  # sums of squares far from zero would lose digits
        rows = slice(self.at, self.at + len(values))
        control, self.at = self.design.control[rows], self.at + len(values)
        self.total += values.sum(0)
        self.squares += np.einsum("ij,ij->j", values, values)
        self._add_controls(values[control], self.design.batch[rows][control], self.fold[rows][control])

    def _begin(self, values: np.ndarray) -> None:
        d = values.shape[1]
        if d > WIDEST:
            raise ValueError(
                f"`X` must have at most {WIDEST:,} columns where it has more rows than that, got {d:,}. Take "
                "principal components first, as in --obsm X_pca."
            )
        self.shift = values.mean(0)
        self.total, self.squares = np.zeros(d), np.zeros(d)
        self.counts = np.bincount(self.design.batch[self.design.control], minlength=len(self.design.names))
        self.batch_sums = np.zeros((len(self.design.names), d))
        self.fold_counts, self.fold_sums = np.zeros(self.n_folds), np.zeros((self.n_folds, d))
        self.products = np.zeros((self.n_folds, d, d))

    def _add_controls(self, values: np.ndarray, batch: np.ndarray, fold: np.ndarray) -> None:
        one_hot = csr_array(
            (np.ones(len(batch)), (batch, np.arange(len(batch)))), (len(self.counts), len(batch))
        )
        self.batch_sums += one_hot @ values
        for k in np.unique(fold):
            part = values[fold == k]
            self.fold_counts[k] += len(part)
            self.fold_sums[k] += part.sum(0)
            self.products[k] += part.T @ part

    @property
    def scale(self) -> np.ndarray:
        """The standard deviation of each column over all rows, 1 for a constant one."""
        if not self.units:
            return np.ones_like(self.total)
        variance = self.squares / self.at - (self.total / self.at) ** 2
        return np.sqrt(np.where(variance > 0, variance, 1.0))


def folds_of(design: Design) -> tuple[np.ndarray, int]:
    """Deal whole batches into at most ten folds: the coarsest ones, where there are enough of them."""
    groups = design.outer if len(design.outer_names) >= N_FOLDS else design.batch
    kinds, which = np.unique(groups, return_inverse=True)
    n_folds = min(N_FOLDS, len(kinds))
    return which % n_folds, n_folds


def _adjustment(sums: _Sums, tell: Callable[[float], None]) -> Adjustment:
    scale, whole = sums.scale, sums.products.sum(0)
    held = _held_out_variances(sums, whole, scale, tell)
    covariance, _ = _moments(whole, sums.fold_sums.sum(0), sums.fold_counts.sum(), scale)
    values, directions = np.linalg.eigh(covariance)
    floor = _FLOOR * max(float(held.mean()), np.finfo(float).tiny)
    variances = np.maximum(held, floor)
    sphering = (directions / np.sqrt(variances)) @ directions.T
    offsets = sums.batch_sums / np.maximum(sums.counts, 1)[:, None] + sums.shift
    return Adjustment(offsets, sphering / scale[:, None], variances, np.maximum(values, 0))


def _moments(
    products: np.ndarray, total: np.ndarray, n: float, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return covariance, in units of the columns, and mean."""
    mean = total / n
    covariance = (products - n * np.outer(mean, mean)) / max(n - 1, 1)
    return covariance / np.outer(scale, scale), mean


def _held_out_variances(
    sums: _Sums, whole: np.ndarray, scale: np.ndarray, tell: Callable[[float], None]
) -> np.ndarray:
    """Return the variance of controls along each principal direction of the controls of other batches."""
    added, total, count = np.zeros(len(scale)), sums.fold_sums.sum(0), sums.fold_counts.sum()
    read = _reading(len(sums.design), len(scale))
    folds = zip(sums.products, sums.fold_sums, sums.fold_counts, strict=True)
    for k, (products, own, n) in enumerate(folds):
        tell(read + (1 - read) * k / sums.n_folds)
        covariance, mean = _moments(whole - products, total - own, count - n, scale)
        directions = np.linalg.eigh(covariance)[1]
        about = products - np.outer(own, mean) - np.outer(mean, own) + n * np.outer(mean, mean)
        about /= np.outer(scale, scale)
        added += np.einsum("ij,ij->j", directions, about @ directions)
    # the order of directions is that of their variance: what breaks it is chance
    return isotonic_regression(added / count)
