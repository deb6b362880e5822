"""The one base class: what every estimator of latents shares."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from unmix._group import current, together
from unmix._threads import threads
from unmix._waiting import waiting
from unmix.objectives import Objective
from unmix.training import Drawn, Pace, Streamed, Trained, seeded

from . import _images, _streams, _tables
from ._checks import check_settings
from ._kept import Kept
from ._number import found_number, is_auto
from ._recipe import published
from ._settings import seed_of_run

Factory = Callable[[Any, Any], nn.Module]
Member = TypeVar("Member", bound=nn.Module)


class LatentEstimator(Kept, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """An encoder and a decoder behind scikit-learn's API; subclasses say how the pair is trained.

    What depends on the kind of data is in separate modules: tables, images, and rows larger than memory.
    """

    # what `__init__` of every subclass stores
    n_components: int | str
    max_iter: int
    batch_size: int
    lr: float
    device: str
    checkpoint: Any
    verbose: bool
    random_state: Any

    takes: ClassVar[tuple[str, ...]] = ("tables",)  # kinds of data: some take "images" and "rows" too
    overcomplete: ClassVar[bool] = False  # whether there may be more latents than variables

    @abstractmethod
    def _networks(self, shape: Any) -> nn.Module:
        """Build an objective with networks, untrained, for samples of a shape; an integer counts as one."""

    @abstractmethod
    def _train(self, x: Any, pace: Pace) -> Trained:
        """Train on data as networks take them, and return the best restart."""

    @classmethod
    def preset(cls, name: str, *, dataset: str | None = None, **changes: Any) -> Self:
        """Return an estimator with the settings of a published recipe for images.

        Parameters
        ----------
        name : {"hsu2023", "locatello2019", "yang2024", "ren2022"}
            Hsu et al. (2023), arXiv:2305.18378, as Nelson et al. (2026), arXiv:2603.11970, took it; Locatello
            et al. (2019), arXiv:1811.12359; of `EncDiff` Yang et al. (2024), arXiv:2402.09712; of `DisCo` Ren
            et al. (2022), arXiv:2102.10543.
        dataset : {"shapes3d", "mpi3d", "falcor3d", "isaac3d"}, optional
            Settings that were tuned for a set of images; by default those for Shapes3D.
        **changes
            Settings to change.

        Returns
        -------
        estimator, not fitted
        """
        return cls(**(published(cls.__name__, name, dataset) | changes))

    def fit(self, X: Any, y: Any = None) -> "LatentEstimator":
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            An array, data frame or tensor; columns are standardised inside. Estimators that take images and
            rows also fit uint8 or float arrays of shape (n_samples, height, width, channels), and paths of
            NPY, Parquet or safetensors files, or folders of them, larger than memory.
        y : ignored

        Returns
        -------
        self
        """
        self._settle(X)
        return self._fit(X, self._train)

    @threads(1)
    def _settle(self, X: Any) -> None:
        """Find the number of latents, where it is to be found."""
        if is_auto(self.n_components):
            check_settings(self)
            self.number_ = found_number(X)

    @together()
    @threads(1)  # training has more where its steps are worth them
    def _fit(self, X: Any, train: Callable[[Any, Pace], Trained]) -> "LatentEstimator":
        """Read the data, train on them and remember what was found."""
        check_settings(self)
        part = self._part(X)
        x, pace = part.read(self, X), self._pace()
        with waiting(pace.progress, "fit", plan=self._plan(len(x))) as show:
            show(0.0, "looking for starts")
            with seeded(_place_of(x), pace.seed):  # for what networks and penalties draw by themselves
                trained = train(x, pace)
        self._remember(trained, x, part)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the latents of each sample, shape (n_samples, n_components)."""
        check_is_fitted(self)
        return self._part(X).encoded(self, X, self._objective_.encode)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the observations that latents stand for, shaped like those the model was fitted on."""
        check_is_fitted(self)
        return self._fitted_part.decoded(self, X, self.decoder_)

    def jacobian(self, X: Any) -> np.ndarray:
        """Return the decoder's Jacobian dx_i / dz_j at the latents of each sample, in the units of X.

        Shape (n_samples, n_features, n_components).
        """
        check_is_fitted(self)
        return self._part(X).slopes(self, X, self._objective_.encode)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variance of X that the model reconstructs."""
        check_is_fitted(self)
        return self._part(X).explained(self, X)

    @property
    def n_components_(self) -> int:
        """The number of latents: as asked for, or as found for "auto"."""
        return self.number_ if is_auto(self.n_components) else self.n_components  # type: ignore[return-value]

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    @property
    def _least_rank(self) -> int:
        """The rank that data must have."""
        return 1 if self.overcomplete else self.n_components_

    @property
    def _objective_(self) -> Objective:
        return Objective(self.encoder_, self.decoder_, self.n_components_)

    @property
    def _shape(self) -> Any:
        """The shape of a sample that the model was fitted on; an integer for rows of a table."""
        image = getattr(self, "image_shape_", None)
        return self.n_features_in_ if image is None else tuple(image.tolist())

    @property
    def _fitted_part(self) -> ModuleType:
        return _images if hasattr(self, "image_shape_") else _tables

    def _part(self, X: Any) -> ModuleType:
        """Return the part for this kind of data, where this estimator takes it."""
        if "images" in self.takes and _images.is_images(X):
            return _images
        if not _streams.is_rows(X):
            _images.refuse_grey(X, self.takes)
            return _tables
        if "rows" not in self.takes:
            name = type(self).__name__
            raise TypeError(
                f"`X` must be an array for {name}, got {X!r}. Read the file first, or use BetaVAE."
            )
        return _streams

    def _pace(self) -> Pace:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        folder = None if self.checkpoint is None else Path(self.checkpoint)
        seed = seed_of_run(folder, self, seed)
        seen = bool(self.verbose) and current().first
        return Pace(self.max_iter, self.batch_size, self.lr, seed, folder, seen)

    def _plan(self, n_samples: int) -> str:
        """Say what a fit has to do."""
        n_restarts, passes = getattr(self, "n_restarts", 1), self._passes(n_samples)
        return f"{n_restarts} restart{'s' * (n_restarts != 1)} x {passes} passes over {n_samples:,} rows"

    def _passes(self, n_samples: int) -> int:
        """Return the number of passes over the data, no more than `max_steps`, where it is set, asks for."""
        per_pass = math.ceil(n_samples / min(self.batch_size, n_samples))
        limit = getattr(self, "max_steps", None)
        return self.max_iter if limit is None else min(self.max_iter, math.ceil(limit / per_pass))

    def _remember(self, trained: Trained, x: Any, part: ModuleType) -> None:
        """Keep the networks on the CPU, and what the data say about their codes."""
        self.encoder_ = trained.objective.encoder.cpu().to(part.PRECISION).eval()
        self.decoder_ = trained.objective.decoder.cpu().to(part.PRECISION).eval()
        self.history_, self.restarts_ = trained.history, trained.scores
        self.n_iter_ = self.max_iter
        part.describe(self, x, self._objective_.encode)


def build(make: Callable[[Any], Member], n_members: int, x: Any, seed: int) -> list[Member]:
    """Build networks for data from a seed, leaving torch's global random state as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return [make(_shape_of(x)).to(_place_of(x)) for _ in range(n_members)]


def _shape_of(x: Tensor | Streamed | Drawn) -> Any:
    if isinstance(x, Streamed):
        return x.rows.n_features
    if isinstance(x, Drawn):
        return tuple(x.head(1)[0].shape[1:])
    return x.shape[1] if x.ndim == 2 else tuple(x.shape[1:])


def _place_of(x: Tensor | Streamed | Drawn) -> torch.device:
    return x.device if isinstance(x, Tensor) else x.head(1)[0].device
