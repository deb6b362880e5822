"""Independent component analysis for tables of any length."""

import os
import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from unmix._group import ALONE, current, tensors_from, together, within
from unmix._threads import threads, worth
from unmix._waiting import Show, waiting
from unmix.rows import DaskRows, Rows, array_rows, dask_rows, file_rows, is_dask
from unmix.solvers.ica import (
    CONTRASTS,
    RTOL,
    Goal,
    Shape,
    Solution,
    Spread,
    White,
    Whitening,
    block_rows,
    fixed_point,
    labeller,
    polar,
    quasi_newton,
    spread_of,
    stability,
    white_rows,
    whitening_of,
)
from unmix.training import device

from ._ica_passes import Told, nearness, parts, passes_end, told
from ._kept import Kept
from ._number import found_number, is_auto
from ._span import extreme_units, in_units, span_of
from ._streams import check_columns, finite_blocks, remember_columns
from ._tables import REMEMBERED, checked_codes, forget, linear_loadings, listed, plain, validated

_ROUNDING = 1e-11  # share of a variance that single precision leaves of a column that others determine
_FEW = 200  # rows: on fewer, tails of a Laplace are seldom told from Gaussian ones
_WIDE = 2000  # columns from which on a covariance is not formed where rows are fewer
_SOLVERS = {"parallel": fixed_point, "newton": quasi_newton}
_CHOICES = {
    "fun": tuple(CONTRASTS),
    "algorithm": ("auto", *_SOLVERS),
    "scale": ("unit", "mixing"),
    "precision": ("float32", "float64"),
}


def _threads_worth(rows: Rows | DaskRows) -> int:
    """Return how many threads a pass over the rows keeps busy; other machines have their own."""
    return worth(rows.n_rows * rows.n_features**2 / 4) if isinstance(rows, Rows) else 1


def _own(rows: Rows | DaskRows) -> Any:
    """Return the rows of this process."""
    return rows.part(current().rank, current().size) if isinstance(rows, Rows) else rows


class Found(NamedTuple):
    """The best rotation of several starts, and those of all starts on the rows they were run on."""

    solution: Solution
    rotations: list[Tensor]
    few: White


