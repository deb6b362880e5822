"""Total correlation: the parts of the KL term against their definitions, and what a critic finds."""

import math

import pytest
import torch
from torch import nn
from torch.distributions import MultivariateNormal, Normal

from tensors import points, seeded
from unmix.nn import mlp
from unmix.objectives import CriticObjective, DecomposedObjective, decomposed, shuffled
from unmix.objectives._vae import divergence_of
from unmix.training import Minibatches, Player, Run, play


def mixture(n, correlation=0.0, seed=0):
    """Draw posteriors whose means are Gaussian, correlated or not, and a code from each."""
    root = torch.linalg.cholesky(torch.tensor([[1.0, correlation], [correlation, 1.0]], dtype=torch.float64))
    mean = points(n, 2, seed) @ root.T
    log_variance = torch.full_like(mean, math.log(0.25))
    return mean + 0.5 * points(n, 2, seed + 1), mean, log_variance


def test_parts_add_up_to_the_kl_term_of_the_codes():
    z, mean, log_variance = mixture(50, 0.7)
    posterior, prior = Normal(mean, (log_variance / 2).exp()), Normal(0.0, 1.0)
    expected = (posterior.log_prob(z) - prior.log_prob(z)).sum(1).mean()
    torch.testing.assert_close(sum(decomposed(z, mean, log_variance, 10_000).values()), expected)


def test_the_kl_term_is_that_of_torch():
    mean, log_variance = points(5, 3), points(5, 3, 2)
    prior = Normal(torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64))
    expected = torch.distributions.kl_divergence(Normal(mean, (log_variance / 2).exp()), prior).sum(1).mean()
    torch.testing.assert_close(divergence_of(mean, log_variance), expected)


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_the_whole_data_as_a_batch_give_the_exact_mixture(correlation):
    # q(z) is a normal law of known covariance in the limit; with all samples in the batch nothing is missing
    n = 2000
    z, mean, log_variance = mixture(n, correlation)
    found = decomposed(z, mean, log_variance, 1)  # log(n * 1): the plain average over the batch
    covariance = torch.tensor([[1.25, correlation], [correlation, 1.25]], dtype=torch.float64)
    joint = MultivariateNormal(torch.zeros(2, dtype=torch.float64), covariance).log_prob(z)
    apart = Normal(0.0, math.sqrt(1.25)).log_prob(z).sum(1)
    assert found["total_correlation"].item() == pytest.approx((joint - apart).mean().item(), abs=0.05)
    expected = -0.5 * math.log(1 - (correlation / 1.25) ** 2)
    assert found["total_correlation"].item() == pytest.approx(expected, abs=0.06)


def test_minibatch_weights_are_those_of_the_definition():
    z, mean, log_variance = mixture(7, 0.3)
    spread = (log_variance / 2).exp()
    information = []
    for i in range(7):
        density = [Normal(mean[j], spread[j]).log_prob(z[i]).sum().exp() for j in range(7)]
        joint = math.log(sum(density) / (7 * 500))
        information.append(Normal(mean[i], spread[i]).log_prob(z[i]).sum() - joint)
    torch.testing.assert_close(
        decomposed(z, mean, log_variance, 500)["information"], torch.stack(information).mean()
    )


def test_shuffling_keeps_every_column_and_breaks_rows():
    z = points(200, 3) @ points(3, 3, 5)
    mixed = shuffled(z, points(200, 3, 7))
    torch.testing.assert_close(mixed.sort(0).values, z.sort(0).values)
    assert torch.corrcoef(mixed.T).fill_diagonal_(0).abs().max() < 0.25


@pytest.mark.parametrize(("correlation", "low", "high"), [(0.0, -0.05, 0.08), (0.9, 0.4, 1.0)])
def test_a_critic_finds_no_total_correlation_in_independent_codes_and_some_in_others(correlation, low, high):
    root = torch.linalg.cholesky(torch.tensor([[1.0, correlation], [correlation, 1.0]]))
    z = points(4000, 2).float() @ root.T
    encoder = _Sure()
    member = CriticObjective(encoder, nn.Identity(), seeded(mlp, 2, 2, hidden=(32, 32)).float())
    batches = Minibatches(z, batch_size=500, generator=torch.Generator().manual_seed(0), noise=4)
    critic = Player(name="critic", loss=lambda b: member.distinguish(*b), parameters=member.critic, lr=3e-3)
    play([critic], batches, Run(n_steps=400))
    found = member(z, torch.zeros(len(z), 4))["total_correlation"].item()
    assert low < found < high  # 0, and -log(1 - .81) / 2 = .83


class _Sure(nn.Module):
    """Codes that are their own posterior means, nearly without spread."""

    def forward(self, x):
        return torch.cat([x, torch.full_like(x, -12.0)], 1)


@pytest.mark.parametrize("kind", [CriticObjective, DecomposedObjective])
@pytest.mark.parametrize("loss", ["squared", "bernoulli"])
def test_gradients_agree_with_differences(kind, loss):
    encoder, decoder = seeded(mlp, 3, 4, hidden=(5,), activation="tanh"), seeded(mlp, 2, 3, hidden=(5,))
    decoder = nn.Sequential(decoder, nn.Sigmoid()) if loss == "bernoulli" else decoder
    more = {"critic": seeded(mlp, 2, 2, hidden=(4,), activation="tanh")} if kind is CriticObjective else {}
    member = kind(encoder, decoder, *more.values(), loss=loss)
    x, noise = points(6, 3).sigmoid(), points(6, 4 if more else 2, 3)

    def total(weight):
        return sum(torch.func.functional_call(member, {"encoder.0.weight": weight}, (x, noise)).values())

    assert torch.autograd.gradcheck(total, encoder[0].weight.detach().clone().requires_grad_())
    if more:
        terms = member.distinguish(x, noise)["cross_entropy"]
        grads = torch.autograd.grad(terms, list(member.parameters()), allow_unused=True)
        named = dict(zip((name for name, _ in member.named_parameters()), grads, strict=True))
        assert all((grad is None) != name.startswith("critic.") for name, grad in named.items())
