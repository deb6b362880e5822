"""Directions in a frozen generator, and an encoder that tells them apart."""

import json
from collections.abc import Callable
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn

from unmix.nn import leaky_encoder, style_discriminator, style_generator
from unmix.objectives import SPARSE, ContrastObjective, Navigator, ReadBack, Rendering, in_chunks
from unmix.training import Drawn, Noise, Pace, Trained, train_watched

from . import _images
from ._gan import GAN
from ._generation import SHOWN, image_shape
from ._latent_estimator import Factory, LatentEstimator, build
from ._recipe import check_values, paced
from ._samples import Samples
from ._settings import decode, storable

_BANK = 8192  # latents of the generator that are shifted, and that the way back is fitted to
_CHUNK = 256
_FITTED = 50_000  # images at most that a generator of its own sees where they are drawn


@final
class DisCo(LatentEstimator):
    """Encoder that tells apart what orthogonal directions in the latents of a frozen generator change.

    A navigator has directions A = expm(M - M'), of which n_components are used; images G(w) and G(w + e A_d)
    go through the encoder; changes along one direction are to be alike and along others to differ (a
    contrastive loss with hard negatives flipped), and each of them in few codes. The encoder's output is the
    representation. No theorem says that the codes are the factors.

    Parameters
    ----------
    n_components : int
        Number of directions and of codes, at most the number of the generator's latents.
    generator : path-like, or callable (n_in, shape_out) -> StyleGenerator
        File of a fitted model of images of the same shape: a `GAN`, whose styles w are shifted, or any other
        model with a decoder, such as a `BetaVAE`, whose codes are. It does not learn any more. With a network
        factory a GAN is trained on X first.
    critic, generator_steps
        Factory of that GAN's discriminator, and steps of its training.
    sparse : {None, "latent", "dependency"}
        Sparsity beside the contrast: none, of the codes (L1), or of the generator's Jacobian along the
        directions, estimated by the secants that are rendered anyway.
    sparse_weight : float or callable
        Its weight, or a schedule from step to weight.
    sparse_step : float, optional
        Length of a small shift, rendered in addition, whose secants take the place of those: where the
        dependency is to be local.
    dominance : float
        Weight of the entropy of changes, which lets one code stand out in each.
    shift : float
        Standard deviation of shifts, in standard deviations of the generator's latents. Published: 6.
    encoder : callable (shape, n_out) -> Module
        Network factory.
    samples : path-like, optional
        Folder in which sheets of pictures are written while the model trains: one image shifted to and fro
        along eight directions; of a GAN that is trained first in its subfolder `generator`.
    weight_decay, clip_value, matrix_lr, schedule, precision, max_iter, max_steps, batch_size, lr, device
        As for `Autoencoder`; a pass is one over 8,192 latents of the generator. A quarter of a batch are
        queries, a quarter positives, half negatives. `DisCo.preset("ren2022")` has the published sizes.
    checkpoint, verbose, random_state
        As for `Autoencoder`.

    Attributes
    ----------
    directions_ : array of shape (n_latents, n_components)
        Of the generator.
    generator_ : str
        Class and settings of the generator, as JSON.
    encoder_, decoder_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`; `inverse_transform` goes from codes to the generator's latents by least squares,
        and from there to images.

    Examples
    --------
    >>> import tempfile
    >>> import unmix
    >>> X = np.random.default_rng(0).integers(0, 255, (32, 8, 8, 3), dtype=np.uint8)
    >>> path = unmix.BetaVAE(6, max_iter=2, random_state=0).fit(X).save(tempfile.mkdtemp() + "/vae")
    >>> model = DisCo(4, generator=path, max_steps=2, batch_size=8, random_state=0).fit(X)
    >>> model.transform(X).shape, model.directions_.shape
    ((32, 4), (6, 4))

    References
    ----------
    Ren et al. (2022), Learning disentangled representation by exploiting pretrained generative models: a
    contrastive learning view, arXiv:2102.10543; sparsity as in Zheng et al. (2026), Table 1,
    arXiv:2604.17568.
    """

    takes = ("images",)

    def __init__(
        self,
        n_components: int = 20,
        *,
        generator: Any = style_generator,
        critic: Callable[..., nn.Module] = style_discriminator,
        generator_steps: int = 20_000,
        sparse: str | None = None,
        sparse_weight: float | Callable[[int], float] = 0.1,
        sparse_step: float | None = None,
        dominance: float = 1.0,
        shift: float = 6.0,
        encoder: Factory = leaky_encoder,
        samples: Any = None,
        weight_decay: float = 0.0,
        clip_value: float | None = None,
        matrix_lr: float | None = None,
        schedule: str | Callable[[int], float] | None = None,
        precision: str | None = None,
        max_iter: int = 200,
        max_steps: int | None = None,
        batch_size: int = 128,
        lr: float = 1e-4,
        device: str = "auto",
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.generator = generator
        self.critic = critic
        self.generator_steps = generator_steps
        self.sparse = sparse
        self.sparse_weight = sparse_weight
        self.sparse_step = sparse_step
        self.dominance = dominance
        self.shift = shift
        self.encoder = encoder
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

    def _networks(self, shape: Any) -> ContrastObjective:
        shape, n = image_shape(self, shape), self.n_components_
        rendering = Rendering(_untrained(self.generator_, shape))
        with torch.no_grad():
            n_latents = rendering.start(torch.zeros(1, json.loads(self.generator_)["n_components"])).shape[1]
        if n > n_latents:
            raise ValueError(
                f"`n_components` must be at most the generator's {n_latents} latents, got {n}. Ask for fewer."
            )
        decoder = ReadBack(rendering, n, n_latents)
        return ContrastObjective(
            self.encoder(shape, n),
            Navigator(n_latents, n),
            decoder,
            sparse=self.sparse,
            step=self.sparse_step,
        )

    def _train(self, x: Any, pace: Pace) -> Trained:
        self._check()
        fitted = self._fitted_generator(x, pace)
        self.generator_ = _described(fitted)
        (member,) = build(self._networks, 1, x, pace.seed)
        rendering = member.decoder.rendering.requires_grad_(False)
        rendering.generator.load_state_dict(fitted.decoder_.state_dict())
        w = in_chunks(rendering.eval().start, _codes(fitted, x, pace), _CHUNK)
        member.shift = self.shift * float(w.std(0).square().mean().sqrt())
        trained = self._contrasted(member, w, paced(self, pace))
        self.directions_ = member.navigator().detach().cpu().double().numpy()
        codes = in_chunks(lambda w: member.encoder(rendering(w)), w, _CHUNK)
        member.decoder.settle(codes, w)
        return trained

    def _contrasted(self, member: ContrastObjective, w: Tensor, pace: Pace) -> Trained:
        weights: dict[str, Any] = {"dominance": self.dominance}
        weights |= {} if self.sparse is None else {"sparsity": self.sparse_weight}
        member.decoder.linear.requires_grad_(False)  # fitted at the end
        steps, draw = pace.steps(len(w)), partial(_shifted, member, w[:1])
        watch = None if self.samples is None else Samples(self.samples, draw, steps, member)
        return train_watched(member, weights, w, pace, beside=Noise(1), on_step=watch)

    def _fitted_generator(self, x: Any, pace: Pace) -> Any:
        """Return the model whose decoder is the generator."""
        shape = image_shape(self, tuple(x.head(1)[0].shape[1:] if isinstance(x, Drawn) else x.shape[1:]))
        if callable(self.generator):
            return self._own_generator(x.head(_FITTED)[0] if isinstance(x, Drawn) else x, pace)
        from ._storage import load

        fitted = load(self.generator)
        known = tuple(getattr(fitted, "image_shape_", np.array([])).tolist())
        if known != shape or not hasattr(fitted, "decoder_"):
            raise ValueError(
                f"`generator` must be a model of images of shape {shape}, got {type(fitted).__name__} of "
                f"{known or 'tables'}. Fit one on images of this shape."
            )
        return fitted

    def _own_generator(self, images: Tensor, pace: Pace) -> GAN:
        """Train a GAN; its encoder, which nobody asks, for one step only."""
        gan = GAN(decoder=self.generator, critic=self.critic, encoder=self.encoder, inversion=1e-9)
        run = {"device": self.device, "checkpoint": pace.folder("generator"), "random_state": pace.seed}
        steps = {"max_steps": self.generator_steps, "max_iter": 10**6, "precision": self.precision}
        if self.samples is not None:
            run["samples"] = Path(self.samples) / "generator"
        return gan.set_params(**run, **steps).fit(images)

    def _check(self) -> None:
        if self.sparse not in SPARSE:
            raise ValueError(f"`sparse` must be one of {SPARSE}, got {self.sparse!r}. Choose one of these.")
        for name in ("shift", "sparse_step"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"`{name}` must be a number above 0, got {value!r}.")
        if not callable(self.generator) and not isinstance(self.generator, str | PathLike):
            raise TypeError(
                f"`generator` must be the file of a fitted model of images or a network factory, got "
                f"{self.generator!r}. Save a `GAN` and name its file, or leave it out."
            )
        check_values(self.n_components_, 2, "n_components")
        check_values(self.batch_size, 4, "batch_size")
        check_values(self.generator_steps, 1, "generator_steps")


def _described(fitted: Any) -> str:
    """Return class and settings of a model, from which its networks can be built again."""
    left_out = {"checkpoint": None, "samples": None, "random_state": None}
    settings = {
        k: storable(k, v)
        for k, v in (fitted.get_params(deep=False) | left_out).items()
        if k in fitted.get_params()
    }
    known = {"class": type(fitted).__name__, "n_components": int(fitted.n_components_), "settings": settings}
    if hasattr(fitted, "domain_shares_"):
        known["domain_shares"] = fitted.domain_shares_.tolist()
    return json.dumps(known)


def _untrained(description: str, shape: Any) -> nn.Module:
    """Build the decoder that a description stands for."""
    from unmix import estimators

    given = json.loads(description)
    settings = {name: decode(value, ()) for name, value in given["settings"].items()}
    model = getattr(estimators, given["class"])(**settings)
    if "domain_shares" in given:
        model.domain_shares_ = np.array(given["domain_shares"])
    return model._networks(shape).decoder


def _codes(fitted: Any, x: Any, pace: Pace) -> Tensor:
    """Return codes of the generator to begin with: normal ones, or those of images it was fitted on."""
    place = x.head(1)[0].device if isinstance(x, Drawn) else x.device
    if isinstance(fitted, GAN):
        return torch.randn(_BANK, fitted.n_components_, generator=pace.generator(3)).to(place)
    images = x.head(_BANK)[0] if isinstance(x, Drawn) else x[:: max(1, len(x) // _BANK)][:_BANK]
    return torch.as_tensor(fitted.transform(images), dtype=_images.PRECISION, device=place)


def _shifted(member: ContrastObjective, w: Tensor) -> Tensor:
    """Return one image shifted to and fro along the first eight directions."""
    along = member.navigator().mT[torch.arange(SHOWN, device=w.device) % member.navigator.n_directions]
    return member.decoder.rendering(torch.cat([w - member.shift * along, w + member.shift * along]))
