"""DCI: against the published recipe, on the faults of published code, its laws and its edges."""

import sys
from functools import partial

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.metrics import r2_score

import samples
from samples import rng
from unmix.metrics import dci
from unmix.metrics._probes import shared_among_copies

PROBES = ("trees", "boosting", "forest", "lasso")
pytest.importorskip("lightgbm")
every = pytest.mark.parametrize("probe", PROBES)


levels = partial(samples.levels, n=240, sizes=(2, 2, 3))


def with_noise(z, n_noise, scale=0.0, seed=7):
    codes = z + scale * rng(seed).normal(size=z.shape)
    return np.hstack([codes, rng(seed + 1).normal(size=(len(z), n_noise))])


def scores(found):
    return found.disentanglement, found.completeness, found.informativeness


def halves(n, random_state=0):
    rows = np.random.default_rng(random_state).permutation(n)
    return rows[n // 3 :], rows[: n // 3]


def published(importances):
    """The formulas as the published code writes them, with its constant against log 0."""
    per_code = 1 - entropy(importances.T + 1e-11, base=importances.shape[1])
    per_factor = 1 - entropy(importances + 1e-11, base=importances.shape[0])
    total = importances.sum()
    return (per_code * importances.sum(1)).sum() / total, (per_factor * importances.sum(0)).sum() / total


def test_boosting_is_the_published_recipe():
    z = levels(n=150)
    codes = with_noise(z, 2, scale=0.5)
    fit, held_out = halves(len(z))
    generator = np.random.default_rng(0)
    generator.permutation(len(z))
    seed = int(generator.integers(2**31))
    models = [GradientBoostingClassifier(random_state=seed).fit(codes[fit], s[fit]) for s in z.T]
    importances = np.column_stack([model.feature_importances_ for model in models])
    accuracy = [np.mean(m.predict(codes[held_out]) == s[held_out]) for m, s in zip(models, z.T, strict=True)]
    found = dci(z, codes, probe="boosting")
    np.testing.assert_allclose(found.importances, importances, atol=1e-5)
    assert found.disentanglement == pytest.approx(published(importances)[0], abs=1e-5)
    assert found.completeness == pytest.approx(published(importances)[1], abs=1e-5)
    assert found.informativeness == pytest.approx(np.mean(accuracy))


def test_continuous_factors_are_regressed_and_scored_by_the_variance_explained():
    z = rng().normal(size=(150, 2))
    codes = with_noise(z, 1, scale=0.3)
    fit, held_out = halves(len(z))
    found = dci(z, codes, probe="boosting")
    model = GradientBoostingRegressor(random_state=0).fit(codes[fit], z[fit, 0])
    assert found.discrete == (False, False)
    assert found.predicted[0] == pytest.approx(
        r2_score(z[held_out, 0], model.predict(codes[held_out])), abs=0.02
    )
    assert dci(z, rng(3).normal(size=(150, 2)), probe="boosting").informativeness < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.05, 0.4])
def test_the_fast_probe_is_near_the_published_one(scale):
    z = levels(n=600, sizes=(2, 3, 4))
    mixed = with_noise((z @ (np.eye(3) + 0.5 * np.roll(np.eye(3), 1, 0))), 2, scale=scale)
    fast, slow = dci(z, mixed), dci(z, mixed, probe="boosting")
    assert fast.disentanglement == pytest.approx(slow.disentanglement, abs=0.03)
    assert fast.completeness == pytest.approx(slow.completeness, abs=0.03)
    assert fast.informativeness == pytest.approx(slow.informativeness, abs=0.03)


def test_gains_are_those_of_the_squared_residuals():
    """For regression they are lightgbm's own; a factor that one code tells leaves the others nothing."""
    import lightgbm

    from unmix.metrics._probes import _BOOSTED, _ROUNDS, boosted_histograms

    codes = rng().normal(size=(200, 3))
    target = codes @ [1.0, 0.3, 0.0] + 0.1 * rng(1).normal(size=200)
    target -= target.mean()
    parameters = {**_BOOSTED, "objective": "regression", "seed": 0}
    booster = lightgbm.train(parameters, lightgbm.Dataset(codes, target, params=parameters), _ROUNDS)
    native = booster.feature_importance("gain")
    ours, predicted = boosted_histograms(codes, target, codes, 0, 0)
    np.testing.assert_allclose(ours / ours.sum(), native / native.sum(), atol=1e-4)
    np.testing.assert_allclose(predicted, booster.predict(codes), atol=1e-6)


@pytest.mark.parametrize("probe", ["trees", "boosting", "forest"])
def test_a_perfect_encoder_with_noise_codes_is_perfect(probe):
    """Split counts as importances give 0.24 and 0.19 here."""
    found = dci(levels(), with_noise(levels(), 5, scale=0.02), probe=probe)
    assert scores(found) == pytest.approx((1, 1, 1), abs=0.02)
    assert found.probe == probe


@every
def test_one_factor_has_scores(probe):
    """Published code raises a TypeError; completeness depends on the probe, which is named."""
    z = levels(sizes=(2,))
    found = dci(z, with_noise(z, 4, scale=0.02), probe=probe)
    assert found.disentanglement == 1 and found.completeness > 0.95 and found.probe == probe
    alone = dci(z, z, probe=probe)
    assert scores(alone) == pytest.approx((1, 1, 1))


@every
def test_a_permutation_of_gaussian_factors_is_perfect(probe):
    z = rng().normal(size=(300, 3))
    found = dci(z, z[:, [2, 0, 1]] * [-3, 0.01, 200], probe=probe)
    assert scores(found) == pytest.approx((1, 1, 1), abs=0.03)
    np.testing.assert_array_equal(found.importances.argmax(0), [1, 2, 0])


