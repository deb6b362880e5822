"""Sparse bases: recovered rows, offsets and patterns, what is flagged, and what every solver promises."""

import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import unmix
from families import TRANSFORMERS, every
from unmix import SparseBasis
from unmix.data import degenerate_mixture
from unmix.metrics import match_components, mcc

# samples of noise, few samples: flags are right there, and not what these tests are about
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def affine(n_samples=2000, n_latents=5, seed=0, **settings):
    data = degenerate_mixture(n_samples, n_latents, profile="linear", random_state=seed, **settings)
    rng = np.random.default_rng(seed + 10_000)
    return data, data.unrotated @ rng.normal(size=(n_latents, n_latents)) + rng.normal(size=n_latents)


@pytest.fixture(scope="module")
def code():
    return affine()


@pytest.fixture(scope="module")
def fitted(code):
    return SparseBasis(random_state=0).fit(code[1])


@quiet
@parametrize_with_checks([SparseBasis(n_starts=4)])
def test_basis_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", ["descent", "ransac", "subspaces"])
@pytest.mark.parametrize("delta", [0.0, 2.0])
def test_solver_recovers_sparse_latents_wherever_they_are_inactive(solver, delta):
    data, y = affine(delta=delta)
    basis = SparseBasis(solver=solver, random_state=0).fit(y)
    z_hat, active = basis.transform(y), data.masks[data.labels]
    order = np.array(match_components(data.unrotated, z_hat).order)
    assert mcc(data.unrotated, z_hat) > 0.9999 and basis.flags_ == () and basis.found_.all()
    np.testing.assert_allclose(z_hat[:, order][~active], 0, atol=0.01)
    np.testing.assert_allclose(z_hat.std(0), 1, rtol=1e-6)
    np.testing.assert_allclose(basis.spike_mass_[order], 1 - active.mean(0), atol=0.01)
    assert (basis.activity(y)[:, order] == active).mean() > 0.999
    assert basis.score(y) == pytest.approx(1 - active.mean(), abs=0.002)


def test_maps_are_inverse_and_the_centre_is_where_all_latents_are_inactive(code, fitted):
    data, y = code
    np.testing.assert_allclose(fitted.inverse_transform(fitted.transform(y)), y, atol=1e-9)
    np.testing.assert_allclose(fitted.components_ @ fitted.mixing_, np.eye(5), atol=1e-9)
    np.testing.assert_allclose(fitted.transform(fitted.centre_[None]), 0, atol=1e-9)
    A = np.linalg.lstsq(np.column_stack([data.unrotated, np.ones(len(y))]), y, rcond=None)[0]
    np.testing.assert_allclose(fitted.centre_, data.world.constant @ A[:-1] + A[-1], atol=0.02)
    rows = fitted.components_ * y.std(0)
    assert fitted.smallest_singular_value_ > 0.3 and np.linalg.matrix_rank(rows) == 5


@given(seed=st.integers(0, 99))
def test_basis_does_not_depend_on_an_affine_map_of_the_data(seed, code, fitted):
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.normal(size=(5, 5)))[0] * rng.uniform(0.2, 5, 5)
    part = code[1][:500]
    moved = SparseBasis(random_state=seed, n_starts=8).fit(part @ A + rng.normal(size=5))
    z_hat = moved.transform(part @ A + (moved.mean_ - part.mean(0) @ A))
    assert mcc(fitted.transform(part), z_hat) > 0.999


def test_few_components_of_many_features_are_found_in_their_principal_space():
    data, y = affine()
    rng = np.random.default_rng(0)
    wide = y @ rng.normal(size=(5, 8))
    basis = SparseBasis(5, random_state=0).fit(wide)
    assert mcc(data.unrotated, basis.transform(wide)) > 0.9999 and basis.mixing_.shape == (8, 5)
    np.testing.assert_allclose(basis.inverse_transform(basis.transform(wide)), wide, atol=1e-8)


def test_noise_costs_no_more_than_the_best_linear_estimate_loses():
    data = degenerate_mixture(6000, 5, profile="linear", noise=0.25, random_state=0)
    centred = data.x - data.x.mean(0)
    best = centred @ np.linalg.lstsq(centred, data.z - data.z.mean(0), rcond=None)[0]
    ceiling = np.mean([np.corrcoef(best[:, i], data.z[:, i])[0, 1] for i in range(5)])
    assert mcc(data.z, SparseBasis(random_state=0).fit_transform(data.x)) > ceiling - 0.005


def test_rotated_latents_come_back_as_they_were_before():
    data = degenerate_mixture(3000, 5, profile="linear", theta=30.0, random_state=0)
    z_hat = SparseBasis(random_state=0).fit_transform(data.x)
    assert mcc(data.unrotated, z_hat) > 0.9999 > 0.95 > mcc(data.z, z_hat)


def test_nothing_sparse_is_said_so_and_the_map_stays_invertible():
    x = np.random.default_rng(0).normal(size=(1000, 4))
    basis = SparseBasis(random_state=0)
    with pytest.warns(ConvergenceWarning, match="Nothing is sparse"):
        basis.fit(x)
    assert basis.n_found_ == 0 and not basis.found_.any() and "Nothing is sparse" in basis.flags_[0]
    np.testing.assert_allclose(basis.inverse_transform(basis.transform(x)), x, atol=1e-8)
    full = degenerate_mixture(1500, 5, profile="linear", components="full", random_state=0)
    with pytest.warns(ConvergenceWarning, match="Nothing is sparse|Only"):
        SparseBasis(random_state=0).fit(full.x)


