"""A variational autoencoder whose codes a critic can't tell from shuffled ones."""

from collections.abc import Callable
from functools import partial
from typing import Any, final

from unmix.nn import mlp, residual_mlp
from unmix.objectives import CriticObjective, Penalty, likely
from unmix.training import Noise, Pace, Player, Trained, train_apart

from ._latent_estimator import Factory, LatentEstimator, build
from ._recipe import check_loss, kl_weight, paced, with_penalty

published_critic = partial(mlp, hidden=(1000,) * 6, activation="leaky_relu")
_BETAS = (0.5, 0.9)  # of the critic's Adam


@final
class FactorVAE(LatentEstimator):
    """Variational autoencoder whose total correlation is lowered, as estimated by a critic.

    The objective is reconstruction + kl_weight (KL(q(z|x) || N(0, I)) + gamma TC), where TC = KL(q(z) ||
    prod_j q(z_j)). The critic, a perceptron, learns to tell codes from codes with shuffled columns, and moves
    in turn with the autoencoder. Independent codes alone identify nothing.

    Parameters
    ----------
    n_components : int or "auto"
        Number of latents; "auto" looks for where those of a table end, see `unmix.choose`.
    gamma : float
        Weight of the total correlation beside the KL term. Published: 10 to 100.
    kl_weight : float, optional
        Weight of the KL term beside the reconstruction. By default 1 for "bernoulli", and for squared errors
        of standardised data 0.005, about twice the noise variance.
    critic : callable (n_in, n_out) -> Module
        Network factory of the critic, by default six layers of 1000 as published.
    critic_lr : float
        Its learning rate.
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
        2 n_components outputs, and `FactorVAE.preset("locatello2019")` has the published sizes for images.

    Attributes
    ----------
    encoder_, decoder_, structure_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`; `transform` returns posterior means.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) @ np.array([[1., 1., 0.], [0., 1., 1.]])
    >>> FactorVAE(2, max_iter=20, random_state=0).fit_transform(X).shape
    (200, 2)

    References
    ----------
    Kim and Mnih (2018), Disentangling by factorising, Algorithm 2, arXiv:1802.05983; sizes of Locatello et
    al. (2019), Challenging common assumptions, arXiv:1811.12359.
    """

    takes = ("tables", "images", "rows")

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        gamma: float = 10.0,
        kl_weight: float | None = None,
        critic: Factory = published_critic,
        critic_lr: float = 1e-4,
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
        self.gamma = gamma
        self.kl_weight = kl_weight
        self.critic = critic
        self.critic_lr = critic_lr
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

    def _networks(self, shape: Any) -> CriticObjective:
        n, loss = self.n_components_, check_loss(self, shape)
        encoder, decoder = self.encoder(shape, 2 * n), likely(self.decoder(n, shape), loss)
        return CriticObjective(encoder, decoder, self.critic(n, 2), loss=loss, penalty=self.penalty)

    def _train(self, x: Any, pace: Pace) -> Trained:
        members = build(self._networks, self.n_restarts, x, pace.seed)
        weight = kl_weight(self)
        weights = with_penalty(self, {"kl": weight, "total_correlation": weight * self.gamma})
        beside = Noise(2 * self.n_components_)  # for the codes, and for the order of shuffled ones
        return train_apart(members, weights, x, paced(self, pace), beside=beside, players=self._players)

    def _players(self, member: CriticObjective, settings: dict[str, Any]) -> list[Player]:
        """Let the autoencoder move, then the critic."""
        own = {name: p for name, p in member.named_parameters() if not name.startswith("critic.")}
        for what in ("weight_decay", "clip_value", "matrix_lr"):
            if what in settings:
                settings[what] = {name: value for name, value in settings[what].items() if name in own}
        critic = {f"critic.{name}": p for name, p in member.critic.named_parameters()}
        return [
            Player(name="vae", loss=lambda batch: member(*batch), parameters=own, **settings),
            Player(
                name="critic",
                loss=lambda batch: member.distinguish(*batch),
                parameters=critic,
                lr=self.critic_lr,
                betas=_BETAS,
                precision=self.precision,
            ),
        ]
