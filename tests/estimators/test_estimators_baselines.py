"""The baselines of degenerate mixtures: their objectives against the definitions, and what they recover."""

from functools import partial

import numpy as np
import pytest
import torch
from scipy.stats import kurtosis, skew
from torch.distributions import Categorical, Independent, Normal

import unmix
from unmix.data import degenerate_mixture
from unmix.metrics import mcc
from unmix.nn import mlp
from unmix.objectives._mixture import MixtureOfGaussians, VaDEObjective
from unmix.objectives._moments import LabelledObjective, group_moments

small = partial(mlp, hidden=(32,))


@pytest.fixture(scope="module")
def data():
    return degenerate_mixture(1500, n_latents=3, profile="linear", random_state=0)


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


def test_vade_ends_in_a_sigmoid_unless_told_otherwise(data):
    settings = {"encoder": small, "decoder": small, "max_iter": 60, "batch_size": 500, "lr": 1e-2}
    bounded, free = (
        unmix.VaDE(3, output=output, random_state=0, **settings).fit(data.x)
        for output in ("sigmoid", "linear")
    )
    decoded = (bounded.inverse_transform(100 * np.eye(3)) - bounded.mean_) / bounded.scale_
    assert (decoded >= 0).all() and (decoded <= 1).all()
    assert bounded.score(data.x) < 0.3 < 0.6 < free.score(data.x)
    assert free.weights_.sum() == pytest.approx(1) and free.means_.shape == (15, 3)
    assert free.variances_.shape == (15, 3) and (free.variances_ > 0).all()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"output": "tanh"}, "`output` must be one of"), ({"n_classes": 0}, "`n_classes` must be")],
)
def test_vade_refuses(wrong, words, data):
    with pytest.raises(ValueError, match=words):
        unmix.VaDE(2, **wrong).fit(data.x)


def test_group_moments_are_those_of_scipy():
    rng = np.random.default_rng(0)
    z, groups = rng.exponential(size=(200, 3)), rng.integers(4, size=200)
    found = group_moments(torch.from_numpy(z), torch.from_numpy(groups), 5)
    for g in range(4):
        np.testing.assert_allclose(found[0][g], skew(z[groups == g]), rtol=1e-6)
        np.testing.assert_allclose(found[1][g], kurtosis(z[groups == g]), rtol=1e-6)
    assert found[2].tolist() == [*np.bincount(groups), 0]


def test_masks_leave_out_latents_that_do_not_vary():
    z, groups = torch.rand(100, 2).double() ** 3, torch.arange(100) % 2
    masks = torch.tensor([[True, False], [False, True]])
    identity = torch.nn.Identity()
    found = LabelledObjective(identity, identity, 2, 2, masks)(z, groups)["moments"]
    skewed, curved, _ = group_moments(z, groups, 2)
    torch.testing.assert_close(found, (skewed.abs() + curved.abs())[masks].mean())


def test_the_oracle_recovers_latents_and_tightens_its_bound(data):
    settings = {"encoder": small, "decoder": small, "max_iter": 250, "lr": 3e-3, "dual_lr": 3e-3}
    model = unmix.LabelledSparseAutoencoder(3, random_state=0, **settings).fit(data.x, data.labels)
    assert mcc(data.z, model.transform(data.x)) > 0.97 > 0.9 > mcc(data.z, data.x)
    constraint, multiplier = (model.history_.extras[name] for name in ("constraint", "multiplier"))
    assert constraint[-1] < 0.7 * constraint[0] and multiplier[0] == 0 < multiplier[-1]
    assert model.classes_.tolist() == sorted(set(data.labels.tolist()))


def test_masks_tell_the_oracle_the_order_of_latents(data):
    settings = {"encoder": small, "decoder": small, "max_iter": 5, "random_state": 0}
    model = unmix.LabelledSparseAutoencoder(3, masks=data.masks, **settings).fit(data.x, data.labels)
    plain = unmix.LabelledSparseAutoencoder(3, **settings).fit(data.x, data.labels)
    assert model.history_.terms["moments"][0] != plain.history_.terms["moments"][0]


@pytest.mark.parametrize(
    ("settings", "labels", "words"),
    [
        ({}, [0, 1], "`y` must be one number per sample"),
        ({}, ["a"] * 1500, "`y` must hold numbers"),
        ({"masks": np.ones((9, 3))}, None, "`masks` must have shape"),
        ({"epsilon": 0.0}, None, "`epsilon` must be"),
        ({"dual_lr": float("inf")}, None, "`dual_lr` must be"),
    ],
)
def test_the_oracle_refuses(settings, labels, words, data):
    with pytest.raises(ValueError, match=words):
        unmix.LabelledSparseAutoencoder(3, **settings).fit(data.x, data.labels if labels is None else labels)


def test_without_the_bound_the_second_stage_stays_an_arbitrary_affine_map(data):
    linear = partial(mlp, hidden=(30,), activation="identity")
    model = unmix.Autoencoder(3, encoder=linear, decoder=linear, max_iter=60, lr=1e-2, random_state=0).fit(
        data.x
    )
    codes = model.transform(data.x)
    fitted = np.column_stack([data.x, np.ones(len(codes))])
    left = codes - fitted @ np.linalg.lstsq(fitted, codes, rcond=None)[0]
    assert np.abs(left).max() < 1e-3 and model.score(data.x) > 0.99
    assert mcc(data.z, codes) < 0.95
