"""Sparse autoencoders before and behind a feed-forward block, with few features that move few features."""

from collections.abc import Iterator
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
import torch
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unmix._group import current, together
from unmix._threads import threads
from unmix._waiting import waiting
from unmix.nn import Feedforward, feature_jacobian
from unmix.objectives import SparseCoder, SparsePair, Units
from unmix.training import play

from . import _dictionary
from ._kept import Kept
from ._sae_arrays import arrays_of, check_sparse_settings, seed_of
from ._sae_training import (
    Scale,
    Source,
    built,
    geometric_median_of,
    place_of,
    player_of,
    recipe_of,
    run_of,
    source_of,
)
from ._settings import seed_of_run
from ._sparse_autoencoder import SparseAutoencoder

_LOOKED_AT = 2**16  # rows that tell mean and spread of the outputs
_ARRAYS = ("dictionary", "encoder_weight", "encoder_bias", "bias", "threshold", "mean", "scale")
_BLOCK = ("w_in", "w_out", "w_gate", "b_in", "b_out")


class FeatureJacobian(NamedTuple):
    """The derivative of output features by input features, where both are active.

    `values` has shape (n_samples, k, k), 0 where a feature is off; `output` and `input` name the features.
    """

    values: np.ndarray
    output: np.ndarray
    input: np.ndarray


