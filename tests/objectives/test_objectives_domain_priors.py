"""Laws of codes that change with the domain, against their definitions."""

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal, norm

from unmix.objectives._domain_priors import KINDS


@pytest.mark.parametrize("kind", list(KINDS))
def test_laws_of_codes_are_densities_with_exact_derivatives(kind):
    prior = KINDS[kind]([0.25, 0.75], 2).double()
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        for p in prior.parameters():
            p += 0.3 * torch.randn_like(p)
    grid = torch.linspace(-30, 30, 6001, dtype=torch.float64)
    for domain in (0, 1):
        u = torch.full((len(grid),), domain)
        e, log_slope = prior.standard(torch.stack([grid, grid], 1), u)
        secant = (e[2:] - e[:-2]) / (grid[2:] - grid[:-2])[:, None]
        inner = slice(2400, 3600)
        torch.testing.assert_close(secant[inner].log(), log_slope[1:-1][inner], atol=1e-2, rtol=0)
        density = (-0.5 * e**2 + log_slope).exp() / np.sqrt(2 * np.pi)
        torch.testing.assert_close(
            density.sum(0) * 0.01, torch.ones(2, dtype=torch.float64), atol=2e-3, rtol=0
        )


def test_the_gaussian_law_is_the_normal_one_at_the_moments_of_a_code():
    rng = np.random.default_rng(0)
    u = np.arange(4000) % 2
    z = (
        rng.normal(size=(4000, 2)) * np.array([[1.0, 0.5], [2.0, 0.5]])[u]
        + np.array([[1.0, 0.0], [-1.0, 0.0]])[u]
    )
    z = (z - z.mean(0)) / z.std(0)
    prior = KINDS["gaussian"]([0.5, 0.5], 2).double()
    prior.start(torch.from_numpy(z), torch.from_numpy(u))
    found = prior(torch.from_numpy(z), torch.from_numpy(u)).detach().numpy()
    means, spreads = (np.stack([f(z[u == k], axis=0) for k in (0, 1)]) for f in (np.mean, np.std))
    np.testing.assert_allclose(found, norm.logpdf(z, means[u], spreads[u]).sum(1), atol=0.02)


@pytest.mark.parametrize("kind", list(KINDS))
def test_shared_latents_have_one_law_in_all_domains(kind):
    prior = KINDS[kind]([0.5, 0.5], 3, n_shared=1)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        prior.start(torch.randn(100, 3) * 3 + 1, torch.arange(100) % 2)
        for name, p in prior.named_parameters():
            p += 0.3 * torch.randn_like(p) * (name not in ("mean", "log_scale"))
    z = torch.tensor([[0.3, -0.2, 1.5]])
    first, second = (prior.standard(z, torch.tensor([k]))[0][0] for k in (0, 1))
    torch.testing.assert_close(first[2], second[2])
    assert kind != "gaussian" or first[2].item() == pytest.approx(1.5)
    assert (first[:2] - second[:2]).abs().min() > 1e-3


def test_the_correlated_law_is_the_normal_one_with_the_correlations_of_all_domains():
    rng, u = np.random.default_rng(0), np.arange(6000) % 3
    shared = np.array([[1.0, 0.5, -0.2], [0.5, 1.0, 0.1], [-0.2, 0.1, 1.0]])
    scales = np.array([[1.0, 0.5, 2.0], [0.3, 1.5, 1.0], [1.2, 1.0, 0.4]])
    z = rng.multivariate_normal(np.zeros(3), shared, size=6000) * scales[u]
    z = (z - z.mean(0)) / z.std(0)
    prior = KINDS["correlated"]([1 / 3] * 3, 3).double()
    prior.start(torch.from_numpy(z), torch.from_numpy(u))
    root = prior.root().detach().numpy()
    np.testing.assert_allclose(root @ root.T, shared, atol=0.05)
    found = prior(torch.from_numpy(z), torch.from_numpy(u)).detach().numpy()
    means, log_scales = (moment.detach().numpy() for moment in prior.moments())
    for domain in range(3):
        spread = np.diag(np.exp(log_scales[domain]))
        law = multivariate_normal(means[domain], spread @ root @ root.T @ spread)
        np.testing.assert_allclose(found[u == domain], law.logpdf(z[u == domain]), rtol=1e-6)
