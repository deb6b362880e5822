"""CG-GAN: a generator of which few latents change with the domain, and change few pixels."""

from collections.abc import Callable
from functools import partial
from typing import Any, final

import numpy as np
import torch
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import nn

from unmix.nn import conv_encoder, style_discriminator, style_generator
from unmix.objectives import SPARSE_TERMS, CodedGenerator, FlowCode, GameObjective, LabelCode
from unmix.training import Drawn, Held, Pace, Trained

from ._domain_labels import Domains
from ._game import GameEstimator
from ._game_checks import check_game
from ._latent_estimator import Factory

CHANGES = ("flows", "labels")
_LABEL_VECTOR = 64  # entries of the discriminator's projection


@final
class CGGAN(GameEstimator):
    """Images of several domains, made from latents that change with the domain and latents that do not.

    The first `n_changing` latents are noise + m f_u(noise), with f_u an increasing function of each
    coordinate for each domain u and a learned mask m; the others are the noise itself. The generator sees
    only the latents, the discriminator images and domains. The sparse term

        E |G(z) - G(z + s step e_i)| / step,    i a latent that changes, s a random sign,

    asks for changes that move few pixels. With the same noise in two domains, an image and its counterpart
    come out: the same content, as far as that is in the latents that do not change.

    The baselines are settings: ``sparse=None`` is i-StyleGAN, ``masked=False`` has no mask, and
    ``changes="labels"`` is a conditional StyleGAN2, with a learned vector for each domain in place of the
    latents that change.

    Parameters
    ----------
    n_components : int
        Number of latents.
    n_changing : int, optional
        Number of those that may change with the domain, at least 2 and at most n_components - 2; half of all
        by default.
    changes : {"flows", "labels"}
        How the domain acts.
    masked : bool
        Whether the mask is learned.
    mask : float
        Weight of its mean absolute size.
    sparse : {"intended", "released", None}
        The sparse term as above; or as the public code has it, with the unperturbed code twice, different
        noise and no division, which measures noise; or none.
    weight : float
        Its weight. The published code has 0.1 without the division by the step, which is 0.01 here.
    step : float
        Its step.
    r1, path, augment, ema, inversion, samples, encoder, decoder, critic
        As for `GAN`.
    max_iter, max_steps, batch_size, lr, precision, device, checkpoint, verbose, random_state
        As for `GAN`.

    Attributes
    ----------
    domains_ : array of shape (n_domains_,)
        Labels.
    domain_specific_ : bool array of shape (n_components,)
        The latents that change with the domain.
    importance_ : array of shape (n_changing,)
        The mask before it is cut at 0.1.
    domain_means_, domain_scales_ : arrays of shape (n_domains_, n_components)
        Of the codes of the images that the model was fitted to.
    decoder_, encoder_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `GAN`.

    Examples
    --------
    >>> images = np.random.default_rng(0).random((16, 8, 8, 1)).astype("float32")
    >>> small = {"decoder": partial(style_generator, widths=(8, 8), style=8),
    ...          "critic": partial(style_discriminator, widths=(8, 8)),
    ...          "encoder": partial(conv_encoder, widths=(8,), dense=(8,))}
    >>> model = CGGAN(6, n_changing=3, **small, max_steps=2, batch_size=8, random_state=0)
    >>> model = model.fit(images, domains=["day", "night"] * 8)
    >>> model.sample(3, domains="night", random_state=0).shape, model.domain_specific_.tolist()
    ((3, 8, 8, 1), [True, True, True, False, False, False])

    References
    ----------
    Li et al. (2025), Synergy Between Sufficient Changes and Sparse Mixing Procedure, Section 4 (CG-GAN),
    arXiv:2503.00639, of which only a summary and the public code were at hand; Xie, Kong, Gong and Zhang
    (2023), Multi-domain image generation and translation with identifiability guarantees (i-StyleGAN).
    """

    needs_domains = True

    def __init__(
        self,
        n_components: int = 64,
        *,
        n_changing: int | None = None,
        changes: str = "flows",
        masked: bool = True,
        mask: float = 0.1,
        sparse: str | None = "intended",
        weight: float = 0.01,
        step: float = 0.1,
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
        self.n_changing = n_changing
        self.changes = changes
        self.masked = masked
        self.mask = mask
        self.sparse = sparse
        self.weight = weight
        self.step = step
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

    def fit(self, X: Any, y: Any = None, *, domains: Any = None) -> "CGGAN":
        """Fit the model.

        Parameters
        ----------
        X : uint8 or float array of shape (n_samples, height, width, channels)
            Images; floats in [0, 1].
        y : array-like of shape (n_samples,), optional
            The domains, where they come as the target of a scikit-learn tool.
        domains : array-like of shape (n_samples,), optional
            The domain of each image, a label of any kind. It goes first where both are given.

        Returns
        -------
        self
        """
        self._check()
        self._part(X)
        known, u = Domains.read(y if domains is None else domains, len(X), 2)
        self.domain_text_, self.domain_cuts_ = known
        self.domain_shares_ = np.bincount(u) / len(u)
        self._fit(X, partial(self._train, u=torch.as_tensor(u)))
        codes = self.transform(X)
        parts = [codes[u == domain] for domain in range(self.n_domains_)]
        self.domain_means_ = np.array([part.mean(0) for part in parts])
        self.domain_scales_ = np.array([part.std(0) for part in parts])
        return self

    def sample(self, n: int = 1, *, domains: Any = None, random_state: Any = None) -> np.ndarray:
        """Return n images of fresh latents, of the type that the model was fitted on.

        Parameters
        ----------
        n : int
        domains : a label, or array-like of shape (n,), optional
            The domain of each image; by default domains are drawn as often as they were seen. With one
            `random_state`, images of several domains are made from the same noise.
        random_state : int, RandomState or None

        Returns
        -------
        array of shape (n, height, width, channels)
        """
        check_is_fitted(self)
        return self._made(n, self._numbers(n, domains, random_state), random_state)

    @property
    def domains_(self) -> np.ndarray:
        """The labels of the domains, in the order of `domain_means_`."""
        return np.array(Domains(self.domain_text_, self.domain_cuts_).names)

    @property
    def n_domains_(self) -> int:
        """The number of domains."""
        return len(self.domain_shares_)

    @property
    def importance_(self) -> np.ndarray:
        """How much each latent that may change with the domain does; ones without a learned mask."""
        code = self.decoder_.code
        return np.ones(code.n_changing) if self.changes == "labels" else code.importance.detach().numpy()

    @property
    def domain_specific_(self) -> np.ndarray:
        """Which latents change with the domain, shape (n_components,)."""
        found = np.zeros(self.n_components_, dtype=bool)
        found[: self.decoder_.code.n_changing] = self.decoder_.code.active.numpy()
        return found

    @property
    def _n_changing(self) -> int:
        return self.n_components // 2 if self.n_changing is None else self.n_changing  # type: ignore[operator]

    def _check(self) -> None:
        """Check the settings before any work is done."""
        check_game(self)
        for name, known in (("changes", CHANGES), ("sparse", SPARSE_TERMS)):
            if getattr(self, name) not in known:
                raise ValueError(f"`{name}` must be one of {known}, got {getattr(self, name)!r}. Choose one.")
        if not 2 <= self._n_changing <= self.n_components - 2:  # type: ignore[operator]
            raise ValueError(
                f"`n_changing` must be from 2 to n_components - 2 = {self.n_components - 2}, got "  # type: ignore[operator]
                f"{self._n_changing}. Each group is scaled to unit length: one latent alone is a sign."
            )
        if not self.step > 0:
            raise ValueError(f"`step` must be above 0, got {self.step!r}. Use 0.1, say.")

    def _numbers(self, n: int, domains: Any, random_state: Any) -> np.ndarray:
        """Return the numbers of the domains to make images of."""
        if domains is None:
            return check_random_state(random_state).choice(self.n_domains_, size=n, p=self.domain_shares_)
        labels = [domains] * n if np.ndim(domains) == 0 else domains
        u = Domains(self.domain_text_, self.domain_cuts_).number(labels)
        if len(u) != n or (u < 0).any():
            raise ValueError(
                f"`domains` must be one of {self.domains_.tolist()} for each of {n} images, got {domains!r}."
            )
        return u

    def _weights(self) -> dict[str, float]:
        sparse = {} if self.sparse is None else {"sparsity": self.weight}
        return {"path": self.path} | sparse | ({"mask": self.mask} if self._masked else {})

    @property
    def _masked(self) -> bool:
        return self.masked and self.changes == "flows"

    def _networks(self, shape: Any) -> GameObjective:
        n, n_domains = self.n_components_, self.n_domains_
        flows = partial(FlowCode, masked=self.masked)
        code = (flows if self.changes == "flows" else LabelCode)(self._n_changing, n_domains)
        return GameObjective(
            CodedGenerator(code, self.decoder(n, shape)),
            self.critic(shape, _LABEL_VECTOR, n_labels=n_domains),
            self.encoder(shape, n),
            n_noise=n,
            sparse=self.sparse,
            step=self.step,
            target=self.augment,
        )

    def _train(self, x: Any, pace: Pace, u: Any = None) -> Trained:
        if isinstance(x, Drawn):
            raise ValueError("`X` must fit in memory for CGGAN, got more images than that. Take fewer.")
        return self._play(x, pace, Held(x, u.to(x.device, torch.int32)))

    def _sheet_domains(self) -> int:
        return self.n_domains_
