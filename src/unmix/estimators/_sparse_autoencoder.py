"""Sparse autoencoders: an overcomplete dictionary, of which each sample uses a few features."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import numpy as np
import torch
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unmix._group import together
from unmix._threads import threads
from unmix.objectives import SparseCoder
from unmix.training import Stepper

from . import _dictionary
from ._fit_many import fit_many
from ._kept import Kept
from ._sae_arrays import arrays_of, check_sparse_settings, put_back, remember, seed_of
from ._sae_training import Scale, Source, built, place_of, player_of, recipe_of, source_of

_DESCRIBED = ("firing_", "max_activation_")


@final
class SparseAutoencoder(Kept, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A dictionary with more features than variables, and an encoder that finds the few in each sample.

    The code is z = act(E (x - b) + e) and the reconstruction D^T z + b, with rows of D of unit length. It
    minimises the share of the variance that is left over, plus 1/32 of what dead features leave of that
    (AuxK), plus a sparsity term where the activation does not fix the number of features by itself.

    Parameters
    ----------
    n_components : int
        Features in the dictionary; may exceed the number of variables.
    activation : {"topk", "batch_topk", "jumprelu", "relu"}
        Which features are active: the k largest of a row; the k n largest of a batch of n rows, replaced by a
        threshold once fitted; those above a trained threshold of their own, k of them as the goal; or all
        positive ones, kept few by an L1 term.
    k : int
        Active features of a row; not used by "relu".
    auxiliary : float
        Weight of the term in which dead features reconstruct the rest; 0 for none.
    dead_after : float, optional
        Rows without firing after which a feature is dead in training. By default 1,000 times the rows in
        which an average feature fires once, at most a tenth of the run.
    sparsity : float
        Weight of the sparsity term: (L0 / k - 1)^2 for "jumprelu", L1 for "relu".
    prefixes : sequence of int, optional
        Numbers of leading features that must reconstruct by themselves (Matryoshka): common features come
        first, and are not split up by larger dictionaries.
    max_iter : int
        Passes over the data.
    batch_size : int
    lr : float, optional
        Learning rate; by default 2e-4 / sqrt(n_components / 2^14).
    precision : {"auto", "float32", "bf16"}
        Of the products in training; "auto" takes bf16 on a GPU.
    device : {"auto", "cpu", "cuda"}
    checkpoint : path-like, optional
        Folder; a killed fit goes on from there.
    verbose : bool
    random_state : int, RandomState or None

    Attributes
    ----------
    dictionary_ : array of shape (n_components, n_features)
        Unit rows, which `inverse_transform` adds up.
    encoder_weight_ : array of shape (n_components, n_features)
    encoder_bias_ : array of shape (n_components,)
    bias_ : array of shape (n_features,)
        Subtracted before the encoder and added after the dictionary.
    threshold_ : float, array of shape (n_components,) or None
        Activations at or below it are zero ("batch_topk", "jumprelu").
    firing_ : array of shape (n_components,)
        Share of rows on which each feature fires, out of at most 1,048,576 rows.
    max_activation_ : array of shape (n_components,)
    n_tokens_seen_ : int
        Rows seen in training, each pass counted.
    history_, n_iter_, n_features_in_, feature_names_in_
        As for other estimators.

    Notes
    -----
    `X` may be the path of NPY, Parquet or safetensors files or of an activation store, larger than memory.
    Under `torchrun` or `srun` every process takes its part of each batch.

    References
    ----------
    Gao et al. (2024), Scaling and evaluating sparse autoencoders, arXiv:2406.04093; Bussmann, Leask and Nanda
    (2024), BatchTopK sparse autoencoders, arXiv:2412.06410; Rajamanoharan et al. (2024), Jumping ahead,
    arXiv:2407.14435; Bussmann et al. (2025), Matryoshka sparse autoencoders, arXiv:2503.17547.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> atoms = rng.normal(size=(6, 4))
    >>> X = (rng.random((500, 6)) < 0.2) * rng.random((500, 6)) @ atoms
    >>> model = SparseAutoencoder(8, k=2, max_iter=100, batch_size=100, lr=0.01, random_state=0).fit(X)
    >>> codes = model.transform(X)
    >>> codes.shape, codes.nnz <= 2 * len(X), model.score(X) > 0.7
    ((500, 8), True, True)
    """

    overcomplete: ClassVar[bool] = True

    def __init__(
        self,
        n_components: int = 4096,
        *,
        activation: str = "topk",
        k: int = 32,
        auxiliary: float = 1 / 32,
        dead_after: float | None = None,
        sparsity: float = 1.0,
        prefixes: Sequence[int] | None = None,
        max_iter: int = 30,
        batch_size: int = 4096,
        lr: float | None = None,
        precision: str = "auto",
        device: str = "auto",
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.activation = activation
        self.k = k
        self.auxiliary = auxiliary
        self.dead_after = dead_after
        self.sparsity = sparsity
        self.prefixes = prefixes
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.lr = lr
        self.precision = precision
        self.device = device
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "SparseAutoencoder":
        """Fit the dictionary.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Rows or ActivationStore
        y : ignored

        Returns
        -------
        self
        """
        fit_many([self], X)
        return self

    @together()
    @threads(1)
    def partial_fit(self, X: Any, y: Any = None) -> "SparseAutoencoder":
        """Go on with these rows, once through, at a constant rate; the first call sets the units.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Rows or ActivationStore
        y : ignored

        Returns
        -------
        self
        """
        check_sparse_settings(self)
        rows = _dictionary.opened(self, X, reset=not hasattr(self, "dictionary_"))
        running = vars(self).get("_running") or self._started(rows)
        batches = range(0, rows.n_rows, self.batch_size)
        for start in batches:
            block = _dictionary.checked(rows.take(start, min(start + self.batch_size, rows.n_rows)), start)
            running.step((running.source.scale(block).to(running.place),))
        seen = getattr(self, "n_tokens_seen_", 0)
        before = [np.zeros(1) if vars(self).get(name) is None else vars(self)[name] for name in _DESCRIBED]
        self._running = running
        self._remember(running.objective, running.source, seen + rows.n_rows)
        self.n_iter_ = getattr(self, "n_iter_", 0) + len(batches)
        _dictionary.describe(self, rows)
        fired, most = (vars(self)[name] for name in _DESCRIBED)
        self.firing_ = (before[0] * seen + fired * rows.n_rows) / (seen + rows.n_rows)
        self.max_activation_ = np.maximum(before[1], most)
        return self

    def transform(self, X: Any) -> sparse.csr_array:
        """Return the codes of each row as a compressed sparse matrix, shape (n_samples, n_components)."""
        check_is_fitted(self)
        return _dictionary.encoded(self, X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the rows that codes, sparse or dense, stand for, shape (n_samples, n_features)."""
        check_is_fitted(self)
        return _dictionary.decoded(self, X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variance of X, all columns together, that the model reconstructs."""
        check_is_fitted(self)
        return _dictionary.explained(self, X)

    @property
    def n_components_(self) -> int:
        """The number of features."""
        return self.n_components

    @property
    def _n_features_out(self) -> int:
        return len(self.dictionary_)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_running"}

    def _objective(self, source: Source, n_steps: int, seed: int) -> SparseCoder:
        """Build what is minimised, with the geometric median as its bias."""
        size = min(self.batch_size, source.rows.n_rows)
        recipe = recipe_of(self, source.rows.n_features, n_steps, size)
        made = built(lambda: SparseCoder(source.rows.n_features, self.n_components, recipe), seed)
        with torch.no_grad():
            made.bias.copy_(torch.from_numpy(source.median))
        return made.to(place_of(self))

    def _remember(self, coder: SparseCoder, source: Source, n_seen: int) -> None:
        """Keep the arrays in the units of the data."""
        remember(self, arrays_of(coder, source.scale), n_seen)

    def _started(self, rows: Any) -> "Running":
        """Begin to learn bit by bit, from what was fitted before where there is something."""
        n_steps = 10**9  # nobody knows how many will come
        source = source_of(rows)
        fitted = hasattr(self, "dictionary_")
        if fitted:
            source = source._replace(scale=Scale(self.mean_, self.scale_))
        objective = self._objective(source, n_steps, seed_of(self))
        if fitted:
            put_back(objective, self, source.scale)
        player = player_of(self, "", objective, n_steps, place_of(self))
        return Running(objective, source, Stepper([replace(player, schedule=_warm)]), place_of(self))


@dataclass
class Running:
    """What `partial_fit` keeps from call to call."""

    objective: SparseCoder
    source: Source
    step: Stepper
    place: torch.device


def _warm(step: int) -> float:
    return min(1.0, (step + 1) / 100)
