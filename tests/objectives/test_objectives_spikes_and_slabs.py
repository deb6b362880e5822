"""Spikes and slabs: a density, its covariance, and the likelihood of codes."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm
from torch import nn

from unmix.objectives._spikes_and_slabs import MixtureObjective, SpikesAndSlabs


def test_density_of_spikes_and_slabs_is_one_in_all():
    prior = SpikesAndSlabs(1).double()
    with torch.no_grad():
        for parameter, value in zip(prior.parameters(), (0.7, 0.3, -1.0, 0.4, 9.0), strict=True):
            parameter.fill_(value)  # one coordinate has nothing to be coupled to
    width = torch.tensor(0.2, dtype=torch.float64)

    def density(z):
        return prior(torch.tensor([[z]], dtype=torch.float64), width).exp().item()

    assert quad(density, -12, 12, points=[0.3], limit=200)[0] == pytest.approx(1, abs=1e-6)
    slab, spread = torch.sigmoid(torch.tensor(0.7)).item(), np.exp(0.4)
    assert density(0.5) == pytest.approx(
        slab * norm.pdf(0.5, -1.0, spread) + (1 - slab) * norm.pdf(0.5, 0.3, 0.2), rel=1e-6
    )


@given(st.integers(0, 100), st.lists(st.booleans(), min_size=3, max_size=3))
def test_coordinates_in_their_slabs_share_one_covariance_and_the_others_take_no_part(seed, on):
    rng, on = np.random.default_rng(seed), np.array(on)
    prior = SpikesAndSlabs(3).double().requires_grad_(False)
    prior.coupling.copy_(torch.from_numpy(rng.normal(size=(3, 3))))
    prior.log_spread.copy_(torch.from_numpy(rng.normal(size=3) / 4))
    root = np.eye(3) + np.tril(prior.coupling.numpy(), -1)
    root /= np.linalg.norm(root, axis=1)[:, None]
    spread = np.diag(prior.log_spread.exp().numpy())
    covariance = spread @ (0.999 * root @ root.T + 0.001 * np.eye(3)) @ spread
    z = np.where(on, np.sign(rng.normal(size=(20, 3))) * (0.5 + rng.random((20, 3))), 0.0)
    width = 1e-8  # so thin that no coordinate beside it could be in it
    slabs = np.log(0.5) * on.sum() + (
        multivariate_normal(cov=covariance[np.ix_(on, on)]).logpdf(z[:, on]) if on.any() else 0.0
    )
    spikes = (np.log(0.5) + norm.logpdf(0.0, scale=width)) * (~on).sum()
    found = prior(torch.from_numpy(z), torch.tensor(width, dtype=torch.float64))
    np.testing.assert_allclose(found, slabs + spikes, rtol=1e-6)


def test_likelihood_of_a_linear_code_is_that_of_the_data():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(2, 2))
    member = MixtureObjective(nn.Linear(2, 2), nn.Linear(2, 2), 2).double()
    with torch.no_grad():
        member.encoder.weight.copy_(torch.from_numpy(A))
        member.encoder.bias.zero_()
    x, width = rng.normal(size=(50, 2)), 0.3
    term = member(torch.from_numpy(x), torch.tensor(width, dtype=torch.float64))["likelihood"].item()
    each = 0.5 * norm.pdf(x @ A.T) + 0.5 * norm.pdf(x @ A.T, scale=width)  # how the prior starts
    assert term == pytest.approx(-np.log(each.prod(1) * abs(np.linalg.det(A))).mean())
