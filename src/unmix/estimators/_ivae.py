"""The identifiable variational autoencoder: changes between domains, and nothing else."""

from dataclasses import replace
from typing import Any, final

import torch
from torch import Tensor

from unmix.nn import residual_mlp
from unmix.training import Noise, Pace, Trained, side_by_side, train_restarts

from ._domain_estimator import DomainEstimator
from ._latent_estimator import Factory, build


@final
class IVAE(DomainEstimator):
    """Variational autoencoder whose prior changes with the domain and whose encoder is told the domain.

    The objective is ||x - decoder(z)||^2 + beta KL(q(z|x, u) || p(z|u)) with x standardised and p(z|u) a
    product of normals, means and variances free. n latents need 2n + 1 domains that change enough; `CGVAE`
    needs fewer where the mixing is sparse.

    Parameters
    ----------
    n_components : int or "auto"
        Number of latents; "auto" looks for where those of a table end, see `unmix.choose`.
    beta : float
        Weight of the KL term, as for `BetaVAE`.
    max_iter, max_steps : int
        As for `CGVAE`.
    encoder, decoder, n_restarts, batch_size, lr, device, checkpoint, verbose, random_state
        As for `Autoencoder`; the encoder factory is asked for 2 n_components outputs from n_features +
        n_domains inputs.

    Attributes
    ----------
    domains_, n_domains_, domain_means_, domain_scales_, separation_
        As for `CGVAE`.
    encoder_, decoder_, structure_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`. `transform(X, domains=...)` returns posterior means given the domain.

    Examples
    --------
    >>> from unmix.data import multi_domain
    >>> data = multi_domain(300, n_latents=3, n_domains=3, random_state=0)
    >>> model = IVAE(3, max_iter=5, random_state=0).fit(data.x, domains=data.u)
    >>> model.transform(data.x, domains=data.u).shape
    (300, 3)

    References
    ----------
    Khemakhem, Kingma, Monti and Hyvärinen (2020), Variational autoencoders and nonlinear ICA: a unifying
    framework, Theorem 1, arXiv:1907.04809.
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        beta: float = 0.02,
        encoder: Factory = residual_mlp,
        decoder: Factory = residual_mlp,
        n_restarts: int = 1,
        max_iter: int = 100,
        max_steps: int = 4000,
        batch_size: int = 200,
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
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.lr = lr
        self.device = device
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _train(self, x: Tensor, pace: Pace, u: Any = None) -> Trained:
        pace = replace(pace, max_iter=self._passes(len(x)))
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(pace.seed)).to(x.device)
        x, u = x[order], u.to(x.device, torch.int32)[order]
        members = build(self._members, self.n_restarts, x, pace.seed)
        return train_restarts(
            members, {"likelihood": self.beta}, side_by_side(x, x, u), pace, beside=Noise(self.n_components_)
        )
