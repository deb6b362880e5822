"""Total correlation of the codes: by a critic that tells codes from shuffled ones, or from the minibatch."""

import math

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from .._group import gathered, mine
from ._likelihood import Penalty, beside, explained, wide
from ._vae import as_floats, divergence_of, posterior


class CriticObjective(nn.Module):
    """Reconstruction, KL term and total correlation KL(q(z) || prod_j q(z_j)), which a critic estimates.

    The critic has two outputs; E[first - second] is the total correlation where it tells codes, the first,
    from shuffled codes, the second, as well as can be. `distinguish` is the critic's own loss.

    Parameters
    ----------
    encoder, decoder, critic : Module
    loss : {"squared", "bernoulli"}
        As for `Objective`.
    penalty : callable (decoder, z) -> scalar, optional

    References
    ----------
    Kim and Mnih (2018), Disentangling by factorising, Eq. (2), (3) and Algorithm 2, arXiv:1802.05983.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        critic: nn.Module,
        *,
        loss: str = "squared",
        penalty: Penalty | None = None,
    ) -> None:
        super().__init__()
        self.encoder, self.decoder, self.critic = encoder, decoder, critic
        self.loss, self.penalty = loss, penalty

    def forward(self, x: Shaped[Tensor, "n *x"], noise: Float[Tensor, "n two_z"]) -> dict[str, Tensor]:
        """Return the terms, unweighted; the second half of the noise is the critic's."""
        x = as_floats(x)
        mean, log_variance = posterior(wide(self.encoder(x)))
        z = mean + (log_variance / 2).exp() * noise[:, : mean.shape[1]]
        logits = wide(self.critic(z))
        return explained(self.decoder, z, x, self.loss, self.penalty) | {
            "kl": beside(divergence_of(mean, log_variance), x, self.loss),
            "total_correlation": beside((logits[:, 0] - logits[:, 1]).mean(), x, self.loss),
        }

    def distinguish(self, x: Shaped[Tensor, "n *x"], noise: Float[Tensor, "n two_z"]) -> dict[str, Tensor]:
        """Return the critic's cross-entropy between codes and shuffled codes."""
        with torch.no_grad():
            mean, log_variance = posterior(wide(self.encoder(as_floats(x))))
            own, order = noise.split(mean.shape[1], dim=1)
            z = mean + (log_variance / 2).exp() * own
            other = mine(shuffled(gathered(z), gathered(order)))
        both = wide(self.critic(torch.cat([z, other])))
        labels = (torch.arange(2 * len(z), device=z.device) >= len(z)).long()
        return {"cross_entropy": F.cross_entropy(both, labels)}


def shuffled(z: Float[Tensor, "n z"], noise: Float[Tensor, "n z"]) -> Float[Tensor, "n z"]:
    """Shuffle each column by itself, in the order of a column of noise.

    Examples
    --------
    >>> shuffled(torch.tensor([[1., 1.], [2., 2.]]), torch.tensor([[0., 1.], [1., 0.]]))
    tensor([[1., 2.],
            [2., 1.]])
    """
    return z.gather(0, noise.argsort(0))


class DecomposedObjective(nn.Module):
    """Reconstruction and the three parts of the KL term: information, total correlation, and per dimension.

    Parameters
    ----------
    encoder, decoder : Module
    n_samples : int
        Samples in the data, which the estimate weighs by.
    loss, penalty
        As for `CriticObjective`.

    References
    ----------
    Chen et al. (2018), Isolating sources of disentanglement, Eq. (2), arXiv:1802.04942.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        n_samples: int = 1,
        loss: str = "squared",
        penalty: Penalty | None = None,
    ) -> None:
        super().__init__()
        self.encoder, self.decoder, self.n_samples = encoder, decoder, n_samples
        self.loss, self.penalty = loss, penalty

    def forward(self, x: Shaped[Tensor, "n *x"], noise: Float[Tensor, "n z"]) -> dict[str, Tensor]:
        """Return the terms, unweighted."""
        x = as_floats(x)
        mean, log_variance = posterior(wide(self.encoder(x)))
        z = mean + (log_variance / 2).exp() * noise
        parts = decomposed(z, mean, log_variance, self.n_samples)
        return explained(self.decoder, z, x, self.loss, self.penalty) | {
            name: beside(value, x, self.loss) for name, value in parts.items()
        }


def decomposed(
    z: Float[Tensor, "n z"], mean: Float[Tensor, "n z"], log_variance: Float[Tensor, "n z"], n_samples: int
) -> dict[str, Tensor]:
    """Split the KL term, with q(z) estimated by minibatch weighted sampling.

    Parameters
    ----------
    z, mean, log_variance : (n, z) tensors
        Codes, and the posteriors that they were drawn from.
    n_samples : int
        Samples in the data.

    Returns
    -------
    dict of scalar tensors
        "information" log q(z|x) - log q(z), "total_correlation" log q(z) - sum_j log q(z_j), "dimensions"
        sum_j log q(z_j) - log p(z), means over the batch. Their sum is log q(z|x) - log p(z).

    References
    ----------
    Chen et al. (2018), Section 3.1: q(z_i) is about sum_j q(z_i | x_j) / (n_samples n), arXiv:1802.04942.
    """
    every = gathered(mean), gathered(log_variance)
    pairs = log_normal(z[:, None], every[0][None], every[1][None])  # each code under each posterior
    offset = math.log(len(every[0]) * n_samples)
    conditional = log_normal(z, mean, log_variance).sum(1)
    joint = pairs.sum(2).logsumexp(1) - offset
    product = (pairs.logsumexp(1) - offset).sum(1)
    prior = log_normal(z, torch.zeros_like(z), torch.zeros_like(z)).sum(1)
    return {
        "information": (conditional - joint).mean(),
        "total_correlation": (joint - product).mean(),
        "dimensions": (product - prior).mean(),
    }


def log_normal(
    z: Float[Tensor, "*n z"], mean: Float[Tensor, "*m z"], log_variance: Float[Tensor, "*m z"]
) -> Float[Tensor, "*k z"]:
    """Logarithm of the normal density of each coordinate."""
    return -0.5 * ((z - mean).square() * (-log_variance).exp() + log_variance + math.log(2 * math.pi))
