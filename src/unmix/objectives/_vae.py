"""The objective of one autoencoder, as a module, so that an ensemble of them is one `vmap`."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from .._group import gathered
from ._likelihood import Penalty, beside, explained, wide

_LOG_VARIANCE = (-14.0, 6.0)  # keeps exp() finite while the encoder is still wild
_START_LOG_VARIANCE = -4.0


class Objective(nn.Module):
    """Reconstruction, and where asked the KL term and a penalty, of one encoder and decoder.

    Sums over coordinates within a sample, means over the batch. A variational encoder has 2 n_components
    outputs: means, then log variances. With `loss="bernoulli"` all terms are divided by the number of entries
    of a sample, and the decoder ends with a sigmoid.

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Section 4.1 (evidence lower bound with a penalty on the
    decoder's Jacobian), arXiv:2604.17568.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        n_components: int,
        *,
        variational: bool = False,
        penalty: Penalty | None = None,
        decorrelate: bool = False,
        loss: str = "squared",
    ) -> None:
        super().__init__()
        self.encoder, self.decoder, self.loss = encoder, decoder, loss
        self.n_components, self.variational, self.penalty = n_components, variational, penalty
        self.decorrelate = decorrelate

    def forward(self, x: Shaped[Tensor, "n *x"], noise: Float[Tensor, "n z"]) -> dict[str, Tensor]:
        """Return the terms, unweighted."""
        x = as_floats(x)
        z, terms = self._code(x, noise)
        terms |= explained(self.decoder, z, x, self.loss, self.penalty)
        if self.decorrelate:
            terms["correlation"] = _squared_correlations(z)
        return terms

    def _code(self, x: Tensor, noise: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        out = wide(self.encoder(x))
        if not self.variational:
            return out, {}
        mean, log_variance = posterior(out, _START_LOG_VARIANCE if self.loss == "squared" else 0.0)
        divergence = beside(divergence_of(mean, log_variance), x, self.loss)
        return mean + (log_variance / 2).exp() * noise, {"kl": divergence}

    def encode(self, x: Shaped[Tensor, "n *x"]) -> Float[Tensor, "n z"]:
        """Return the codes (posterior means)."""
        return self.encoder(as_floats(x))[:, : self.n_components]


def posterior(
    out: Float[Tensor, "n two_z"], start: float = 0.0
) -> tuple[Float[Tensor, "n z"], Float[Tensor, "n z"]]:
    """Return means and log variances out of what a variational encoder gives; the latter begin at `start`."""
    mean, log_variance = out.split(out.shape[1] // 2, dim=1)
    return mean, (log_variance + start).clamp(*_LOG_VARIANCE)


def divergence_of(mean: Float[Tensor, "n z"], log_variance: Float[Tensor, "n z"]) -> Float[Tensor, ""]:
    """KL divergence of normal posteriors from the standard normal prior, mean over the batch."""
    return 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum(1).mean()


def as_floats(x: Shaped[Tensor, "*x"]) -> Float[Tensor, "*x"]:
    """Read bytes as shares of 255; floats stay as they are."""
    return x.float() / 255 if x.dtype == torch.uint8 else x


def _squared_correlations(z: Float[Tensor, "n z"]) -> Float[Tensor, ""]:
    """Sum of the squared correlations between different codes."""
    z = gathered(z)
    white = (z - z.mean(0)) / z.std(0)
    correlation = white.mT @ white / (len(z) - 1)
    return correlation.square().sum() - correlation.diagonal().square().sum()


@torch.no_grad()
def in_chunks(f: Callable[[Tensor], Tensor], values: Tensor, size: int = 8192) -> Tensor:
    """Apply a function of samples without gradients, a few thousand samples at a time."""
    return torch.cat([f(part) for part in values.split(size)])