@final
class FastICA(Kept, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Linear independent component analysis, in passes over blocks of rows.

    The components maximise non-Gaussianity over rotations of the whitened data. Each pass adds up the same
    sums over blocks of rows, so that an array, a memory-mapped file and the workers of a cluster give the
    same answer, and memory is bounded by a block.

    Parameters
    ----------
    n_components : int or "auto", optional
        Number of components; by default as many as the data have directions that vary. Of fewer, the widest
        in the units of X are kept. "auto" looks for where the latents of the table end, see `unmix.choose`;
        without whitening it changes nothing.
    fun : {"logcosh", "exp", "cube"}
        The contrast. "cube" is kurtosis, which outliers dominate.
    algorithm : {"auto", "parallel", "newton"}
        "parallel" is the fixed point iteration of FastICA; "newton" a quasi-Newton method over rotations,
        which needs fewer passes where components are hard to tell apart. "auto" takes "newton", and
        "parallel" without whitening.
    whiten : bool
        True drops directions of negligible variance (see `rtol`) and whitens the others. False turns the
        centred data as they are, all dimensions kept; then results depend on the scale of the data, and a
        warning says so where it is far from 1.
    scale : {"unit", "mixing"}
        Variance 1 for each component, or each component multiplied by the norm of its column of `mixing_`, so
        that its range says how much of X it carries. Without whitening components keep the scale of X.
    rtol : float, optional
        Share of the largest variance below which a direction counts as none, in the units of X: 1e-3, say,
        for codes of an autoencoder with inactive latents. By default units do not matter: a direction is none
        where it has less than 1e-6 of the largest variance in units of the columns' own spread, too, and a
        warning names what is dropped beyond rounding.
    tol : float
        Largest entry of the gradient at which to stop.
    max_iter : int
        Passes over the data, at most.
    n_restarts : int
        Random starts. With two or more, `stability_` says how well each component is found again.
    w_init : array of shape (n_components, n_components), optional
        The first start.
    chunk_size : int, optional
        Rows in a block; by default as many as suit the device.
    precision : {"float32", "float64"}
        Of the products of rows. Sums over blocks, the covariance and rotations are always double. Single
        precision is about twice as fast and reaches gradients of 1e-6; ask for double with a smaller `tol`.
    device : {"auto", "cpu", "cuda"}
    verbose : bool
        Whether to show how far the fit is.
    random_state : int, RandomState or None

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        What centred data are multiplied by; ordered by non-Gaussianity, and up is where the longer tail is
        (for symmetric components, where the largest loading is positive).
    mixing_ : array of shape (n_features, n_components)
    loadings_ : array of shape (n_features, n_components)
        The same in standard deviations of features and components.
    mean_ : array of shape (n_features,)
    whitening_ : array of shape (n_components, n_features) or None
    rank_ : int
        Directions that vary.
    dropped_ : array of int, shape (n_features - rank_,)
        Columns that the others determine, one for each direction that does not vary.
    nongaussianity_ : array of shape (n_components,)
        a = E[g'(y)] - E[g(y) y]; zero for a Gaussian component, above zero for heavy tails (log cosh).
    gaussian_ : array of bool
        Components that can't be told from Gaussian ones. Those among themselves are arbitrary.
    reliability_ : array of shape (n_components,) or None
        Expected correlation with an independent component: what the asymptotic theory gives, which takes
        independence for granted, times 1 less the largest dependence on another component that is left; at
        most `stability_`, if there are restarts. 0 for Gaussian ones among themselves and for spherical laws,
        which look alike after any rotation; None without whitening. It is no verdict: see `unmix.trust`.
    curvature_ : array of shape (n_components, n_components) or None
        Of the contrast in the plane of each pair; near 0 where both are Gaussian.
    gamma_ : float or None
        The smallest of them over pairs.
    stability_ : array of shape (n_components,) or None
        Mean absolute correlation with the best match in each other restart.
    converged_ : array of bool
        Components without a gradient above `tol`, pairs of Gaussian ones left aside.
    gradients_ : tuple of float
        Largest entry of the gradient at each pass over all rows.
    n_samples_seen_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    `X` may also be the path of an NPY or Parquet file, or a Dask array or data frame, whose blocks are then
    summed where they are. Large data are first solved on a sample of about 4 d^2 rows, then on all rows. Of a
    file of which white rows take no more than 256 MB these are kept, so that it is read twice only.

    References
    ----------
    Hyvärinen (1999), Fast and robust fixed-point algorithms for independent component analysis.
    Ablin, Cardoso, Gramfort (2018), Faster ICA under orthogonal constraint, arXiv:1711.10873.
    Tichavský, Koldovský, Oja (2006), Performance analysis of the FastICA algorithm and Cramér-Rao bounds.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sources = np.column_stack([rng.laplace(size=2000), rng.uniform(size=2000), rng.normal(size=2000)])
    >>> model = FastICA(random_state=0).fit(sources @ rng.normal(size=(3, 3)))
    >>> model.gaussian_
    array([False, False,  True])
    >>> model.reliability_.round(3)
    array([0.999, 0.999, 0.998])
    """

    takes: ClassVar[tuple[str, ...]] = ("tables", "rows")

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        fun: str = "logcosh",
        algorithm: str = "auto",
        whiten: bool = True,
        scale: str = "unit",
        rtol: float | None = None,
        tol: float = 1e-6,
        max_iter: int = 200,
        n_restarts: int = 1,
        w_init: Any = None,
        chunk_size: int | None = None,
        precision: str = "float32",
        device: str = "auto",
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.fun = fun
        self.algorithm = algorithm
        self.whiten = whiten
        self.scale = scale
        self.rtol = rtol
        self.tol = tol
        self.max_iter = max_iter
        self.n_restarts = n_restarts
        self.w_init = w_init
        self.chunk_size = chunk_size
        self.precision = precision
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    @together()
    def fit(self, X: Any, y: Any = None) -> "FastICA":
        """Find the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, or Dask array or data frame
            A path names an NPY or a Parquet file. Files, memory-mapped arrays and Dask collections are read
            block by block, once per pass.
        y : ignored

        Returns
        -------
        self
        """
        self._check_settings()
        place = device(self.device)
        with threads(1):
            rows = self._rows(X, place)
        seen = bool(self.verbose) and current().first
        with (
            within(current() if isinstance(rows, Rows) else ALONE),  # a cluster shares rows out by itself
            threads(_threads_worth(rows)) as n,
            waiting(seen, "FastICA", plan="two passes over the rows, then rotations") as show,
        ):
            if n > 1 and isinstance(rows, Rows):
                rows = rows._replace(block=block_rows(rows.n_features, place, self.chunk_size))
            return self._fit_rows(X, rows, place, show)

    def _fit_rows(self, X: Any, rows: Rows | DaskRows, place: torch.device, show: Show) -> "FastICA":
        wide = isinstance(rows, Rows) and rows.resident and rows.n_rows < rows.n_features > _WIDE
        unit = extreme_units(rows)
        if unit is not None:
            return self._fit_scaled(X, rows, unit, place, show)
        if self.whiten and wide:
            return self._fit_span(rows)
        rows = _own(rows)
        first, second = passes_end(rows, self.n_components)
        spread = spread_of(told(rows, lambda share: show(first * share, "covariance")), place)
        whitening = whitening_of(spread, self._number(X) if self.whiten else None, self.rtol)
        to = whitening.to if self.whiten else None
        rows = told(rows, lambda share: show(first + (second - first) * share, "white rows"))
        white = white_rows(rows, spread, to, getattr(torch, self.precision), place)
        if not self.whiten:
            _warn_of_scale(spread, whitening.rank)
        n = len(whitening.to) if self.whiten else self.n_features_in_
        found = self._search(white, n, partial(parts, second, show))
        self._remember(found, spread, whitening)
        if self.whiten and self.n_components is None and self.rtol is None:
            _warn_of_dropped(spread, whitening, rows.names)
        self._warn_unless_converged()
        self._warn_if_gaussian()
        return self

    def _fit_scaled(self, X: Any, rows: Any, unit: np.ndarray, place: torch.device, show: Show) -> "FastICA":
        """Fit in units in which squares neither overflow nor vanish, powers of two, which change no digit."""
        take = rows.take
        scaled = rows._replace(take=lambda start, stop: in_units(take(start, stop), unit))
        fitted: Any = self._fit_rows(X, scaled, place, show)
        fitted.components_, fitted.mixing_ = fitted.components_ * unit, fitted.mixing_ / unit[:, None]
        fitted.mean_ = fitted.mean_ / unit
        fitted.whitening_ = None if fitted.whitening_ is None else fitted.whitening_ * unit
        return self

    def _fit_span(self, rows: Any) -> "FastICA":
        """Fit where rows are few and columns many: within the span of the rows, so that nothing is d x d."""
        values = check_array(rows.take(0, rows.n_rows).cpu().numpy(), dtype=np.float64, input_name="X")
        mean = values.mean(0)
        span = span_of(values - mean, self.n_components, self.rtol)
        within = clone(self).set_params(rtol=RTOL if self.rtol is None else self.rtol).fit(span.rows)
        for name in (name for name in vars(within) if name.endswith("_") and name != "n_features_in_"):
            setattr(self, name, vars(within)[name])
        self.components_ = within.components_ @ span.axes / span.unit
        self.mixing_ = (span.axes * span.unit).T @ within.mixing_
        self.whitening_, self.mean_ = within.whitening_ @ span.axes / span.unit, mean
        self.dropped_ = np.empty(0, dtype=np.int64)  # rows are what is few, no column is to blame
        codes, spread = ((values - mean) @ self.components_.T).std(0), values.std(0)
        self.loadings_ = self.mixing_ * codes / np.where(spread > 0, spread, 1.0)[:, None]
        return self

    def transform(self, X: Any) -> Any:
        """Return the components of each sample, shape (n_samples, n_components).

        Of a path the whole result is an array; of a Dask array it is a Dask array, not yet computed.
        """
        check_is_fitted(self)
        if is_dask(X):
            return dask_rows(X).mapped(self._project, len(self.components_))
        if isinstance(X, str | os.PathLike | Rows):
            rows = self._rows(X, None)
            assert isinstance(rows, Rows)
            return np.concatenate([self._project(block) for block in finite_blocks(rows)])
        return self._project(validated(self, X))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the observations that components stand for, shape (n_samples, n_features)."""
        check_is_fitted(self)
        codes = checked_codes(X, len(self.components_))
        return (codes @ self.mixing_.T + self.mean_).astype(codes.dtype, copy=False)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variance of X about the fitted mean that the components keep."""
        check_is_fitted(self)
        values = validated(self, X)
        left = values - self.inverse_transform(self.transform(values))
        total = values - self.mean_
        most = -np.frexp(np.abs(total).max())[1]  # squares stay in range, and no digit changes
        return float(1 - np.square(np.ldexp(left, most)).sum() / np.square(np.ldexp(total, most)).sum())

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    @property
    def n_components_(self) -> int:
        """The number of components: as asked for, or as found."""
        return len(self.components_)

    def _number(self, X: Any) -> int | None:
        return found_number(X) if is_auto(self.n_components) else self.n_components  # type: ignore[return-value]

    def _rows(self, X: Any, place: torch.device | None) -> Rows | DaskRows:
        """Open the data, and check what can be checked before they are read."""

        def block(n_features: int) -> int:
            return block_rows(n_features, place or torch.device("cpu"), self.chunk_size)

        if is_dask(X):
            rows: Rows | DaskRows = dask_rows(X)
        elif isinstance(X, str | os.PathLike):
            rows = file_rows(X, block)
        elif isinstance(X, Rows):
            rows = X
        elif isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind == "f":
            rows = array_rows(X, block(X.shape[1]))
        else:
            # whether all is finite shows in the first pass, at no cost
            checks: dict[str, Any] = {"ensure_min_samples": 2, "ensure_all_finite": False}
            values = validate_data(self, plain(X), dtype=[np.float64, np.float32], **checks)
            forget(self, *REMEMBERED)
            held = torch.from_numpy(np.require(values, requirements=["C", "W"])).to(place or "cpu")
            return array_rows(held, block(values.shape[1]))
        (remember_columns if place is not None else check_columns)(self, rows)
        return rows

    def _search(self, white: White, n: int, parts: Callable[[int], list[Told]]) -> Found:
        """Solve each start on a sample, where that saves time, and the best of them on all rows."""
        few = white.sample(n)
        sampled = few is not white
        # on a sample it is enough to be as near as the sample can tell
        tol = max(self.tol, 0.03 / few.n_samples**0.5) if sampled else self.tol
        starts = self._starts(n, few)
        shown = parts(len(starts) + sampled)
        tries = [self._solve(few, start, tol, part) for start, part in zip(starts, shown, strict=False)]
        if len(tries) > 1:
            tries.sort(key=lambda found: -few.shape(found.point.rotation, self.fun).objective)
        best = self._solve(white, tries[0].point.rotation, self.tol, shown[-1]) if sampled else tries[0]
        return Found(best, [found.point.rotation for found in tries], few)

    def _solve(self, white: White, start: Tensor, tol: float, told: Told) -> Solution:
        name = "newton" if self.algorithm == "auto" and self.whiten else self.algorithm
        solver = _SOLVERS["parallel" if name == "auto" else name]
        goal = Goal(tol, labeller(self.fun, white.n_samples))
        evaluate = white.moments(self.fun)

        def passed(rotation: Tensor) -> Any:
            told(nearness(goal, self.max_iter))
            return evaluate(rotation)

        return solver(passed, start, goal, max_iter=self.max_iter)

    def _starts(self, n: int, white: White) -> list[Tensor]:
        rng = check_random_state(self.random_state)
        drawn = [rng.normal(size=(n, n)) for _ in range(self.n_restarts)]
        if self.w_init is not None:
            drawn[0] = np.asarray(self.w_init, dtype=np.float64)
            if drawn[0].shape != (n, n) or not np.isfinite(drawn[0]).all():
                raise ValueError(f"`w_init` must be a finite array of shape {(n, n)}, got {drawn[0].shape}.")
        starts = [polar(torch.from_numpy(matrix).to(white.prepare.place)) for matrix in drawn]
        tensors_from(0, *starts)
        return starts

    def _remember(self, found: Found, spread: Spread, whitening: Whitening) -> None:
        """Bring the components in order, turn them the right way up, and keep what is known of them."""
        solution, rotation = found.solution, found.solution.point.rotation.cpu().numpy()
        white = self.whiten
        components, mixing = (
            (rotation @ whitening.to, whitening.back @ rotation.T) if white else (rotation, rotation.T)
        )
        shape = self._shape(found, spread)
        order = np.argsort(-np.abs(shape.excess), kind="stable")
        factor = _which_way_up(shape, mixing)
        if self.scale == "mixing":
            factor = factor * np.linalg.norm(mixing, axis=0)
        self.components_, self.mixing_ = (components * factor[:, None])[order], (mixing / factor)[:, order]
        self.mean_, self.n_samples_seen_, self.rank_ = spread.mean, spread.n_samples, whitening.rank
        self.dropped_ = whitening.dropped
        self.whitening_ = whitening.to if white else None
        self.loadings_ = linear_loadings(self.components_, self.mixing_, spread.covariance)
        self.nongaussianity_, self.gaussian_ = shape.excess[order], shape.gaussian[order]
        self.stability_ = stability(found.rotations)[order] if len(found.rotations) > 1 else None
        self._remember_planes(shape, order)
        self.converged_ = solution.settled.cpu().numpy()[order]
        self.gradients_, self.n_iter_ = solution.gradients, len(solution.gradients)

    def _shape(self, found: Found, spread: Spread) -> Shape:
        """Look at the components on the sample; their non-Gaussianity is known from all rows already."""
        point = found.solution.point
        if self.whiten:
            shape = found.few.shape(point.rotation, self.fun, spread.n_samples)
            return shape._replace(excess=point.excess.cpu().numpy())
        covariance = torch.from_numpy(spread.covariance).to(point.rotation)
        size = ((point.rotation @ covariance) * point.rotation).sum(1).clamp_min(1e-300).sqrt()
        return found.few.shape(point.rotation / size[:, None], self.fun, spread.n_samples)

    def _remember_planes(self, shape: Shape, order: np.ndarray) -> None:
        most = 1.0 if self.stability_ is None else self.stability_
        self.reliability_ = np.minimum(shape.reliability[order], most) if self.whiten else None
        self.curvature_ = shape.curvature[np.ix_(order, order)] if self.whiten else None
        pairs = ~np.eye(len(order), dtype=bool)
        self.gamma_ = float(shape.curvature[pairs].min()) if self.whiten and len(order) > 1 else None

    def _warn_unless_converged(self) -> None:
        if not self.converged_.all():
            warnings.warn(
                f"{int((~self.converged_).sum())} of {len(self.converged_)} components did not settle in "
                f"max_iter={self.max_iter} passes (gradient {self.gradients_[-1]:.1e}, tol={self.tol:g}). "
                "Raise `max_iter` or `tol`.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _warn_if_gaussian(self) -> None:
        if len(self.gaussian_) > 1 and self.gaussian_.all() and self.n_samples_seen_ >= _FEW:
            warnings.warn(
                f"none of the {len(self.gaussian_)} components can be told from a Gaussian one on "
                f"{self.n_samples_seen_} rows: any rotation fits as well. Do not read them one by one.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _project(self, values: np.ndarray) -> np.ndarray:
        kept = values.dtype if values.dtype in (np.float32, np.float64) else np.float64
        return ((values - self.mean_) @ self.components_.T).astype(kept, copy=False)

    def _check_settings(self) -> None:
        for name in ("n_components", "max_iter", "n_restarts", "chunk_size"):
            value = getattr(self, name)
            free = value is None and name in ("n_components", "chunk_size")
            free = free or (name == "n_components" and is_auto(value))
            if not free and (not isinstance(value, Integral) or isinstance(value, bool) or value < 1):
                raise ValueError(f"`{name}` must be an integer of at least 1, got {value!r}.")
        for name in ("tol", "rtol"):
            value = getattr(self, name)
            if name == "rtol" and value is None:
                continue
            if not isinstance(value, Real) or not 0 < float(value) < 1:
                raise ValueError(f"`{name}` must be a number above 0 and below 1, got {value!r}.")
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(
                    f"`{name}` must be one of {', '.join(choices)}, got {getattr(self, name)!r}."
                )
        if not isinstance(self.whiten, bool | np.bool_):
            raise ValueError(f"`whiten` must be True or False, got {self.whiten!r}.")
        if not self.whiten and self.algorithm == "newton":
            raise ValueError('`algorithm` must be "parallel" without whitening, got "newton". Use "auto".')


def _which_way_up(shape: Shape, mixing: np.ndarray) -> np.ndarray:
    """Return signs that give each component its longer tail above, or its largest loading if it has none."""
    largest = mixing[np.abs(mixing).argmax(0), np.arange(mixing.shape[1])]
    skewed = np.abs(shape.skewness) > 3 * shape.skewness_error
    return np.where(np.where(skewed, shape.skewness, largest) < 0, -1.0, 1.0)


def _warn_of_dropped(spread: Spread, whitening: Whitening, names: Any) -> None:
    """Name the columns that others nearly determine, where more than rounding is left of them."""
    lost = [
        j for j in whitening.dropped.tolist() if _left(spread.covariance, j, whitening.dropped) > _ROUNDING
    ]
    if lost:
        shown = listed([names[j] for j in lost] if names else lost)
        warnings.warn(
            f"{len(lost)} directions were dropped: they have less than {RTOL:g} of the largest variance. The "
            f"other columns nearly determine {shown}. Pass a smaller `rtol` to keep them.",
            UserWarning,
            stacklevel=4,
        )


def _left(covariance: np.ndarray, column: int, dropped: np.ndarray) -> float:
    """Return the share of the variance of a column that a line in the columns that were kept leaves."""
    kept = np.setdiff1d(np.arange(len(covariance)), dropped)
    own, among = covariance[kept, column], covariance[np.ix_(kept, kept)]
    size = np.sqrt(np.diag(among))
    told = own / size
    weights = np.linalg.lstsq(among / np.outer(size, size), told, rcond=None)[0]
    variance = covariance[column, column]
    return float(1 - told @ weights / variance) if variance > 0 else 0.0


def _warn_of_scale(spread: Spread, rank: int) -> None:
    scale = float(np.trace(spread.covariance)) / rank
    if not 0.5 <= scale <= 2:
        warnings.warn(
            f"`X` has a mean variance of {scale:.3g} in the directions that vary. Without whitening FastICA "
            "finds independent components only when it is near 1: scale X, or use whiten=True.",
            UserWarning,
            stacklevel=3,
        )
