"""An autoencoder with a few values for each latent."""

from collections.abc import Callable
from typing import Any, final

import torch

from unmix.nn import residual_mlp
from unmix.objectives import (
    Codebook,
    Penalty,
    QuantisedDecoder,
    QuantisedEncoder,
    QuantisedObjective,
    likely,
)
from unmix.training import Noise, Pace, Trained, train_apart

from ._latent_estimator import Factory, LatentEstimator, build
from ._recipe import check_loss, check_values, paced, with_penalty


@final
class QLAE(LatentEstimator):
    """Quantised latent autoencoder: each latent takes one of a few values, its own, which are learnt.

    The nearest value goes to the decoder, and the gradient passes straight through to the encoder. The
    objective is reconstruction + quantisation |sg(z) - v|^2 + commitment |z - sg(v)|^2, means over entries.

    Parameters
    ----------
    n_components : int or "auto"
        Number of latents; "auto" looks for where those of a table end, see `unmix.choose`.
    n_values : int
        Values of each latent, which begin evenly spaced between -1/2 and 1/2.
    quantisation : float
        Weight of the distance from values to codes, which moves the values.
    commitment : float
        Weight of the same distance, which moves the codes.
    loss : {"squared", "bernoulli"}
        Of reconstructions: squared errors, or for images the cross-entropy of pixels.
    penalty : callable (decoder, z) -> scalar, optional
        Any penalty on the decoder; see `unmix.penalties`.
    penalty_weight : float or callable
        Its weight, or a schedule from step to weight.
    weight_decay, clip_value, matrix_lr, schedule, precision, max_steps
        As for `Autoencoder`.
    encoder, decoder, n_restarts, max_iter, batch_size, lr, device, checkpoint, verbose, random_state
        As for `Autoencoder`; `QLAE.preset("hsu2023")` has the
        published recipe for images.

    Attributes
    ----------
    codebook_ : array of shape (n_components, n_values)
        The values of each latent.
    encoder_, decoder_, structure_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`; `transform` returns numbers of values, `inverse_transform` takes them. Between
        two numbers the values lie on a smooth curve, whose slope is what `jacobian` refers to.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) @ np.array([[1., 1., 0.], [0., 1., 1.]])
    >>> codes = QLAE(2, n_values=5, max_iter=20, random_state=0).fit_transform(X)
    >>> codes.shape, bool(np.isin(codes, range(5)).all())
    ((200, 2), True)

    References
    ----------
    Hsu et al. (2023), Disentanglement via latent quantization, arXiv:2305.18378.
    """

    takes = ("tables", "images", "rows")

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        n_values: int = 10,
        quantisation: float = 0.01,
        commitment: float = 0.01,
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
        self.n_values = n_values
        self.quantisation = quantisation
        self.commitment = commitment
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

    def _networks(self, shape: Any) -> QuantisedObjective:
        n, loss = self.n_components_, check_loss(self, shape)
        values = torch.linspace(-0.5, 0.5, check_values(self.n_values))[:, None]
        book = Codebook(values.expand(n, -1, -1).clone(), n)
        encoder = QuantisedEncoder(self.encoder(shape, n), book)
        decoder = QuantisedDecoder(book, likely(self.decoder(n, shape), loss))
        return QuantisedObjective(encoder, decoder, loss=loss, penalty=self.penalty)

    def _train(self, x: Any, pace: Pace) -> Trained:
        members = build(self._networks, self.n_restarts, x, pace.seed)
        weights = with_penalty(self, {"quantisation": self.quantisation, "commitment": self.commitment})
        trained = train_apart(members, weights, x, paced(self, pace), beside=Noise(1))
        trained.objective.part()
        self.codebook_ = trained.objective.encoder.book.codebook.detach().cpu().double().numpy()[..., 0]
        return trained
