"""MCC beyond the plain coefficient: weights, masks, domains, nonlinear dependence, held-out matching."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import normal
from unmix.metrics import match_components, mcc

METHODS = ["pearson", "spearman", "nonlinear"]


@given(st.integers(0, 2**32 - 1), st.sampled_from(["pearson", "spearman"]))
def test_a_whole_weight_is_a_repeated_row(seed, method):
    rng = np.random.default_rng(seed)
    z, codes, times = rng.integers(0, 5, (30, 2)), rng.normal(size=(30, 3)), rng.integers(1, 4, 30)
    z[0], z[1] = 0, 1  # no constant factor
    weighted = match_components(z, codes, method=method, weights=times)
    repeated = match_components(z.repeat(times, 0), codes.repeat(times, 0), method=method)
    np.testing.assert_allclose(weighted.correlation, repeated.correlation, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_mask_leaves_rows_out_unread(method):
    z, codes = normal(80, 2), normal(80, 2) + normal(80, 2, seed=1)
    kept = np.arange(80) % 4 > 0
    spoilt = np.where(kept[:, None], codes, np.nan)
    assert mcc(z, spoilt, method=method, weights=kept) == mcc(z[kept], codes[kept], method=method)
    assert mcc(z, codes, method=method, weights=np.full(80, 7.0)) == mcc(z, codes, method=method)


def test_weights_change_the_nonlinear_coefficient_too():
    z = normal(400, 1)
    codes = np.where(np.arange(400)[:, None] < 200, z, normal(400, 1, seed=1))
    trusted = np.where(np.arange(400) < 200, 1.0, 1e-3)
    assert mcc(z, codes, method="nonlinear") < 0.8
    assert mcc(z, codes, method="nonlinear", weights=trusted) > 0.97


@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        (np.ones(9), ValueError, "one entry per row of `z_true`"),
        (np.zeros(10), ValueError, "not all zero"),
        (-np.ones(10), ValueError, "not negative"),
        (np.full(10, np.nan), ValueError, "finite"),
        (np.ones((10, 1)), TypeError, "one number or boolean per row"),
        (np.arange(10) == 3, ValueError, "at least 2 rows"),
    ],
)
def test_bad_weights_are_named(weights, error, words):
    with pytest.raises(error, match=words):
        mcc(normal(10, 2), normal(10, 2), weights=weights)


def test_correlation_inside_domains_is_the_average_over_domains():
    z, codes = normal(90, 2), normal(90, 3) + normal(90, 3, seed=1)
    codes[:, :2] += z
    domain = np.repeat(["a", "b", "c"], [20, 30, 40])
    parts = [np.corrcoef(z[domain == d].T, codes[domain == d].T)[:2, 2:] for d in "abc"]
    expected = np.average(parts, axis=0, weights=[20, 30, 40])
    np.testing.assert_allclose(match_components(z, codes, within=domain).correlation, expected, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_codes_that_only_tell_domains_apart_score_nothing_inside_them(method):
    domain = np.repeat(np.arange(4), 250)
    means = 5 * normal(4, 2)
    z = means[domain] + normal(1000, 2, seed=1)
    codes = means[domain] + normal(1000, 2, seed=2)
    assert mcc(z, codes, method=method) > 0.8
    assert mcc(z, codes, method=method, within=domain) < 0.1
    assert mcc(z, z**3, method=method, within=domain) > 0.75


def test_domains_go_with_masks_and_halves():
    z, domain = normal(60, 2), np.arange(60) % 3
    kept = domain < 2
    assert mcc(z, z, within=domain, weights=kept) == pytest.approx(1)
    assert mcc(z, -z, within=domain, held_out=True) == pytest.approx(1)
    with pytest.raises(ValueError, match="`within` must have one label per sample"):
        mcc(z, z, within=domain[:-1])
    with pytest.raises(ValueError, match="a group of 1"):
        mcc(z, z, within=np.where(np.arange(60) == 5, 9, domain))


def test_the_nonlinear_coefficient_sees_what_ranks_cannot():
    z = np.random.default_rng(0).uniform(-1, 1, (1000, 1))
    turned = np.where(z < 0, z + 2, z)  # an angle read from another origin: invertible, not monotone
    assert mcc(z, turned, method="nonlinear") > 0.94
    assert mcc(z, turned, method="spearman") < 0.6
    assert mcc(z, z**2, method="nonlinear") < 0.2  # the sign is lost: not invertible


def test_the_nonlinear_coefficient_equals_the_population_correlation_ratio():
    z, noise = normal(20_000, 1), normal(20_000, 1, seed=1)
    assert mcc(z, np.exp(z + noise), method="nonlinear") == pytest.approx(np.sqrt(0.5), abs=0.01)
    assert mcc(z, noise, method="nonlinear") < 0.02


def test_the_nonlinear_coefficient_of_few_levels_and_constants():
    z = np.random.default_rng(0).integers(0, 3, (300, 2))
    assert mcc(z, np.column_stack([z[:, 1] == 1, z[:, 0] ** 2]), method="nonlinear") > 0.5
    assert mcc(z, np.ones((300, 2)), method="nonlinear") == 0
    assert match_components(z, z, method="nonlinear").sign == (1, 1)


@pytest.mark.parametrize(("n", "m", "plain"), [(100, 10, 0.175), (100, 1000, 0.335), (1000, 1000, 0.106)])
def test_noise_scores_nothing_when_pairs_are_held_out(n, m, plain):
    pairs = [(normal(n, 10, seed=s), normal(n, m, seed=s + 100)) for s in range(4)]
    assert np.mean([mcc(*pair) for pair in pairs]) == pytest.approx(plain, abs=0.03)
    assert np.mean([mcc(*pair, held_out=True) for pair in pairs]) < 0.06


def test_held_out_matching_follows_its_definition():
    z, codes = normal(50, 3), normal(50, 3) + 0.8 * normal(50, 3, seed=1)
    first, second = np.array_split(np.random.default_rng(3).permutation(50), 2)
    found = []
    for fit, score in ((first, second), (second, first)):
        matching = match_components(z[fit], codes[fit])
        r = np.corrcoef(z[score].T, codes[score].T)[:3, 3:]
        found += [s * r[j, k] for j, (k, s) in enumerate(zip(matching.order, matching.sign, strict=True))]
    assert mcc(z, codes, held_out=True, random_state=3) == pytest.approx(np.mean(found))
    with pytest.raises(ValueError, match="at least 8 rows"):
        mcc(z[:7], codes[:7], held_out=True)


def test_the_method_is_checked():
    with pytest.raises(ValueError, match="`method` must be one of"):
        mcc(normal(10, 2), normal(10, 2), method="kendall")
