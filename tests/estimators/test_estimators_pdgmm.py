import warnings
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm
from sklearn.exceptions import ConvergenceWarning
from torch import nn

import unmix
from unmix.data import degenerate_mixture
from unmix.metrics import mcc
from unmix.nn import residual_mlp
from unmix.objectives._spikes_and_slabs import MixtureObjective, SpikesAndSlabs
from unmix.solvers.coordinates._affine import Affine, affine, whitening
from unmix.solvers.sparse_rows._bent import among_resting, rough_basis
from unmix.solvers.sparse_rows._components import Components, components_of, genericity_gap
from unmix.solvers.sparse_rows._likely import likely_basis
from unmix.theory import certify_components, certify_supports, explain
from unmix.training import Minibatches
from unmix.training._beside import Annealed

SMALL = partial(residual_mlp, hidden=(16,))


def quick(n, **settings):
    defaults = {"encoder": SMALL, "decoder": SMALL, "max_iter": 30, "n_restarts": 1, "random_state": 0}
    return unmix.PDGMM(n, **(defaults | settings))


@pytest.fixture(scope="module")
def data():
    return degenerate_mixture(2000, n_latents=4, n_layers=2, random_state=1)


@pytest.fixture(scope="module")
def model(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return quick(4).fit(data.x)


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


def test_annealed_batches_go_on_where_they_were_saved():
    def fresh():
        batches = Minibatches(
            torch.arange(10.0)[:, None], batch_size=3, generator=torch.Generator().manual_seed(0)
        )
        return Annealed(batches, lambda step: 1 / (1 + step))

    whole = fresh()
    expected = [next(whole) for _ in range(6)]
    first = fresh()
    for _ in range(4):
        next(first)
    resumed = fresh()
    resumed.load_state_dict(first.state_dict())
    for (x, width), (x_again, width_again) in zip(
        expected[4:], (next(resumed) for _ in range(2)), strict=True
    ):
        assert torch.equal(x, x_again) and width == width_again


@given(st.integers(0, 100))
def test_affine_maps_compose_and_come_back(seed):
    rng = np.random.default_rng(seed)
    first, second = (
        affine(torch.from_numpy(rng.normal(size=(3, 3))), torch.from_numpy(rng.normal(size=3)))
        for _ in range(2)
    )
    x = torch.from_numpy(rng.normal(size=(5, 3)))
    both = first.then(second)
    torch.testing.assert_close(both(x), second(first(x)))
    padded = both.padded(5)
    assert padded(x).shape == (5, 5) and (padded(x)[:, 3:] == 0).all()
    back = padded(x) @ padded.back_weight.T + padded.back_bias
    torch.testing.assert_close(back, x, rtol=1e-4, atol=1e-6)
    assert isinstance(padded, Affine)


def test_whitening_keeps_the_rank_and_no_more():
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.normal(size=(500, 2)) @ rng.normal(size=(2, 5)) + 3.0)
    white, left = whitening(x, most=4)
    assert white.weight.shape == (2, 5) and left == 0
    torch.testing.assert_close(torch.cov(white(x).T), torch.eye(2, dtype=x.dtype))
    torch.testing.assert_close(white(x) @ white.back_weight.T + white.back_bias, x)
    only, left = whitening(x, most=1)
    assert only.weight.shape == (1, 5) and left > 0


def test_rough_basis_is_a_basis_even_of_normal_codes():
    y = torch.from_numpy(np.random.default_rng(0).normal(size=(400, 4)))
    rows, offsets = rough_basis(y, torch.Generator().manual_seed(0), n_starts=8, widths=(1.0, 0.5))
    assert rows.shape == (4, 4) and offsets.shape == (4,)
    assert torch.linalg.svdvals(rows)[-1] > 0.05


@given(st.integers(0, 50))
def test_what_all_samples_hide_shows_where_a_clear_variable_rests(seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(20_000, 3)) * (rng.random((20_000, 3)) < [0.4, 0.5, 0.5])
    bent = z + 2.0 * np.abs(z[:, :1]) * [0.0, 1.0, -0.5]  # where the first varies it hides the others
    x = torch.from_numpy(bent @ rng.normal(size=(3, 3)))
    y = whitening(x, most=3)[0](x)
    first = torch.linalg.lstsq(y, torch.from_numpy(z[:, :1] - z[:, :1].mean())).solution.T
    rows = torch.linalg.qr(first.T, mode="complete")[0].T  # the first variable, and two at right angles
    turned = rows, -(y[z[:, 0] == 0] @ rows.T).median(0).values
    settings = {"most": 1, "n_starts": 30, "widths": (1.0, 0.5)}
    generator = torch.Generator().manual_seed(0)
    found = among_resting(y, turned, generator, **settings)
    rest = z[:, 0] == 0
    assert mcc(z[rest, 1:], (y @ found[0].T + found[1]).numpy()[rest]) > 0.98
    torch.testing.assert_close(found[0].norm(dim=1), torch.ones(3, dtype=y.dtype))
    few = among_resting(y[:4000], turned, generator, **settings)
    assert few is turned  # the samples in which it rests are too few to search among


