"""A diffusion model that is told the scalars of an encoder, each as a token of its own."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, final

import torch
from torch import Tensor, nn

from unmix.nn import ScalarTokens, grid_decoder, grid_encoder, leaky_encoder, unet
from unmix.objectives import (
    TARGETS,
    THROUGH,
    Codebook,
    DiffusionDecoder,
    DiffusionObjective,
    Grids,
    Penalty,
    Pixels,
    QuantisedDecoder,
    QuantisedEncoder,
    QuantisedObjective,
    as_floats,
)
from unmix.training import Noise, Pace, Trained, train_apart

from ._generation import SHOWN, head_of, image_shape, trained_alone
from ._latent_estimator import Factory, LatentEstimator, build
from ._recipe import check_values, paced, with_penalty

SPACES = ("pixels", "vq")
_BASE = 16  # the side to which the noise schedule refers
_SETTLED = 1024  # images that tell the scale of vectors
_SPACE_LR, _MANY = 2e-3, 10**6


@final
class EncDiff(LatentEstimator):
    """Diffusion model of images whose only knowledge of an image are n_components scalars.

    An encoder maps an image to scalars; each becomes a token by a perceptron of its own; a U-Net asks the
    tokens by cross-attention while it tells the noise in a noisy image. The objective is E |noise -
    U-Net(x_t, t, tokens)|^2, encoder and U-Net together, and where asked a penalty on the way from scalars to
    what the U-Net tells. No theorem says that the scalars are the factors.

    Parameters
    ----------
    n_components : int
        Number of scalars, and of tokens.
    space : {"pixels", "vq"}
        Where the diffusion runs: on pixels, or on the grid of vectors of a small quantised autoencoder, which
        is trained first.
    target : {"noise", "velocity"}
        Whose squared error is lowered: that of the noise, as published, or that of a_t noise - s_t image, in
        which the noisiest images count as much as others. Codes tell most of these, and are learnt sooner.
    penalty : callable (decoder, z) -> scalar, optional
        On the function from scalars to what the U-Net tells of a noisy image, such as
        `partial(dependency_sparsity, columns=1, step=0.1, normalize="std")` or `latent_sparsity`.
    penalty_weight : float or callable
        Its weight, or a schedule from step to weight; the penalty is taken for each entry of an image.
    through : {"noise", "image"}
        Whether the penalty looks at the noise that the U-Net tells, or at the image that is left without it.
    penalty_share : float
        Part of each batch that the penalty looks at.
    encoder : callable (shape, n_out) -> Module
        Network factory.
    network : callable (shape, token_size) -> Module
        Network factory of the U-Net, as `unmix.nn.unet`.
    token_size : int
        Length of a token.
    n_times : int
        Steps of the noise schedule, a cosine; it is shifted to more noise for images of more than 16 pixels.
    sampling_steps : int
        Steps of DDIM from noise to an image in `inverse_transform`. Published: 200.
    n_values, code_size, space_steps, space_widths
        Of the quantised autoencoder, where space="vq": vectors in its codebook, their length, steps of its
        training, and channels at each halving.
    ema : float
        Decay of the average of all weights, which the fitted model has.
    samples : path-like, optional
        Folder in which sheets of pictures are written while the model trains: images, and below them what
        their scalars give.
    weight_decay, clip_value, matrix_lr, schedule, precision, max_iter, max_steps, batch_size, lr, device
        As for `Autoencoder`; `EncDiff.preset("yang2024")` has the published sizes.
    checkpoint, verbose, random_state
        As for `Autoencoder`.

    Attributes
    ----------
    encoder_, decoder_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`; `transform` returns the scalars, `inverse_transform` draws images by DDIM from
        one fixed noise. To swap factors between images, swap scalars.

    Examples
    --------
    >>> import numpy as np
    >>> from unmix.nn import unet
    >>> X = np.random.default_rng(0).integers(0, 255, (32, 8, 8, 3), dtype=np.uint8)
    >>> small = partial(unet, widths=(8, 8), n_blocks=1, attention=(1,), heads=2)
    >>> model = EncDiff(4, network=small, max_iter=2, sampling_steps=4, random_state=0).fit(X)
    >>> model.transform(X).shape, model.inverse_transform(model.transform(X[:2])).shape
    ((32, 4), (2, 8, 8, 3))

    References
    ----------
    Yang et al. (2024), Diffusion model with cross attention as an inductive bias for disentanglement,
    arXiv:2402.09712; penalties as in Zheng et al. (2026), Table 1, arXiv:2604.17568.
    """

    takes = ("images",)

    def __init__(
        self,
        n_components: int = 20,
        *,
        space: str = "pixels",
        target: str = "noise",
        penalty: Penalty | None = None,
        penalty_weight: float | Callable[[int], float] = 0.05,
        through: str = "noise",
        penalty_share: float = 0.125,
        encoder: Factory = leaky_encoder,
        network: Factory = unet,
        token_size: int = 32,
        n_times: int = 1000,
        sampling_steps: int = 10,
        n_values: int = 512,
        code_size: int = 3,
        space_steps: int = 5000,
        space_widths: tuple[int, ...] = (64, 128),
        ema: float = 0.999,
        samples: Any = None,
        weight_decay: float = 0.0,
        clip_value: float | None = None,
        matrix_lr: float | None = None,
        schedule: str | Callable[[int], float] | None = None,
        precision: str | None = None,
        max_iter: int = 50,
        max_steps: int | None = None,
        batch_size: int = 64,
        lr: float = 2e-4,
        device: str = "auto",
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.space = space
        self.target = target
        self.penalty = penalty
        self.penalty_weight = penalty_weight
        self.through = through
        self.penalty_share = penalty_share
        self.encoder = encoder
        self.network = network
        self.token_size = token_size
        self.n_times = n_times
        self.sampling_steps = sampling_steps
        self.n_values = n_values
        self.code_size = code_size
        self.space_steps = space_steps
        self.space_widths = space_widths
        self.ema = ema
        self.samples = samples
        self.weight_decay = weight_decay
        self.clip_value = clip_value
        self.matrix_lr = matrix_lr
        self.schedule = schedule
        self.precision = precision
        self.max_iter = max_iter
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.lr = lr
        self.device = device
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _networks(self, shape: Any) -> DiffusionObjective:
        shape = self._checked(shape)
        space = Pixels(shape) if self.space == "pixels" else self._grids(shape)
        decoder = DiffusionDecoder(
            ScalarTokens(self.n_components_, self.token_size),
            self.network(space.shape, self.token_size),
            space,
            n_times=self.n_times,
            shift=min(1.0, _BASE / min(space.shape[:2])),
            n_steps=self.sampling_steps,
        )
        encoder = self.encoder(shape, self.n_components_)
        asked = {"penalty": self.penalty, "through": self.through, "share": self.penalty_share}
        return DiffusionObjective(encoder, decoder, target=self.target, **asked)  # type: ignore[arg-type]

    def _grids(self, shape: tuple[int, ...]) -> Grids:
        """Build the quantised autoencoder, untrained."""
        halved = len(self.space_widths)
        grid = (shape[0] >> halved, shape[1] >> halved, self.code_size)
        places, n_values = grid[0] * grid[1], self.n_values
        values = torch.empty(1, n_values, self.code_size).uniform_(-1 / n_values, 1 / n_values)
        book, size = Codebook(values, places), places * self.code_size
        encoder = QuantisedEncoder(grid_encoder(shape, size, widths=self.space_widths), book)
        network = grid_decoder(size, shape, widths=self.space_widths[::-1])
        return Grids(encoder, QuantisedDecoder(book, network), grid)

    def _train(self, x: Any, pace: Pace) -> Trained:
        (member,) = build(self._networks, 1, x, pace.seed)
        if self.space == "vq":
            self._learn_space(member.decoder.space, x, pace)  # type: ignore[arg-type]
        draw = partial(_reconstructed, member, as_floats(head_of(x, SHOWN)))
        watched = {"ema": self.ema, "samples": self.samples, "draw": draw}
        return trained_alone(member, with_penalty(self, {}), x, paced(self, pace), **watched)

    def _learn_space(self, grids: Grids, x: Any, pace: Pace) -> None:
        """Train the quantised autoencoder, and leave it as it is from then on."""
        objective = QuantisedObjective(grids.encoder, grids.decoder)  # type: ignore[arg-type]
        folder, weights = pace.folder("space"), {"quantisation": 1.0, "commitment": 0.25}
        pace = replace(pace, max_iter=_MANY, max_steps=self.space_steps, lr=_SPACE_LR, checkpoint=folder)
        train_apart([objective], weights, x, pace, beside=Noise(1))
        grids.settle(head_of(x, _SETTLED))

    def _checked(self, shape: Any) -> tuple[int, ...]:
        for name, known in (("space", SPACES), ("target", TARGETS), ("through", THROUGH)):
            if getattr(self, name) not in known:
                raise ValueError(f"`{name}` must be one of {known}, got {getattr(self, name)!r}. Choose one.")
        if not 0 < self.penalty_share <= 1:
            raise ValueError(f"`penalty_share` must be above 0 and at most 1, got {self.penalty_share!r}.")
        for name in ("token_size", "n_times", "sampling_steps", "n_values", "code_size", "space_steps"):
            check_values(getattr(self, name), 1, name)
        return image_shape(self, shape)


def _reconstructed(member: nn.Module, images: Tensor) -> Tensor:
    """Return images, and below them what their codes give."""
    return torch.cat([images, member.decoder(member.encoder(images))])  # type: ignore[operator]
