import warnings
from copy import deepcopy
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import unmix
from unmix.data import degenerate_mixture
from unmix.metrics import mcc
from unmix.nn import residual_mlp
from unmix.theory import certify_components, certify_supports, explain

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


@pytest.mark.slow
def test_inactive_values_three_deviations_from_the_mean_are_found():
    data = degenerate_mixture(4000, n_latents=4, n_layers=3, delta=3.0, random_state=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = quick(4, n_restarts=2, max_iter=10).fit(data.x)
    assert mcc(data.z, model.transform(data.x)) > 0.97 > mcc(data.z, data.x)
    assert min(model.restarts_) == model.restarts_[1]  # that of the likeliest basis


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


@pytest.mark.slow
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


def test_latents_that_rest_near_a_value_only_are_named(model):
    soft, before = deepcopy(model), model.flags_
    assert not any("near a value" in flag for flag in before)
    soft.spike_width_ = np.full(4, 0.1)
    (said,) = set(soft.flags_) - set(before)
    assert said.startswith("Latents rest near a value and not at it (within 0.10 of")