def test_one_latent_at_least_goes_on_where_the_others_rest():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(40_000, 2)) * (rng.random((40_000, 2)) < 0.4)  # both rest in thousands of samples
    y = whitening(torch.from_numpy(z), most=2)[0](torch.from_numpy(z))
    search = {"n_starts": 20, "widths": (1.0, 0.5)}
    basis = rough_basis(y[:6000], torch.Generator().manual_seed(0), **search)
    rows, offsets = among_resting(y, basis, torch.Generator().manual_seed(0), most=5, **search)
    assert rows.shape == (2, 2) and offsets.shape == (2,)
    assert mcc(z, (y @ rows.T).numpy()) > 0.99


@pytest.mark.parametrize("seed", range(2))
def test_likely_basis_finds_spikes_far_from_the_mean_behind_any_affine_map(seed):
    rng = np.random.default_rng(seed)
    z = np.where(rng.random((3000, 4)) < 0.5, rng.normal(size=(3000, 4)), rng.choice([-3.0, 2.0], size=4))
    x = torch.from_numpy(z @ rng.normal(size=(4, 4)) + rng.normal(size=4))
    y = whitening(x, most=4)[0](x)
    rows, offsets = likely_basis(y, torch.Generator().manual_seed(seed), n_starts=6)
    torch.testing.assert_close(rows.norm(dim=1), torch.ones(4, dtype=y.dtype))
    codes = y @ rows.T + offsets
    assert mcc(z, codes.numpy()) > 0.98
    resting = (codes.abs() < 0.3).double().mean(0)  # offsets put the spikes at zero
    assert bool((resting > 0.45).all())


def test_inactive_values_three_deviations_from_the_mean_are_found():
    data = degenerate_mixture(4000, n_latents=4, n_layers=3, delta=3.0, random_state=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = quick(4, n_restarts=2, max_iter=10).fit(data.x)
    assert mcc(data.z, model.transform(data.x)) > 0.97 > mcc(data.z, data.x)
    assert min(model.restarts_) == model.restarts_[1]  # that of the likeliest basis


def test_components_are_those_of_the_groups():
    rng = np.random.default_rng(0)
    masks = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)
    labels = np.repeat([0, 1], [600, 400])
    codes = rng.normal(size=(1000, 3)) * masks[labels]
    found = components_of(codes, masks[labels])
    np.testing.assert_allclose(found.weights, [0.6, 0.4])
    np.testing.assert_array_equal(found.masks, masks)
    np.testing.assert_allclose(found.means[1], codes[600:].mean(0))
    np.testing.assert_allclose(found.covariances[0], np.cov(codes[:600].T, ddof=0), atol=1e-12)


