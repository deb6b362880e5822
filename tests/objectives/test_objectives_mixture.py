"""The objective of VaDE against its definitions."""

import pytest
import torch
from torch.distributions import Categorical, Independent, Normal

from unmix.objectives._mixture import MixtureOfGaussians, VaDEObjective


def random_prior(n_classes=4, n=3):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        prior = MixtureOfGaussians(n_classes, n).double()
        for parameter in prior.parameters():
            torch.nn.init.normal_(parameter)
    return prior


def test_responsibilities_are_bayes():
    prior, z = random_prior(), torch.randn(5, 3, generator=torch.Generator().manual_seed(1)).double()
    shares = prior.logits.softmax(0)
    density = Normal(prior.means, (prior.log_variances / 2).exp()).log_prob(z[:, None]).sum(2).exp() * shares
    torch.testing.assert_close(prior.log_responsibilities(z).exp(), density / density.sum(1, keepdim=True))


def test_divergence_is_that_of_joint_laws_of_latents_and_classes():
    prior = random_prior()
    generator = torch.Generator().manual_seed(2)
    z, mean, log_variance = (torch.randn(6, 3, generator=generator).double() for _ in range(3))
    shares = prior.log_responsibilities(z).exp()
    q = Independent(Normal(mean, (log_variance / 2).exp()), 1)
    p = [
        Independent(Normal(m, (v / 2).exp()), 1)
        for m, v in zip(prior.means, prior.log_variances, strict=True)
    ]
    within = torch.stack([torch.distributions.kl_divergence(q, each) for each in p], 1)
    between = torch.distributions.kl_divergence(Categorical(shares), Categorical(logits=prior.logits))
    torch.testing.assert_close(prior.divergence(z, mean, log_variance), (shares * within).sum(1) + between)


def test_the_published_start_is_uniform_and_centred():
    prior = MixtureOfGaussians(2000, 3)
    assert (prior.logits == 0).all() and (prior.means == 0).all()
    assert prior.log_variances.std().item() == pytest.approx(1, abs=0.05)


def test_terms_of_vade_follow_its_networks():
    prior = random_prior(2, 1).float()
    encoder, decoder = torch.nn.Linear(2, 2), torch.nn.Linear(1, 2)
    x, noise = torch.randn(7, 2), torch.randn(7, 1)
    terms = VaDEObjective(encoder, decoder, prior)(x, noise)
    mean, log_variance = encoder(x).T
    z = mean[:, None] + (log_variance / 2).exp()[:, None] * noise
    torch.testing.assert_close(terms["reconstruction"], ((x - decoder(z)) ** 2).sum(1).mean())
    torch.testing.assert_close(terms["kl"], prior.divergence(z, mean[:, None], log_variance[:, None]).mean())
