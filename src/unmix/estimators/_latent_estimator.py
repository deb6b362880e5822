"""The one base class: what every estimator of latents shares."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from unmix._findings import Findings, read_findings
from unmix.nn import jacobian
from unmix.objectives import Objective, in_chunks
from unmix.structure import Structure
from unmix.training import Pace, Trained, device

from ._checks import check_data, check_settings
from ._settings import seed_of_run

Factory = Callable[[int, int], nn.Module]
Member = TypeVar("Member", bound=nn.Module)
_STRUCTURE_SAMPLES = 2000


class LatentEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """An encoder and a decoder behind scikit-learn's API; subclasses say how the pair is trained."""

    # what `__init__` of every subclass stores
    n_components: int
    max_iter: int
    batch_size: int
    lr: float
    device: str
    checkpoint: Any
    verbose: bool
    random_state: Any

    needs_domains: ClassVar[bool] = False  # to fit: the domain of each sample
    _fitted_arrays: tuple[str, ...] = (
        "mean_",
        "scale_",
        "latent_scale_",
    )  # what a file keeps, besides networks

    @abstractmethod
    def _networks(self, n_features: int) -> Objective:
        """Build the networks, untrained."""

    @abstractmethod
    def _train(self, x: Tensor, pace: Pace) -> Trained:
        """Train on standardised data and return the best restart."""

    def fit(self, X: Any, y: Any = None) -> "LatentEstimator":
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            An array, data frame or tensor; columns are standardised inside.
        y : ignored

        Returns
        -------
        self
        """
        return self._fit(X, self._train)

    def _fit(self, X: Any, train: Callable[[Tensor, Pace], Trained]) -> "LatentEstimator":
        """Standardise the data, train on them and remember what was found."""
        check_settings(self)
        values = validate_data(self, _plain(X), dtype=[np.float64, np.float32], ensure_min_samples=2)
        values = np.ascontiguousarray(values)  # so that the layout in memory does not change a bit
        check_data(values, self._least_rank)
        self.mean_, self.scale_ = values.mean(0, dtype=np.float64), values.std(0, dtype=np.float64)
        x = torch.as_tensor((values - self.mean_) / self.scale_, dtype=torch.float32)
        trained = train(x.to(device(self.device)), self._pace())
        self._remember(trained, x)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the latents of each sample, shape (n_samples, n_components)."""
        check_is_fitted(self)
        values = self._validated(X)
        z = in_chunks(self._objective_.encode, self._standardised(values))
        return z.numpy().astype(values.dtype, copy=False)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the observations that latents stand for, shape (n_samples, n_features)."""
        check_is_fitted(self)
        codes = check_array(_plain(X), dtype=[np.float64, np.float32], input_name="X")
        if codes.shape[1] != self.n_components:
            raise ValueError(
                f"`X` must have shape (n_samples, n_components={self.n_components}), got {codes.shape}."
            )
        decoded = in_chunks(self.decoder_, torch.as_tensor(codes, dtype=torch.float64)).numpy()
        return (decoded * self.scale_ + self.mean_).astype(codes.dtype, copy=False)

    def jacobian(self, X: Any) -> np.ndarray:
        """Return the decoder's Jacobian dx_i / dz_j at the latents of each sample, in the units of X.

        Shape (n_samples, n_features, n_components).
        """
        check_is_fitted(self)
        x = self._standardised(self._validated(X))
        J = in_chunks(lambda part: jacobian(self.decoder_, self._objective_.encode(part)), x, 1024)
        return J.numpy() * self.scale_[:, None]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variance of X that the model reconstructs."""
        check_is_fitted(self)
        values = self._validated(X)
        left = (values - self.inverse_transform(self.transform(values))) / self.scale_
        return float(1 - np.square(left).mean() / np.square((values - self.mean_) / self.scale_).mean())

    def findings(self) -> Findings:
        """Return what was found, as reports, commands and `unmix.theory.explain` read it."""
        check_is_fitted(self)
        return read_findings(self)

    def save(self, path: Any) -> Path:
        """Write the fitted model to one file, without pickle; `unmix.load` reads it."""
        from ._storage import save

        check_is_fitted(self)
        return save(self, path)

    @property
    def _n_features_out(self) -> int:
        return self.n_components

    @property
    def _least_rank(self) -> int:
        """The rank that data must have."""
        return self.n_components

    @property
    def _objective_(self) -> Objective:
        return Objective(self.encoder_, self.decoder_, self.n_components)

    def _pace(self) -> Pace:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        folder = None if self.checkpoint is None else Path(self.checkpoint)
        seed = seed_of_run(folder, self, seed)
        progress = None if self.verbose else False
        return Pace(self.max_iter, self.batch_size, self.lr, seed, folder, progress)

    def _remember(self, trained: Trained, x: Tensor) -> None:
        """Keep the networks in double precision, so that results don't depend on how samples are grouped."""
        self.encoder_ = trained.objective.encoder.cpu().double().eval()
        self.decoder_ = trained.objective.decoder.cpu().double().eval()
        self.history_, self.restarts_ = trained.history, trained.scores
        self.n_iter_ = self.max_iter
        codes = in_chunks(self._objective_.encode, x.double())
        self.latent_scale_ = codes.std(0, correction=0).numpy()
        J = in_chunks(lambda z: jacobian(self.decoder_, z), codes[:_STRUCTURE_SAMPLES], 512).numpy()
        self.structure_ = Structure.from_jacobian(J, latent_scale=self.latent_scale_)

    def _validated(self, X: Any) -> np.ndarray:
        return validate_data(self, _plain(X), dtype=[np.float64, np.float32], reset=False)

    def _standardised(self, values: np.ndarray) -> Tensor:
        return torch.as_tensor((values - self.mean_) / self.scale_, dtype=torch.float64)


def build(make: Callable[[int], Member], n_members: int, x: Tensor, seed: int) -> list[Member]:
    """Build networks for data from a seed, leaving torch's global random state as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return [make(x.shape[1]).to(x.device) for _ in range(n_members)]


def _plain(X: Any) -> Any:
    return X.detach().cpu().numpy() if isinstance(X, Tensor) else X
