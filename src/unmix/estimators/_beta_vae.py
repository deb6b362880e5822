"""The variational autoencoder with a weighted KL term."""

from collections.abc import Callable
from typing import Any, final

from unmix.nn import residual_mlp
from unmix.objectives import Objective, Penalty, likely
from unmix.training import Noise, Pace, Trained

from ._latent_estimator import Factory, LatentEstimator, build
from ._recipe import check_loss, paced, trained_members, with_penalty


@final
class BetaVAE(LatentEstimator):
    """Variational autoencoder whose KL term is weighted by beta.

    The objective is ||x - decoder(z)||^2 + beta KL(q(z|x) || N(0, I)), with x standardised. An independent
    prior alone identifies nothing: any rotation of a normal prior fits as well.

    Parameters
    ----------
    n_components : int or "auto"
        Number of latents; "auto" looks for where those of a table end, see `unmix.choose`.
    beta : float
        Weight of the KL term, against squared errors of standardised data; about twice the noise variance.
    encoder, decoder, loss, penalty, penalty_weight, weight_decay, clip_value, matrix_lr, schedule, precision
        As for `Autoencoder`; the encoder factory is asked for 2 n_components outputs.
    n_restarts, max_iter, max_steps, batch_size, lr, device, checkpoint, verbose, random_state
        As for `Autoencoder`.

    Attributes
    ----------
    encoder_, decoder_, structure_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`; `transform` returns posterior means.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) @ np.array([[1., 1., 0.], [0., 1., 1.]])
    >>> BetaVAE(2, max_iter=50, random_state=0).fit_transform(X).shape
    (200, 2)

    References
    ----------
    Higgins et al. (2017), beta-VAE, ICLR.
    """

    takes = ("tables", "images", "rows")

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        beta: float = 0.005,
        encoder: Factory = residual_mlp,
        decoder: Factory = residual_mlp,
        loss: str = "squared",
        penalty: Penalty | None = None,
        penalty_weight: float | Callable[[int], float] = 0.05,
        weight_decay: float = 0.0,
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
        self.beta = beta
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

    def _networks(self, shape: Any) -> Objective:
        n, loss = self.n_components_, check_loss(self, shape)
        networks = self.encoder(shape, 2 * n), likely(self.decoder(n, shape), loss)
        return Objective(*networks, n, variational=True, penalty=self.penalty, loss=loss)

    def _train(self, x: Any, pace: Pace) -> Trained:
        members = build(self._networks, self.n_restarts, x, pace.seed)
        weights = with_penalty(self, {"kl": self.beta})
        return trained_members(members, weights, x, paced(self, pace), beside=Noise(self.n_components_))
