"""A generative adversarial network of images, in the manner of StyleGAN2."""

from collections.abc import Callable
from typing import Any, final

import numpy as np
from torch import nn

from unmix.nn import conv_encoder, style_discriminator, style_generator
from unmix.objectives import CodedGenerator, GameObjective, NoiseCode
from unmix.training import Drawn, Held, Pace, Trained

from ._game import GameEstimator
from ._game_checks import check_game
from ._latent_estimator import Factory


@final
class GAN(GameEstimator):
    """Generator of images from independent normal latents, trained against a discriminator.

    Two players move in turn on the non-saturating losses, the discriminator with the R1 penalty, the
    generator with path-length regularisation; the discriminator sees images through augmentations whose
    probability is adapted to how far it overfits. The generator's weights are averaged. Afterwards an encoder
    is trained to invert it, on made images whose codes are known and on real ones, so that `transform` has an
    answer. Nothing identifies the latents: `unmix.trust` trusts none.

    Parameters
    ----------
    n_components : int
        Number of latents.
    r1 : float
        Weight of half the squared gradient of the discriminator at real images.
    path : float
        Weight of the squared deviation of path lengths from their mean.
    augment : float, optional
        Mean of sign(D(real)) that the probability of augmentation is adapted to; None for no augmentation.
    ema : float
        Decay of the average of the generator's weights.
    inversion : float
        Steps of the encoder's training afterwards, as a share of those of the game.
    samples : path-like, optional
        Folder for pictures of samples on fixed noise, ten over the training.
    decoder : callable (n_in, shape_out) -> StyleGenerator
        Factory of the generator.
    critic : callable (shape_in, n_out, n_labels=...) -> Module
        Factory of the discriminator.
    encoder : callable (shape_in, n_out) -> Module
    max_iter, max_steps, batch_size, lr, precision, device, checkpoint, verbose, random_state
        As for `Autoencoder`; `max_steps` counts those of the game.

    Attributes
    ----------
    decoder_ : CodedGenerator
        ``decoder_.mapping`` and ``decoder_.synthesis`` are the two halves of the averaged generator.
    encoder_, history_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`; the history is that of the game, with terms "generator/..." and
        "discriminator/...".
    restarts_ : tuple of one float
        What the encoder's objective came to.

    Examples
    --------
    >>> from functools import partial
    >>> images = np.random.default_rng(0).random((16, 8, 8, 1)).astype("float32")
    >>> small = {"decoder": partial(style_generator, widths=(8, 8), style=8),
    ...          "critic": partial(style_discriminator, widths=(8, 8)),
    ...          "encoder": partial(conv_encoder, widths=(8,), dense=(8,))}
    >>> model = GAN(4, **small, max_steps=2, batch_size=8, random_state=0).fit(images)
    >>> model.sample(3, random_state=0).shape, model.transform(images).shape
    ((3, 8, 8, 1), (16, 4))

    References
    ----------
    Karras et al. (2020), Analyzing and improving the image quality of StyleGAN, arXiv:1912.04958, and
    Training generative adversarial networks with limited data, arXiv:2006.06676. Sizes, augmentations and the
    encoder are ours.
    """

    def __init__(
        self,
        n_components: int = 64,
        *,
        r1: float = 0.1,
        path: float = 2.0,
        augment: float | None = 0.6,
        ema: float = 0.995,
        inversion: float = 0.25,
        samples: Any = None,
        encoder: Factory = conv_encoder,
        decoder: Factory = style_generator,
        critic: Callable[..., nn.Module] = style_discriminator,
        precision: str | None = None,
        max_iter: int = 200,
        max_steps: int | None = None,
        batch_size: int = 64,
        lr: float = 2e-3,
        device: str = "auto",
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.r1 = r1
        self.path = path
        self.augment = augment
        self.ema = ema
        self.inversion = inversion
        self.samples = samples
        self.encoder = encoder
        self.decoder = decoder
        self.critic = critic
        self.precision = precision
        self.max_iter = max_iter
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.lr = lr
        self.device = device
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def sample(self, n: int = 1, *, random_state: Any = None) -> np.ndarray:
        """Return n images of fresh latents, of the type that the model was fitted on."""
        return self._made(n, None, random_state)

    def _networks(self, shape: Any) -> GameObjective:
        n = self.n_components_
        return GameObjective(
            CodedGenerator(NoiseCode(), self.decoder(n, shape)),
            self.critic(shape, 1),
            self.encoder(shape, n),
            n_noise=n,
            target=self.augment,
        )

    def _train(self, x: Any, pace: Pace) -> Trained:
        check_game(self)
        return self._play(x, pace, x if isinstance(x, Drawn) else Held(x))

    def _sheet_domains(self) -> int:
        return 0