@final
class JacobianSparseAutoencoder(Kept, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Two TopK dictionaries, of the inputs and the outputs of a feed-forward block, with a sparse derivative.

    It minimises both reconstruction errors and, for a part of each batch, (weight / k^2) sum |dz_y / dz_x|
    among active features, by the closed form J = E_y W_o (diag(a'(g) u) W_g + diag(a(g)) W_i) D_x of a gated
    block, or E_y W_o diag(a'(h)) W_i D_x of a plain one.

    Parameters
    ----------
    n_components : int
        Features of each dictionary.
    k : int
        Active features of a row.
    weight : float
        Of the derivative.
    n_jacobian : int
        Rows of each batch at which it is taken.
    auxiliary : float
        Weight of the term for dead features; 0, as published, for none.
    dead_after, max_iter, batch_size, lr, precision, device, checkpoint, verbose, random_state
        As for `SparseAutoencoder`.

    Attributes
    ----------
    dictionary_, encoder_weight_, encoder_bias_, bias_, threshold_, firing_, max_activation_
        Of the inputs, as for `SparseAutoencoder`.
    output_dictionary_, output_encoder_weight_, output_encoder_bias_, output_bias_, output_firing_, ...
        The same of the outputs.
    block_w_in_, block_w_out_, block_w_gate_, block_b_in_, block_b_out_, block_activation_
        The feed-forward block.
    n_tokens_seen_, history_, n_iter_, n_features_in_, feature_names_in_
        As for `SparseAutoencoder`.
    flags_ : tuple of str
        Says so where no block was given.

    References
    ----------
    Farnik et al. (2025), Jacobian sparse autoencoders: sparsify computations, not just activations,
    arXiv:2502.18147.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> block = Feedforward(rng.normal(size=(8, 4)), rng.normal(size=(4, 8)))
    >>> model = JacobianSparseAutoencoder(6, k=2, max_iter=3, batch_size=50, random_state=0)
    >>> model = model.fit(rng.laplace(size=(200, 4)), mlp=block)
    >>> model.feature_jacobian(rng.laplace(size=(3, 4))).values.shape
    (3, 2, 2)
    """

    overcomplete: ClassVar[bool] = True
    activation: ClassVar[str] = "topk"
    prefixes: ClassVar[None] = None
    sparsity: ClassVar[float] = 0.0

    def __init__(
        self,
        n_components: int = 4096,
        *,
        k: int = 32,
        weight: float = 1.0,
        n_jacobian: int = 256,
        auxiliary: float = 0.0,
        dead_after: float | None = None,
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
        self.k = k
        self.weight = weight
        self.n_jacobian = n_jacobian
        self.auxiliary = auxiliary
        self.dead_after = dead_after
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.lr = lr
        self.precision = precision
        self.device = device
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    @together()
    @threads(1)
    def fit(self, X: Any, y: Any = None, *, mlp: Feedforward | None = None) -> "JacobianSparseAutoencoder":
        """Fit both dictionaries.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Rows or ActivationStore
            What the block reads: activations behind the norm before it.
        y : ignored
            Outputs are computed.
        mlp : Feedforward, optional
            The block; `Feedforward.of` takes it from a model. By default the identity: two dictionaries of
            the same activations.

        Returns
        -------
        self
        """
        self._check()
        rows = _dictionary.opened(self, X, reset=True)
        _dictionary.check_enough(rows)
        block, source, place = self._block(mlp, rows.n_features), source_of(rows), place_of(self)
        size = min(self.batch_size, rows.n_rows)
        n_steps = self.max_iter * -(-rows.n_rows // size)
        folder = None if self.checkpoint is None else Path(self.checkpoint)
        seed = seed_of_run(folder, self, seed_of(self))
        outputs = _outputs(block, source)
        pair = self._pair(block, source, outputs, n_steps, seed).to(place)
        generator = torch.Generator().manual_seed((seed * 1009 + 1) % 2**63)
        batches = source.batches(size, generator, place)
        plan = f"{self.max_iter} passes over {rows.n_rows:,} rows"
        with waiting(bool(self.verbose) and current().first, "fit", plan=plan):
            player = player_of(self, "", pair, n_steps, place)
            self.history_ = play([player], batches, run_of(self, n_steps, folder))
        self._remember(pair, source, outputs)
        self.n_tokens_seen_, self.n_iter_ = n_steps * size, self.max_iter
        self._describe(rows)
        return self

    def transform(self, X: Any) -> sparse.csr_array:
        """Return the codes of the inputs as a compressed sparse matrix, shape (n_samples, n_components)."""
        check_is_fitted(self)
        return _dictionary.encoded(self, X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the inputs that codes, sparse or dense, stand for, shape (n_samples, n_features)."""
        check_is_fitted(self)
        return _dictionary.decoded(self, X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variance of the inputs that the model reconstructs."""
        check_is_fitted(self)
        return _dictionary.explained(self, X)

    def transform_output(self, X: Any) -> sparse.csr_array:
        """Return the codes of the outputs of the block, from its inputs X."""
        check_is_fitted(self)
        rows, output, block = _dictionary.opened(self, X, reset=False), self.output, self.block
        parts = [
            output.transform(_mapped(block, part)) for part in _dictionary.blocks(rows, self.n_components)
        ]
        return sparse.csr_array(sparse.vstack(parts, format="csr"))

    def feature_jacobian(self, X: Any) -> FeatureJacobian:
        """Return the derivative of active output features by active input features at each row of X."""
        check_is_fitted(self)
        rows = _dictionary.opened(self, X, reset=False)
        few = max(1, self.n_components // self.k)
        parts = [
            self._jacobian_at(_dictionary.checked(rows.take(a, min(a + few, rows.n_rows)), a))
            for a in range(0, rows.n_rows, few)
        ]
        return FeatureJacobian(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    @property
    def input(self) -> SparseAutoencoder:
        """The dictionary of the inputs as an estimator of its own."""
        return self._side("")

    @property
    def output(self) -> SparseAutoencoder:
        """The dictionary of the outputs as an estimator of its own; it takes outputs of the block."""
        return self._side("output_")

    @property
    def block(self) -> Feedforward:
        """The feed-forward block."""
        arrays = {name: getattr(self, f"block_{name}_") for name in _BLOCK}
        return Feedforward(**arrays, activation=self.block_activation_)

    @property
    def n_components_(self) -> int:
        """The number of features of each dictionary."""
        return self.n_components

    @property
    def _n_features_out(self) -> int:
        return self.n_components

    def _check(self) -> None:
        check_sparse_settings(self)
        for name in ("weight", "n_jacobian"):
            value = getattr(self, name)
            if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < np.inf:
                raise ValueError(f"`{name}` must be a finite number of at least 0, got {value!r}.")

    def _block(self, mlp: Feedforward | None, n_features: int) -> Feedforward:
        """Remember the block, and refuse one that does not read these features."""
        self.flags_: tuple[str, ...] = ()
        if mlp is None:
            identity = np.eye(n_features, dtype=np.float32)
            mlp = Feedforward(identity, identity, activation="identity")
            self.flags_ = ("No block was given: both dictionaries are of the same activations.",)
        if not isinstance(mlp, Feedforward) or mlp.w_in.shape[1] != n_features:
            read = mlp.w_in.shape[1] if isinstance(mlp, Feedforward) else type(mlp).__name__
            raise ValueError(f"`mlp` must be a Feedforward that reads {n_features} features, got {read}.")
        for name in _BLOCK:
            value = getattr(mlp, name)
            setattr(self, f"block_{name}_", None if value is None else value.cpu().numpy())
        self.block_activation_ = mlp.activation
        return self.block

    def _pair(
        self, block: Feedforward, source: Source, outputs: tuple[Scale, np.ndarray], n_steps: int, seed: int
    ) -> SparsePair:
        """Build what is minimised, with geometric medians as biases."""
        size, n_outputs = min(self.batch_size, source.rows.n_rows), len(block.w_out)
        sides = ((source.rows.n_features, source.median), (n_outputs, outputs[1]))
        coders = []
        for number, (d, median) in enumerate(sides):
            recipe = recipe_of(self, d, n_steps, size)
            coder = built(partial(SparseCoder, d, self.n_components, recipe), seed + number)
            with torch.no_grad():
                coder.bias.copy_(torch.from_numpy(median))
            coders.append(coder)
        means = [torch.from_numpy(scale.mean) for scale in (source.scale, outputs[0])]
        units = Units(means[0], source.scale.spread, means[1], outputs[0].spread)
        return SparsePair((coders[0], coders[1]), block, units, self.n_jacobian)

    def _remember(self, pair: SparsePair, source: Source, outputs: tuple[Scale, np.ndarray]) -> None:
        for prefix, coder, scale in (("", pair.input, source.scale), ("output_", pair.output, outputs[0])):
            for name, value in arrays_of(coder, scale).items():
                setattr(self, f"{prefix}{name}", value)

    def _describe(self, rows: Any) -> None:
        """Remember how often the features of both dictionaries fire."""
        _dictionary.describe(self, rows)
        output, block = self.output, self.block
        mapped = (_mapped(block, part) for part in _dictionary.spread(rows, self.n_components))
        self.output_firing_, self.output_max_activation_ = _dictionary.described(output, mapped)

    def _side(self, prefix: str) -> SparseAutoencoder:
        check_is_fitted(self)
        names = set(SparseAutoencoder().get_params()) & set(self.get_params())
        side = SparseAutoencoder(**{name: getattr(self, name) for name in names})
        for name in (*_ARRAYS, "firing", "max_activation"):
            setattr(side, f"{name}_", getattr(self, f"{prefix}{name}_", None))
        side.n_features_in_ = side.dictionary_.shape[1]
        side.n_tokens_seen_, side.n_iter_ = self.n_tokens_seen_, self.n_iter_
        return side

    def _jacobian_at(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        block = self.block
        codes, outputs = self.transform(values), self.output.transform(_mapped(block, values))
        (there, index), (output_there, output_index) = (_padded(part, self.k) for part in (codes, outputs))
        found = feature_jacobian(
            torch.from_numpy(self.output_encoder_weight_),
            block,
            torch.from_numpy(self.dictionary_),
            torch.from_numpy(values.astype(np.float32)),
            (torch.from_numpy(output_index), torch.from_numpy(index)),
        ).numpy()
        return found * (output_there[:, :, None] & there[:, None]), output_index, index


def _mapped(block: Feedforward, values: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return block(torch.from_numpy(np.asarray(values, dtype=np.float32))).numpy()


def _outputs(block: Feedforward, source: Source) -> tuple[Scale, np.ndarray]:
    """Look at outputs of rows spread over the data: their units, and their geometric median in them."""
    y = np.concatenate(list(_some_outputs(block, source))).astype(np.float64)
    scale = Scale(y.mean(0), float(np.sqrt(np.square(y - y.mean(0)).mean())))
    return scale, geometric_median_of(scale(y))


def _some_outputs(block: Feedforward, source: Source) -> Iterator[np.ndarray]:
    for part in source.rows.every(max(1, source.rows.n_rows // _LOOKED_AT)):
        yield _mapped(block, np.asarray(part))


def _padded(codes: sparse.csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which of k places of each row hold a feature, and which feature."""
    there = np.arange(k) < np.diff(codes.indptr)[:, None]
    index = np.zeros(there.shape, dtype=np.int64)
    index[there] = codes.indices
    return there, index