@every
def test_a_rotation_is_informative_and_neither_disentangled_nor_complete(probe):
    z = rng().normal(size=(300, 3))
    found = dci(z, z @ (np.eye(3) - 2 / 3), probe=probe)
    assert found.disentanglement < 0.6 and found.completeness < 0.6 and found.informativeness > 0.7


@pytest.mark.parametrize("probe", ["trees", "boosting", "forest"])
def test_noise_scores_low(probe):
    found = dci(levels(), rng(1).normal(size=(240, 4)), probe=probe)
    assert found.informativeness < 0.6 and found.disentanglement < 0.1 and found.completeness < 0.1


def test_lasso_may_keep_a_single_useless_code_which_is_then_disentangled_and_tells_nothing():
    found = dci(levels(), rng(1).normal(size=(240, 4)), probe="lasso")
    assert np.count_nonzero(found.importances) == 1
    assert found.disentanglement == found.completeness == 1 and found.informativeness < 0.4


@pytest.mark.parametrize("probe", ["trees", "forest", "lasso"])
def test_order_sign_and_scale_of_codes_are_free(probe):
    z = levels()
    codes = with_noise(z, 1, scale=0.3)
    expected, moved = dci(z, codes, probe=probe), codes[:, [3, 0, 2, 1]] * [-3, 0.01, 200, 1] + [5, 0, -40, 0]
    found = dci(z, moved, probe=probe)
    assert scores(found) == pytest.approx(scores(expected), abs=0.03)
    np.testing.assert_allclose(found.importances[[1, 3, 2, 0]], expected.importances, atol=0.05)


def test_order_of_samples_and_factors_hardly_matters():
    z = levels(n=900)
    codes = with_noise(z, 1, scale=0.3)
    rows = rng(3).permutation(len(z))
    expected = scores(dci(z, codes))
    assert scores(dci(z[:, [2, 0, 1]], codes)) == pytest.approx(expected, abs=1e-9)
    assert scores(dci(z[rows], codes[rows])) == pytest.approx(expected, abs=0.05)


@every
def test_constant_codes_help_nothing(probe):
    z = levels()
    found = dci(z, np.full((240, 2), 0.1), probe=probe)
    assert (found.disentanglement, found.completeness) == (0, 0)
    assert found.importances.sum() == 0 and 0.25 < found.informativeness < 0.6  # the commonest level
    assert dci(rng().normal(size=(240, 1)), np.ones((240, 1)), probe=probe).informativeness == 0
    padded = dci(z, np.hstack([z, np.ones((240, 1))]), probe=probe)
    assert padded.importances[3].sum() == 0


@pytest.mark.parametrize("noise", [0, 1e-8, 1e-3])
@pytest.mark.parametrize("probe", ["trees", "forest"])
def test_copies_of_codes_share_what_they_tell(probe, noise):
    z = rng().normal(size=(1500, 2))
    found = dci(z, np.hstack([z, -3 * (z + noise * rng(1).normal(size=z.shape))]), probe=probe)
    assert found.completeness == pytest.approx(1 - np.log(2) / np.log(4), abs=0.02)
    assert found.disentanglement > 0.98


def test_codes_that_are_no_copies_keep_their_gains():
    codes = rng().normal(size=(200, 3))
    codes = np.hstack([codes, codes + 0.1 * rng(1).normal(size=codes.shape), np.ones((200, 2))])
    gains = rng(2).uniform(size=8)
    assert shared_among_copies(gains, codes) is gains


def test_fewer_codes_than_factors_and_mixed_kinds():
    z = np.column_stack([levels(), rng(4).normal(size=240)])
    found = dci(z, z[:, [3]])
    assert found.discrete == (True, True, True, False) and found.importances.shape == (1, 4)
    assert found.completeness == 1 and found.disentanglement == pytest.approx(0, abs=1e-9)
    assert found.predicted[3] > 0.98
    assert dci(z, z, discrete=False).discrete == (False,) * 4


def test_a_level_never_seen_in_fitting_counts_as_wrong():
    z = np.repeat([[0], [1]], 15, axis=0)
    z[halves(30)[1][0]] = 2
    assert dci(z, z, discrete=True).informativeness == pytest.approx(0.9)
    z = np.zeros((30, 1))
    z[halves(30)[1][:2]] = 1  # the fitted part has one level only
    assert dci(z, z, discrete=True).informativeness == pytest.approx(0.8)


def test_the_draw_is_fixed_and_a_seed_moves_it():
    z = levels()
    codes = with_noise(z, 1, scale=0.6)
    assert scores(dci(z, codes)) == scores(dci(z, codes)) != scores(dci(z, codes, random_state=1))


def test_a_missing_lightgbm_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ValueError, match=r"needs lightgbm: pip install 'unmix\[trees\]'"):
        dci(levels(), levels())
    assert dci(levels(), levels(), probe="lasso").probe == "lasso"


def test_bad_input_is_named():
    z = levels()
    with pytest.raises(ValueError, match="`probe` must be one of"):
        dci(z, z, probe="svm")
    with pytest.raises(ValueError, match="at least 6 rows"):
        dci(z[:5], z[:5])
    with pytest.raises(ValueError, match="`z_hat` must be finite"):
        dci(z, np.where(z == 1, np.inf, z))
    with pytest.raises(ValueError, match="as many rows"):
        dci(z, z[1:])
    with pytest.raises(ValueError, match="`discrete` must mark columns whose values repeat"):
        dci(rng().normal(size=(20, 1)), z[:20], discrete=True)
