"""The variational autoencoder whose prior is a mixture of Gaussians."""

from functools import partial
from numbers import Integral
from typing import Any, final

from torch import Tensor, nn

from unmix.nn import mlp
from unmix.objectives import MixtureOfGaussians, Objective, VaDEObjective
from unmix.training import Noise, Pace, Trained, train_restarts

from ._latent_estimator import Factory, LatentEstimator, build

OUTPUTS = ("sigmoid", "linear")
published_encoder = partial(mlp, hidden=(512, 512, 2048), activation="relu")
published_decoder = partial(mlp, hidden=(2048, 512, 512), activation="relu")


@final
class VaDE(LatentEstimator):
    """Variational deep embedding: an autoencoder whose latents follow a mixture of Gaussians.

    The objective is ||x - decoder(z)||^2 + beta KL(q(z, c|x) || p(z, c)), with x standardised, c the
    component of the mixture and q(c|x) its posterior at the drawn z. Components are axis-aligned and never
    degenerate. A baseline: in the published comparison it runs on the code of a first stage.

    Parameters
    ----------
    n_components : int or "auto"
        Number of latents; "auto" looks for where those of a table end, see `unmix.choose`.
    n_classes : int, optional
        Components of the mixture, by default five for each latent.
    output : {"sigmoid", "linear"}
        Last layer of the decoder. The published recipe ends in a sigmoid, which cannot reach real-valued data
        outside (0, 1); "linear" can.
    beta : float
        Weight of the KL term, against squared errors of standardised data; 1 as published.
    encoder, decoder : callable (n_in, n_out) -> Module
        Network factories, by default as published: hidden layers of 512, 512 and 2048, and back. The encoder
        factory is asked for 2 n_components outputs.
    n_restarts, max_iter, batch_size, lr, device, checkpoint, verbose, random_state
        As for `Autoencoder`; learning rate and batch size as published.

    Attributes
    ----------
    weights_, means_, variances_ : arrays of shape (k,), (k, n_components), (k, n_components)
        The mixture; components are axis-aligned.
    encoder_, decoder_, structure_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`; `transform` returns posterior means.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) @ np.array([[1., 1., 0.], [0., 1., 1.]])
    >>> model = VaDE(2, output="linear", max_iter=5, random_state=0).fit(X)
    >>> model.transform(X).shape, model.weights_.shape
    ((200, 2), (10,))

    References
    ----------
    Jiang et al. (2017), Variational deep embedding, Eq. (14) and (16), arXiv:1611.05148; as a baseline for
    latents that are mixtures: Kivva et al. (2022), arXiv:2206.10044; Xu, Lachapelle and Magliacane (2026),
    Section 5, arXiv:2604.13218.
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        n_classes: int | None = None,
        output: str = "sigmoid",
        beta: float = 1.0,
        encoder: Factory = published_encoder,
        decoder: Factory = published_decoder,
        n_restarts: int = 1,
        max_iter: int = 200,
        batch_size: int = 6144,
        lr: float = 1e-4,
        device: str = "auto",
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_classes = n_classes
        self.output = output
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

    def fit(self, X: Any, y: Any = None) -> "VaDE":
        """Fit the model; arguments as for `Autoencoder`."""
        if self.output not in OUTPUTS:
            raise ValueError(f"`output` must be one of {OUTPUTS}, got {self.output!r}. Choose one of these.")
        k = 1 if self.n_classes is None else self.n_classes
        if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
            raise ValueError(f"`n_classes` must be None or an integer of at least 1, got {k!r}.")
        super().fit(X, y)
        return self

    def _networks(self, n_features: int) -> VaDEObjective:
        n = self.n_components_
        decoder = self.decoder(n, n_features)
        if self.output == "sigmoid":
            decoder = nn.Sequential(decoder, nn.Sigmoid())
        prior = MixtureOfGaussians(5 * n if self.n_classes is None else self.n_classes, n)
        return VaDEObjective(self.encoder(n_features, 2 * n), decoder, prior)

    def _train(self, x: Tensor, pace: Pace) -> Trained:
        members = build(self._networks, self.n_restarts, x, pace.seed)
        trained = train_restarts(members, {"kl": self.beta}, x, pace, beside=Noise(self.n_components_))
        self._describe(trained.objective)
        return trained

    def _describe(self, objective: Objective) -> None:
        prior: Any = objective.prior
        self.weights_ = prior.logits.double().softmax(0).cpu().numpy()
        self.means_ = prior.means.double().cpu().numpy()
        self.variances_ = prior.log_variances.double().exp().cpu().numpy()
