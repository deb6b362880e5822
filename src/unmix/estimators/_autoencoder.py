"""The plain autoencoder, the baseline that promises nothing."""

from collections.abc import Callable, Sequence
from typing import Any, final

from torch.nn import Module

from unmix.nn import residual_mlp
from unmix.objectives import Objective, Penalty, likely
from unmix.training import Noise, Pace, Trained, joined

from ._latent_estimator import Factory, LatentEstimator, build
from ._narrowing import narrow, start_narrow, two_paces
from ._recipe import check_loss, check_values, paced, trained_members, with_penalty


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
    wide : int, optional
        Number of latents to begin with. An autoencoder that has no code to spare gets stuck, above all one of
        images. So two thirds of the training go to a code that is this wide; then linear maps narrow it to
        the directions that move reconstructions most, and all is trained on.
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
    matrix_lr : float, optional
        Learning rate of matrices and kernels of convolutions, whose steps are orthogonal then (Muon); Adam
        moves the rest. Reconstructions of images are as good after a fraction of the updates: .005 suits
        lr=1e-3.
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
        wide: int | None = None,
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
        self.encoder = encoder
        self.decoder = decoder
        self.wide = wide
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
        n, wide = self.n_components_, self.wide
        if wide is None:
            return self._objective(self.encoder(shape, n), self.decoder(n, shape), n, shape)
        check_values(wide, n, "wide")
        return self._objective(
            *narrow(self.encoder(shape, wide), self.decoder(wide, shape), wide, n), n, shape
        )

    def _wide_networks(self, shape: Any) -> Objective:
        wide = check_values(self.wide, self.n_components_, "wide")
        return self._objective(self.encoder(shape, wide), self.decoder(wide, shape), wide, shape)

    def _objective(self, encoder: Module, decoder: Module, n: int, shape: Any) -> Objective:
        loss = check_loss(self, shape)
        return Objective(encoder, likely(decoder, loss), n, penalty=self.penalty, loss=loss)

    def _train(self, x: Any, pace: Pace) -> Trained:
        pace = paced(self, pace)
        if self.wide is None:
            return self._trained(build(self._networks, self.n_restarts, x, pace.seed), x, pace)
        first, then = two_paces(pace, len(x))
        begun = self._trained(build(self._wide_networks, self.n_restarts, x, pace.seed), x, first)
        (member,) = build(self._networks, 1, x, pace.seed)
        start_narrow(member, begun.objective, x)
        found = self._trained([member], x, then)
        return Trained(found.objective, joined([begun.history, found.history]), begun.scores)

    def _trained(self, members: Sequence[Objective], x: Any, pace: Pace) -> Trained:
        beside = Noise(members[0].n_components)
        return trained_members(members, with_penalty(self, {}), x, pace, beside=beside)