def test_patterns_with_a_misread_entry_join_the_one_they_come_from():
    rng = np.random.default_rng(0)
    masks = np.array([[1, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
    truth = masks[np.repeat([0, 1], [600, 400])]
    misread = truth ^ (rng.random(truth.shape) < 0.02)
    found = components_of(rng.normal(size=truth.shape) * truth, misread)
    np.testing.assert_array_equal(found.masks, masks)
    np.testing.assert_allclose(found.weights, [0.6, 0.4], atol=0.01)
    apart = np.concatenate([np.repeat([[1, 1, 0, 0]], 60, 0), np.repeat([[1, 0, 0, 0]], 40, 0)]).astype(bool)
    assert (
        len(components_of(rng.normal(size=(100, 4)) * apart, apart).masks) == 2
    )  # too frequent for a mistake


def test_rare_patterns_are_mistakes_not_components():
    codes = np.random.default_rng(0).normal(size=(1000, 2))
    active = np.ones((1000, 2), dtype=bool)
    active[0] = [True, False]
    assert components_of(codes, active).masks.tolist() == [[True, True]]


def test_patterns_that_are_nearly_all_different_are_grouped_fast_and_few_are_kept():
    rng = np.random.default_rng(0)
    often = np.repeat(rng.random((2, 40)) < 0.5, 1000, axis=0)
    active = np.concatenate([often, rng.random((20_000, 40)) < 0.5])
    found = components_of(rng.normal(size=active.shape) * active, active)
    assert {tuple(mask) for mask in found.masks} == {tuple(mask) for mask in often}
    assert found.weights.tolist() == [0.5, 0.5]


def test_genericity_gap_closes_when_components_agree_where_they_meet():
    axes = np.stack([np.diag([1.0, 0.0]), np.diag([0.0, 4.0])])
    masks = np.eye(2, dtype=bool)

    def gap(means):
        return genericity_gap(Components(np.full(2, 0.5), np.array(means), axes, masks))

    assert gap([[1.0, 0.0], [0.0, 2.0]]) == pytest.approx(0)
    assert gap([[1.0, 0.0], [0.0, 4.0]]) == pytest.approx(3)
    other = Components(np.full(2, 0.5), np.zeros((2, 2)), axes, np.array([[True, False], [True, True]]))
    assert genericity_gap(other) == np.inf


def test_latents_and_their_activity_are_recovered(data, model):
    fresh = data.world.sample(2000, random_state=2)
    z_hat = model.transform(fresh.x)
    assert mcc(fresh.z, z_hat) > 0.97 > mcc(fresh.z, fresh.x)
    order = np.abs(np.corrcoef(fresh.z.T, z_hat.T)[:4, 4:]).argmax(1)
    right = model.activity(fresh.x)[:, order] == fresh.masks[fresh.labels]
    assert right.mean() > 0.9 and model.found_.all()
    np.testing.assert_allclose(model.spike_mass_[order], 1 - fresh.masks[fresh.labels].mean(0), atol=0.12)


def test_components_are_stored_with_the_model(data, model, tmp_path):
    again = unmix.load(model.save(tmp_path / "model"))
    for name in ("weights_", "means_", "covariances_", "masks_", "found_", "active_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.score(data.x) == model.score(data.x) and again.flags_ == model.flags_
    np.testing.assert_array_equal(again.activity(data.x), model.activity(data.x))


def test_components_have_covariance_on_their_masks_only(model):
    assert model.weights_.sum() == pytest.approx(1) and (np.diff(model.weights_) <= 0).all()
    off = ~(model.masks_[:, :, None] & model.masks_[:, None, :])
    assert (model.covariances_[off] == 0).all() and (model.means_[~model.masks_] == 0).all()


def test_score_is_a_likelihood(data, model):
    fresh = data.world.sample(1000, random_state=3).x
    shuffled = np.column_stack(
        [np.random.default_rng(i).permutation(column) for i, column in enumerate(fresh.T)]
    )
    assert model.score(shuffled) < model.score(fresh) - 0.5
    gaussian = -0.5 * (4 * np.log(2 * np.pi) + 4)  # of standardised data, at most
    assert model.score(fresh) > gaussian


def test_what_the_principal_components_leave_out_counts_as_noise(data):
    rng = np.random.default_rng(0)
    noise = 0.01 * rng.normal(size=(2000, 3))
    wide = np.column_stack([data.x, data.x[:, :3] + noise])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        scores = [quick(n, max_iter=2).fit(wide).score(wide) for n in (3, 4)]
    assert scores[0] < scores[1] - 1


def test_without_the_second_stage_the_code_is_white(data):
    model = quick(4, stage2=None, max_iter=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        z_hat = model.fit_transform(data.x)
    np.testing.assert_allclose(np.cov(z_hat.T), np.eye(4), atol=1e-6)
    assert not model.found_.any() and model.masks_.all()


def test_latents_beyond_the_rank_are_zero_and_said_to_be(data):
    with pytest.warns(ConvergenceWarning, match="rank 4, so that 2 of 6"):
        model = quick(6, max_iter=5).fit(data.x)
    z_hat = model.transform(data.x)
    assert (z_hat[:, 4:] == 0).all() and z_hat[:, :4].std(0).min() > 0.5
    assert not model.active_[4:].any() and not model.masks_[:, 4:].any()
    assert np.square(data.x - model.inverse_transform(z_hat)).mean() < 0.1 * data.x.var()


def test_few_or_repeated_samples_are_flagged(data):
    with pytest.warns(ConvergenceWarning, match="There are 40 distinct samples, fewer than 20 for each"):
        quick(4, max_iter=2).fit(np.repeat(data.x[:40], 30, axis=0))


def test_a_latent_that_is_never_active_is_suspected_behind_a_bent_mixing(data):
    z = data.z.copy()
    z[:, 0] = z[0, 0]
    x = data.mixing(z)
    assert np.linalg.matrix_rank(x - x.mean(0)) == 4
    with pytest.warns(ConvergenceWarning, match="times less along their last principal component"):
        quick(4, max_iter=2).fit(x)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        quick(4, max_iter=2).fit(data.x)
    assert not any("last principal" in str(warning.message) for warning in said)


def test_latents_that_are_never_constant_are_returned_white_with_a_warning():
    x = np.random.default_rng(0).normal(size=(1500, 3)) @ np.random.default_rng(1).normal(size=(3, 3))
    with pytest.warns(ConvergenceWarning, match="No latent has a value that it takes often"):
        model = quick(3, max_iter=5).fit(x)
    np.testing.assert_allclose(np.cov(model.transform(x).T), np.eye(3), atol=1e-6)


def test_more_variables_than_latents_pass_through_principal_components(data):
    wide = data.x @ np.random.default_rng(0).normal(size=(4, 9))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = quick(4).fit(wide)
    assert mcc(data.z, model.transform(wide)) > 0.95
    np.testing.assert_allclose(model.inverse_transform(model.transform(wide)), wide, atol=0.2 * wide.std())


def test_an_unknown_second_stage_is_refused(data):
    with pytest.raises(ValueError, match="`stage2` must be None or one of"):
        quick(2, stage2="lagrange").fit(data.x)


def test_a_fitted_model_is_certified_as_its_world_is(data, model):
    found, truth = certify_components(model), certify_supports(data.masks)
    assert found.level == truth.level == "permutation and scaling"
    assert explain(model=model, x=data.x).latents  # every latent has its line in the one answer
