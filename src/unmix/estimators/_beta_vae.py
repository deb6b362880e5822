"""The variational autoencoder with a weighted KL term."""

from typing import Any, final

from unmix.nn import residual_mlp
from unmix.objectives import Objective
from unmix.training import Noise, Pace, Trained, train_restarts

from ._latent_estimator import Factory, LatentEstimator, build


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
    encoder, decoder, n_restarts, max_iter, batch_size, lr, device, checkpoint, verbose, random_state
        As for `Autoencoder`; the encoder factory is asked for 2 n_components outputs.

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
        n_restarts: int = 1,
        max_iter: int = 200,
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
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.lr = lr
        self.device = device
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _networks(self, shape: Any) -> Objective:
        n = self.n_components_
        return Objective(self.encoder(shape, 2 * n), self.decoder(n, shape), n, variational=True)

    def _train(self, x: Any, pace: Pace) -> Trained:
        members = build(self._networks, self.n_restarts, x, pace.seed)
        return train_restarts(members, {"kl": self.beta}, x, pace, beside=Noise(self.n_components_))