def test_rows_without_a_spike_are_counted_and_named():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(3000, 4))
    z[:, :2] *= rng.random((3000, 2)) < 0.5
    with pytest.warns(ConvergenceWarning, match=r"Only 2 of 4 rows have a spike; rows \[2, 3\]"):
        basis = SparseBasis(random_state=0).fit(z @ rng.normal(size=(4, 4)))
    assert basis.found_.tolist() == [True, True, False, False] and basis.n_found_ == 2


def test_nested_activity_is_flagged_since_the_outer_latent_may_contain_the_inner():
    rng = np.random.default_rng(0)
    outer = rng.random(4000) < 0.6
    inner = outer & (rng.random(4000) < 0.5)
    z = rng.normal(size=(4000, 2)) * np.column_stack([outer, inner])
    with pytest.warns(ConvergenceWarning, match="inactive only where row 0 is"):
        SparseBasis(random_state=0).fit(z @ np.array([[1.0, 0.5], [-0.3, 1.0]]))


def test_duplicated_and_few_samples_are_flagged(code):
    repeated = np.repeat(code[1][:60], 20, axis=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        basis = SparseBasis(random_state=0).fit(repeated)
    assert any("60 distinct samples" in str(warning.message) for warning in caught)
    assert any("60 distinct samples" in flag for flag in basis.flags_)


@quiet
@every(TRANSFORMERS)
def test_solver_is_a_function_of_its_seed_and_leaves_global_seeds_alone(member, code):
    part = code[1][:300]
    torch.manual_seed(7)
    first, state = clone(member).fit_transform(part), torch.rand(1)
    torch.manual_seed(7)
    assert state == torch.rand(1)
    np.testing.assert_array_equal(first, clone(member).fit_transform(part))
    assert first.shape == (300, 5) and np.isfinite(first).all()


@quiet
@every(TRANSFORMERS)
def test_solver_comes_back_from_its_file(member, code, tmp_path):
    frame = pd.DataFrame(code[1][:300], columns=list("abcde"))
    model = clone(member).fit(frame)
    loaded = unmix.load(model.save(tmp_path / "basis"))
    assert type(loaded) is type(model) and repr(loaded) == repr(model)
    np.testing.assert_array_equal(loaded.transform(frame), model.transform(frame))
    if isinstance(model, SparseBasis):
        np.testing.assert_array_equal(loaded.activity(frame), model.activity(frame))
    assert list(loaded.feature_names_in_) == list("abcde")
    for name in (name for name in vars(model) if name.endswith("_")):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))


def test_basis_keeps_precision_takes_tensors_and_works_in_a_pipeline(code, fitted):
    y = code[1]
    assert fitted.transform(y.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(fitted.transform(torch.as_tensor(y.copy())), fitted.transform(y))
    z_hat = make_pipeline(StandardScaler(), SparseBasis(random_state=0)).fit_transform(y)
    assert mcc(fitted.transform(y), z_hat) > 0.9999
    assert list(fitted.get_feature_names_out()) == [f"sparsebasis{i}" for i in range(5)]
    assert clone(fitted).get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        clone(fitted).transform(y)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_components": 0}, "`n_components` must be"),
        ({"n_components": 6}, "`n_components` must be at most"),
        ({"n_components": 1.5}, "`n_components` must be"),
        ({"epsilon": 0.0}, "`epsilon` must be a positive number"),
        ({"solver": "magic"}, "`solver` must be one of"),
        ({"n_starts": 0}, "`n_starts` must be"),
        ({"max_samples": -1}, "`max_samples` must be"),
        ({"max_iter": 0}, "`max_iter` must be"),
        ({"device": "tpu"}, "`device` must be"),
    ],
    ids=str,
)
def test_basis_rejects_bad_settings_by_name(wrong, message, code):
    with pytest.raises(ValueError, match=message):
        SparseBasis(**wrong).fit(code[1])


def test_basis_rejects_data_it_cannot_use(code, fitted):
    y = code[1]
    for bad, message in (
        (np.column_stack([y, np.ones(len(y))]), "constant columns"),
        (np.repeat(y[:1], 30, axis=0), "constant columns"),
        (y[:5], "more samples"),
        (np.where(y > 1, np.nan, y), "NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            SparseBasis().fit(bad)
    with pytest.raises(ValueError, match="n_components"):
        fitted.inverse_transform(np.zeros((2, 4)))


def test_more_than_the_rank_is_refused(code):
    with pytest.raises(ValueError, match="rank of X, which is 5, got 6"):
        SparseBasis(6).fit(np.column_stack([code[1], code[1][:, 0]]))


def test_asked_for_nothing_it_takes_the_rank():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1500, 2)) * (rng.uniform(size=(1500, 2)) < 0.5)
    basis = SparseBasis(random_state=0).fit(z @ rng.normal(size=(2, 6)))
    assert basis.n_components_ == 2 and basis.n_found_ == 2
