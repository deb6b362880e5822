"""The plain autoencoder, the baseline that promises nothing."""

from collections.abc import Callable
from typing import Any, final

from unmix.nn import residual_mlp
from unmix.objectives import Objective, Penalty, likely
from unmix.training import Noise, Pace, Trained

from ._latent_estimator import Factory, LatentEstimator, build
from ._recipe import check_loss, paced, trained_members, with_penalty


@final
class Autoencoder(LatentEstimator):
    """Encoder and decoder trained to reconstruct; the code is arbitrary up to any invertible map.

    Parameters
    ----------
    n_components : int or "auto"
        Number of latents; "auto" looks for where those of a table end, see `unmix.choose`.
    encoder, decoder : callable (shape_in, shape_out) -> Module
        Network factories; vary them by `functools.partial`. A row of a table and a code have an integer as
        shape, an image (height, width, channels): see `unmix.nn.conv_encoder` and `conv_decoder`.
    loss : {"squared", "bernoulli"}
        Of reconstructions: squared errors, a sum within each sample, or for images the mean cross-entropy of
        pixels, for which the decoder factory gives logits. Then all other terms are divided by the number of
        pixels and channels, so that their weights stand beside a likelihood summed over those.
    penalty : callable (decoder, z) -> scalar, optional
        Any penalty on the decoder; see `unmix.penalties`.
    penalty_weight : float or callable
        Its weight, or a schedule from step to weight such as `unmix.training.warm_up`.
    weight_decay : float
        Decoupled, as in AdamW, on weights: not on biases and codebooks.
    clip_value : float, optional
        Largest size of an entry of a weight's gradient.
    schedule : {"constant", "cosine", "one_cycle"} or callable, optional
        Factor of the learning rate at each step; by default half a cosine after a short warm-up.
    precision : {None, "bf16"}
        "bf16" computes the losses in mixed precision.
    n_restarts : int
        Random starts; the one with the lowest objective is kept. Those on tables are trained as one batch,
        those on images one after another; one that does not stay finite stops, and the others go on.
    max_iter : int
        Passes over the data.
    max_steps : int, optional
        Updates at most, where the passes would take more.
    batch_size : int
    lr : float
        Peak learning rate of Adam.
    device : {"auto", "cpu", "cuda"}
    checkpoint : path-like, optional
        Folder for checkpoints; a fit that was killed goes on from there, with the same bits.
    verbose : bool
        Show progress and the time left on standard error: a bar on a terminal, a few lines elsewhere.
    random_state : int, RandomState or None

    Attributes
    ----------
    encoder_, decoder_ : Module
    structure_ : Structure
        Dependency structure of the decoder, with the margin of its threshold; of tables only. No theorem
        singles it out, so that `unmix.trust` never trusts these latents.
    history_ : History
    restarts_ : tuple of float
        Last objective of each restart.
    loadings_ : array of shape (n_features, n_components)
        How much each latent moves each variable, in standard deviations of both: the mean size of the
        decoder's slope, with the sign of its mean. Not there for images.
    latent_scale_ : array of shape (n_components,)
        Standard deviation of each latent.
    n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) @ np.array([[1., 1., 0.], [0., 1., 1.]])
    >>> model = Autoencoder(2, max_iter=300, random_state=0).fit(X)
    >>> model.transform(X).shape, model.score(X) > 0.95
    ((200, 2), True)
    """

    takes = ("tables", "images", "rows")

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        encoder: Factory = residual_mlp,
        decoder: Factory = residual_mlp,
        loss: str = "squared",
        penalty: Penalty | None = None,
        penalty_weight: float | Callable[[int], float] = 0.05,
        weight_decay: float = 0.0,
        clip_value: float | None = None,
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
        self.encoder = encoder
        self.decoder = decoder
        self.loss = loss
        self.penalty = penalty
        self.penalty_weight = penalty_weight
        self.weight_decay = weight_decay
        self.clip_value = clip_value
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
        networks = self.encoder(shape, n), likely(self.decoder(n, shape), loss)
        return Objective(*networks, n, penalty=self.penalty, loss=loss)

    def _train(self, x: Any, pace: Pace) -> Trained:
        members = build(self._networks, self.n_restarts, x, pace.seed)
        weights = with_penalty(self, {})
        return trained_members(members, weights, x, paced(self, pace), beside=Noise(self.n_components_))
