"""The sparsest invertible affine image of a code, as a transformer."""

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from unmix._group import current, numbers_from, together
from unmix._threads import threads
from unmix._waiting import waiting
from unmix.solvers.sparse_rows import SparseRows, Spikes, fit_spikes, flags, lagrangian_rows, sparsest_rows
from unmix.training import device

from ._kept import Kept
from ._number import found_number, is_auto
from ._tables import (
    REMEMBERED,
    check_table,
    checked_codes,
    forget,
    linear_loadings,
    plain,
    rank_of,
    validated,
)

SPIKE = 2.0  # contrast that no smooth density of the usual kinds reaches
SOLVERS = ("descent", "ransac", "subspaces", "lagrangian")


class SparseBasis(Kept, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Recover sparse variables from an invertible affine image of them, up to order, sign and scale.

    Given samples y = A z + a, where each z_i sits at one value of its own for a good share of the samples,
    find the affine map after which as many entries as possible are zero. Each row of the map is a hyperplane
    that holds many samples; latents need be neither independent nor centred at their sparse value. Rows are
    searched from many starts at once on white codes, and the best independent ones kept.

    Parameters
    ----------
    n_components : int or "auto", optional
        Number of sparse variables, by default one for each direction that varies. With fewer, the leading
        principal components of the data are used. "auto" looks for where the latents of the table end, see
        `unmix.choose`.
    solver : {"descent", "ransac", "subspaces", "lagrangian"}
        "descent": all kinds of starts, a smooth cost that tends to counting. "ransac": hyperplanes through
        random samples, up to about twenty variables. "subspaces": supports of mixture components found
        among neighbours, and their intersections. "lagrangian": the constrained problem of the paper with
        deep linear networks; slow, for comparison.
    n_starts : int, optional
        Starts of each kind in each round, by default two for each component and at least 30.
    max_samples : int, default=6144
        Samples to search on, drawn at random, or 60 for each component if that is more; all are used to
        describe the result.
    max_iter : int, default=20_000
        Steps of the "lagrangian" solver.
    epsilon : float, default=0.01
        Bound of the "lagrangian" solver on the mean absolute code.
    device : str, default="auto"
    verbose : bool, default=False
        Whether to show how far the fit is.
    random_state : int, RandomState or None

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Rows of the map, the sparsest first.
    intercept_ : array of shape (n_components,)
        Their offsets: entries of `transform` are 0 where a variable is inactive, and have variance 1.
    mixing_ : array of shape (n_features, n_components)
        Estimate of A, up to order, sign and scale.
    loadings_ : array of shape (n_features, n_components)
        The same in standard deviations of features and variables.
    centre_ : array of shape (n_features,)
        The point at which all variables are inactive.
    spike_mass_, spike_width_ : arrays of shape (n_components,)
        Share of samples at which each variable is inactive, and the spread of its values there.
    contrast_ : array of shape (n_components,)
        How much denser the values are at zero than beside it; about 1.3 for a normal variable.
    found_ : bool array of shape (n_components,)
        Rows with a spike that stands out. The other rows only complete the basis.
    n_found_ : int
    smallest_singular_value_ : float
        Of the rows on white codes: 1 if they are orthogonal, near 0 if they hardly are independent.
    flags_ : tuple of str
        What is wrong with the result, in words; empty if nothing is. Also given as a ConvergenceWarning.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(2000, 3)) * (rng.random((2000, 3)) < 0.5)
    >>> y = z @ rng.normal(size=(3, 3)) + 5.0
    >>> basis = SparseBasis(random_state=0).fit(y)
    >>> correlations = np.abs(np.corrcoef(z.T, basis.transform(y).T)[:3, 3:])
    >>> bool(np.allclose(correlations.max(1), 1)), basis.n_found_, basis.flags_
    (True, 3, ())
    >>> [round(share, 1) for share in basis.spike_mass_.tolist()]
    [0.5, 0.5, 0.5]

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Theorem 3.9 and Eq. (6), arXiv:2604.13218; complete dictionary
    learning: Sun, Qu and Wright (2017), arXiv:1511.03607.
    """

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        solver: str = "descent",
        n_starts: int | None = None,
        max_samples: int = 6144,
        max_iter: int = 20_000,
        epsilon: float = 0.01,
        device: str = "auto",
        verbose: bool = False,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.solver = solver
        self.n_starts = n_starts
        self.max_samples = max_samples
        self.max_iter = max_iter
        self.epsilon = epsilon
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    @together()
    @threads(1)
    def fit(self, X: Any, y: Any = None) -> "SparseBasis":
        """Find the basis.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._check_settings()
        values = validate_data(self, plain(X), dtype=[np.float64, np.float32], ensure_min_samples=2)
        forget(self, *REMEMBERED)
        values = np.ascontiguousarray(values, dtype=np.float64)
        n = self._number(values)
        check_table(values, n)
        self.mean_ = values.mean(0)
        whitening, dewhitening = _white_maps(values, n)
        white = torch.as_tensor((values - self.mean_) @ whitening)
        found = self._solve(white)
        self._remember(found, whitening, dewhitening)
        self.loadings_ = linear_loadings(self.components_, self.mixing_, np.cov(values, rowvar=False))
        self._describe(found, white @ found.rows.T + found.offsets, len(np.unique(values, axis=0)))
        if self.flags_:
            warnings.warn(" ".join(self.flags_), ConvergenceWarning, stacklevel=2)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the sparse variables of each sample, shape (n_samples, n_components)."""
        check_is_fitted(self)
        values = validated(self, X)
        return (values @ self.components_.T + self.intercept_).astype(values.dtype, copy=False)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the samples that sparse variables stand for, shape (n_samples, n_features)."""
        check_is_fitted(self)
        codes = checked_codes(X, len(self.components_))
        return (codes @ self.mixing_.T + self.centre_).astype(codes.dtype, copy=False)

    def activity(self, X: Any) -> np.ndarray:
        """Return which variables are active in each sample, bool of shape (n_samples, n_components)."""
        check_is_fitted(self)
        z = torch.as_tensor(self.transform(X), dtype=torch.float64)
        return self._spikes.active(z).numpy()

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of inactive entries; the higher, the sparser."""
        return float(1 - self.activity(X).mean())

    @property
    def n_components_(self) -> int:
        """The number of sparse variables: as asked for, or as found."""
        return len(self.components_)

    def _number(self, values: np.ndarray) -> int:
        if self.n_components is None:
            return rank_of(values)
        return found_number(values) if is_auto(self.n_components) else int(self.n_components)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    @property
    def _spikes(self) -> Spikes:
        fields = (self.spike_mass_, self.spike_width_, self.slab_mean_, self.slab_spread_, self.contrast_)
        return Spikes(*(torch.as_tensor(field) for field in fields))

    def _solve(self, white: Tensor) -> SparseRows:
        """Search on a random part of the samples, with one generator for everything."""
        drawn = check_random_state(self.random_state).randint(2**31 - 1)
        seed = int(numbers_from(0, [drawn])[0])
        generator = torch.Generator().manual_seed(seed)
        n_kept = max(self.max_samples, 60 * white.shape[1])
        part = (
            white[torch.randperm(len(white), generator=generator)[:n_kept]] if n_kept < len(white) else white
        )
        part = part.to(device(self.device))
        if self.solver == "lagrangian":
            return lagrangian_rows(
                part,
                generator,
                max_iter=self.max_iter,
                epsilon=self.epsilon,
                progress=bool(self.verbose) and current().first,
            ).cpu()
        with waiting(
            bool(self.verbose) and current().first, "SparseBasis", plan="rounds of starts, 8 at most"
        ) as show:
            found = sparsest_rows(
                part,
                generator,
                solver=self.solver,
                n_starts=self.n_starts,
                on_round=lambda share: show(share, "looking for sparse rows"),
            )
        return found.cpu()

    def _remember(self, found: SparseRows, whitening: np.ndarray, dewhitening: np.ndarray) -> None:
        rows, offsets = found.rows.numpy(), found.offsets.numpy()
        self.components_ = rows @ whitening.T
        self.intercept_ = offsets - self.components_ @ self.mean_
        self.mixing_ = dewhitening @ np.linalg.pinv(rows)
        self.centre_ = self.mean_ - self.mixing_ @ offsets
        self.smallest_singular_value_ = found.smallest_singular_value
        self.n_iter_ = found.n_rounds

    def _describe(self, found: SparseRows, z: Tensor, n_distinct: int) -> None:
        spikes = fit_spikes(z)
        self.spike_mass_, self.spike_width_ = spikes.mass.numpy(), spikes.width.numpy()
        self.slab_mean_, self.slab_spread_ = spikes.mean.numpy(), spikes.spread.numpy()
        self.contrast_ = spikes.contrast.numpy()
        self.found_ = found.searched.numpy() & (self.contrast_ > SPIKE)
        self.n_found_ = int(self.found_.sum())
        active = spikes.active(z).numpy()
        self.flags_ = flags(self.found_, active, n_distinct, self.smallest_singular_value_)

    def _check_settings(self) -> None:
        for name in ("n_components", "n_starts", "max_samples", "max_iter"):
            value = getattr(self, name)
            if (value is None and name in ("n_components", "n_starts")) or is_auto(value):
                continue
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(f"`{name}` must be an integer of at least 1, got {value!r}.")
        if not isinstance(self.epsilon, Real) or isinstance(self.epsilon, bool) or not self.epsilon > 0:
            raise ValueError(f"`epsilon` must be a positive number, got {self.epsilon!r}.")
        if self.solver not in SOLVERS:
            raise ValueError(f"`solver` must be one of {SOLVERS}, got {self.solver!r}. Choose one of these.")
        device(self.device)


def _white_maps(values: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the map to the n leading principal components of standardised data, of variance 1, and back."""
    scale = values.std(0)
    spread, directions = np.linalg.eigh(np.corrcoef(values, rowvar=False).reshape(len(scale), -1))
    root, directions = np.sqrt(spread[-n:]), directions[:, -n:]
    return directions / scale[:, None] / root, directions * scale[:, None] * root
