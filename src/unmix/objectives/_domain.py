"""The objective of a model whose code has a law of its own in each domain."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from unmix.nn import value_and_jacobian

from ._domain_priors import DomainGaussian
from ._vae import _LOG_VARIANCE, _START_LOG_VARIANCE, Objective, Penalty


class DomainEncoder(nn.Module):
    """An encoder that sees the domain: a network of (x, one-hot domain), and the law of the code given it.

    Called with x alone it tries every domain and keeps the code that is likeliest under its own domain's law.
    """

    def __init__(self, net: nn.Module, prior: DomainGaussian, n_components: int) -> None:
        super().__init__()
        self.net, self.prior, self.n_components = net, prior, n_components

    def given(self, x: Float[Tensor, "n x"], u: Int[Tensor, " n"]) -> Float[Tensor, "n out"]:
        """Return the outputs for samples of known domains."""
        return self.net(torch.cat([x, F.one_hot(u.long(), len(self.prior.shares)).to(x)], dim=1))

    def forward(self, x: Float[Tensor, "n x"]) -> Float[Tensor, "n out"]:
        """Return the outputs under the likeliest domain of each sample."""
        domains = torch.arange(len(self.prior.shares), device=x.device)
        each = [domain.expand(len(x)) for domain in domains]
        outputs = torch.stack([self.given(x, u) for u in each])
        likely = torch.stack(
            [
                math.log(share) + self.prior(out[:, : self.n_components], u)
                for share, out, u in zip(self.prior.shares, outputs, each, strict=True)
            ]
        )
        return outputs[likely.argmax(0), torch.arange(len(x), device=x.device)]


class DomainObjective(Objective):
    """Reconstruction, the fit of the code's law in each domain, and where asked a penalty on the decoder.

    Batches are what the encoder sees, x, and the number of the domain. Without sampling the
    encoder sees as many coordinates w of x as there are latents, and the fit is their exact likelihood,

        log p(w|u) = log p(z|u) + log |det dz/dw|,   z = encoder(w).

    Where so few coordinates lose too much, the encoder sees all of x, which lies on a surface with tangent
    spaces T, given as orthonormal bases beside x (`on_surface`, `beside_tangents`), and dz/dw is (dz/dx) T.

    With sampling (`variational`) the encoder sees x, and the fit is the Monte Carlo estimate of
    KL(q(z|x) || p(z|u)) of the evidence lower bound.

    References
    ----------
    Li et al. (2025), Synergy Between Sufficient Changes and Sparse Mixing Procedure, Equations 8 and 9,
    arXiv:2503.00639.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        n_components: int,
        prior: DomainGaussian,
        *,
        variational: bool = False,
        on_surface: bool = False,
        penalty: Penalty | None = None,
    ) -> None:
        super().__init__(encoder, decoder, n_components, variational=variational, penalty=penalty)
        self.on_surface = on_surface
        if not isinstance(encoder, DomainEncoder):
            self.own_prior = prior

    @property
    def prior(self) -> DomainGaussian:
        """The law of the code given the domain."""
        return self.encoder.prior if isinstance(self.encoder, DomainEncoder) else self.own_prior

    def forward(  # type: ignore[override]  # a batch has domains, too
        self,
        w: Float[Tensor, "n w"],
        x: Float[Tensor, "n x"],
        u: Int[Tensor, " n"],
        noise: Float[Tensor, "n z"],
    ) -> dict[str, Tensor]:
        """Return the terms, unweighted."""
        if self.variational:
            return self._bound(x, u, self._encoded(w, u), noise)
        z, J = value_and_jacobian(self.encoder, self._seen(w))
        slopes = J @ tangents_beside(w, self.n_components) if self.on_surface else J
        log_density = self.prior(z, u) + torch.linalg.slogdet(slopes)[1]
        return {"likelihood": -log_density.mean()} | self._common(x, self.decoder(z), z)

    def _bound(self, x: Tensor, u: Tensor, out: Tensor, noise: Tensor) -> dict[str, Tensor]:
        mean, log_variance = out.split(self.n_components, dim=1)
        log_variance = (log_variance + _START_LOG_VARIANCE).clamp(*_LOG_VARIANCE)
        z = mean + (log_variance / 2).exp() * noise
        log_q = -0.5 * (noise.square() + log_variance + math.log(2 * math.pi)).sum(1)
        return {"likelihood": (log_q - self.prior(z, u)).mean()} | self._common(x, self.decoder(z), z)

    def _common(self, x: Tensor, decoded: Tensor, z: Tensor) -> dict[str, Tensor]:
        terms = {"reconstruction": (x - decoded).square().sum(1).mean()}
        if self.penalty is not None:
            terms["penalty"] = self.penalty(self.decoder, z)
        return terms

    def _seen(self, w: Tensor) -> Tensor:
        """Return what the encoder sees, without the tangent spaces beside it."""
        return w[:, : w.shape[1] // (1 + self.n_components)] if self.on_surface else w

    def _encoded(self, x: Tensor, u: Tensor) -> Tensor:
        return self.encoder.given(x, u) if isinstance(self.encoder, DomainEncoder) else self.encoder(x)

    def encode(  # type: ignore[override]
        self, w: Float[Tensor, "n w"], u: Int[Tensor, " n"]
    ) -> Float[Tensor, "n z"]:
        """Return the codes (posterior means) of what the encoder sees."""
        return self._encoded(self._seen(w), u)[:, : self.n_components]


def beside_tangents(x: Float[Tensor, "n x"], tangents: Float[Tensor, "n x z"]) -> Float[Tensor, "n w"]:
    """Return rows of x, each followed by a basis of the tangent space there."""
    return torch.cat([x, tangents.flatten(1)], dim=1)


def tangents_beside(w: Float[Tensor, "n w"], n_components: int) -> Float[Tensor, "n x z"]:
    """Return the tangent spaces that stand beside rows.

    Examples
    --------
    >>> x, tangents = torch.ones(2, 3), torch.arange(12.0).reshape(2, 3, 2)
    >>> torch.equal(tangents_beside(beside_tangents(x, tangents), 2), tangents)
    True
    """
    return w[:, w.shape[1] // (1 + n_components) :].unflatten(1, (-1, n_components))
