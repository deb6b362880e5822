"""An autoencoder whose codes are non-negative and small, as firing rates are."""

from collections.abc import Callable
from typing import Any, final

from unmix.nn import residual_mlp
from unmix.objectives import EnergyObjective, Penalty, likely
from unmix.training import Noise, Pace, Trained, train_apart

from ._latent_estimator import Factory, LatentEstimator, build
from ._recipe import check_loss, paced, with_penalty


@final
class BioAE(LatentEstimator):
    """Autoencoder whose codes are asked to be non-negative and small.

    The objective is reconstruction + negativity mean relu(-z) + activity mean z^2, with the mean error of an
    entry as reconstruction, and weights that decay.

    Parameters
    ----------
    n_components : int or "auto"
        Number of latents; "auto" looks for where those of a table end, see `unmix.choose`.
    negativity : float
        Weight of how far codes are below zero.
    activity : float
        Weight of their squares.
    loss : {"squared", "bernoulli"}
        Of reconstructions: squared errors, or for images the cross-entropy of pixels.
    penalty : callable (decoder, z) -> scalar, optional
        Any penalty on the decoder; see `unmix.penalties`.
    penalty_weight : float or callable
        Its weight, or a schedule from step to weight.
    weight_decay, clip_value, matrix_lr, schedule, precision, max_steps
        As for `Autoencoder`.
    encoder, decoder, n_restarts, max_iter, batch_size, lr, device, checkpoint, verbose, random_state
        As for `Autoencoder`; `BioAE.preset("hsu2023")` has a
        published recipe for images.

    Attributes
    ----------
    encoder_, decoder_, structure_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`; `transform` returns codes, which are hardly below 0.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) @ np.array([[1., 1., 0.], [0., 1., 1.]])
    >>> BioAE(2, max_iter=20, random_state=0).fit_transform(X).shape
    (200, 2)

    References
    ----------
    Whittington et al. (2023), Disentanglement with biological constraints, arXiv:2210.01768.
    """

    takes = ("tables", "images", "rows")

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        negativity: float = 1.0,
        activity: float = 0.01,
        encoder: Factory = residual_mlp,
        decoder: Factory = residual_mlp,
        loss: str = "squared",
        penalty: Penalty | None = None,
        penalty_weight: float | Callable[[int], float] = 0.05,
        weight_decay: float = 1e-4,
        clip_value: float | None = None,
        matrix_lr: float | None = None,
        schedule: str | Callable[[int], float] | None = None,
        precision: str | None = None,
        n_restarts: int = 1,
        max_iter: int = 200,
        max_steps: int | None = None,
        batch_size: int = 500,
        lr: float = 2e-3,
        device: str = "auto",
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.negativity = negativity
        self.activity = activity
        self.encoder = encoder
        self.decoder = decoder
        self.loss = loss
        self.penalty = penalty
        self.penalty_weight = penalty_weight
        self.weight_decay = weight_decay
        self.clip_value = clip_value
        self.matrix_lr = matrix_lr
        self.schedule = schedule
        self.precision = precision
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.lr = lr
        self.device = device
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _networks(self, shape: Any) -> EnergyObjective:
        n, loss = self.n_components_, check_loss(self, shape)
        networks = self.encoder(shape, n), likely(self.decoder(n, shape), loss)
        return EnergyObjective(*networks, loss=loss, penalty=self.penalty)

    def _train(self, x: Any, pace: Pace) -> Trained:
        members = build(self._networks, self.n_restarts, x, pace.seed)
        weights = with_penalty(self, {"negativity": self.negativity, "activity": self.activity})
        return train_apart(members, weights, x, paced(self, pace), beside=Noise(self.n_components_))
