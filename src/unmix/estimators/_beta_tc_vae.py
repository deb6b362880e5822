"""A variational autoencoder whose total correlation, estimated from the batch, is weighted."""

from collections.abc import Callable
from typing import Any, final

from unmix.nn import residual_mlp
from unmix.objectives import DecomposedObjective, Penalty, likely
from unmix.training import Noise, Pace, Trained, train_apart

from ._latent_estimator import Factory, LatentEstimator, build
from ._recipe import check_loss, kl_weight, paced, with_penalty


@final
class BetaTCVAE(LatentEstimator):
    """Variational autoencoder whose KL term is split in three, of which the total correlation is weighted.

    The objective is reconstruction + kl_weight (MI + beta TC + KL of each dimension), with MI = log q(z|x) -
    log q(z) and TC = log q(z) - sum_j log q(z_j), q(z) being estimated by minibatch weighted sampling.

    Parameters
    ----------
    n_components : int or "auto"
        Number of latents; "auto" looks for where those of a table end, see `unmix.choose`.
    beta : float
        Weight of the total correlation beside the other two parts.
    kl_weight : float, optional
        Weight of the KL term beside the reconstruction. By default 1 for "bernoulli", and for squared errors
        of standardised data 0.005, about twice the noise variance.
    loss : {"squared", "bernoulli"}
        Of reconstructions: squared errors, or for images the cross-entropy of pixels.
    penalty : callable (decoder, z) -> scalar, optional
        Any penalty on the decoder; see `unmix.penalties`.
    penalty_weight : float or callable
        Its weight, or a schedule from step to weight.
    weight_decay, clip_value, matrix_lr, schedule, precision, max_steps
        As for `Autoencoder`.
    encoder, decoder, n_restarts, max_iter, batch_size, lr, device, checkpoint, verbose, random_state
        As for `Autoencoder`; the encoder factory is asked for
        2 n_components outputs, and `BetaTCVAE.preset("hsu2023")` has a published recipe for images.

    Attributes
    ----------
    encoder_, decoder_, structure_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`; `transform` returns posterior means.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) @ np.array([[1., 1., 0.], [0., 1., 1.]])
    >>> BetaTCVAE(2, max_iter=20, random_state=0).fit_transform(X).shape
    (200, 2)

    References
    ----------
    Chen et al. (2018), Isolating sources of disentanglement in variational autoencoders, arXiv:1802.04942.
    """

    takes = ("tables", "images", "rows")

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        beta: float = 3.0,
        kl_weight: float | None = None,
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
        self.kl_weight = kl_weight
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

    def _networks(self, shape: Any) -> DecomposedObjective:
        n, loss = self.n_components_, check_loss(self, shape)
        encoder, decoder = self.encoder(shape, 2 * n), likely(self.decoder(n, shape), loss)
        return DecomposedObjective(encoder, decoder, loss=loss, penalty=self.penalty)

    def _train(self, x: Any, pace: Pace) -> Trained:
        members = build(self._networks, self.n_restarts, x, pace.seed)
        for member in members:
            member.n_samples = len(x)
        weight = kl_weight(self)
        parts = {"information": weight, "total_correlation": weight * self.beta, "dimensions": weight}
        weights, beside = with_penalty(self, parts), Noise(self.n_components_)
        return train_apart(members, weights, x, paced(self, pace), beside=beside)
