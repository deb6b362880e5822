"""R2 on held-out samples, against the definition and on cases with a known answer."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from samples import normal
from unmix.metrics import r2


def test_linear_equals_least_squares_on_one_half_scored_on_the_other():
    z = normal(200, 3)
    codes = z @ normal(3, 4, seed=1) + normal(200, 4, seed=2) + 5.0
    fit, held_out = np.array_split(np.random.default_rng(7).permutation(200), 2)
    predicted = LinearRegression().fit(codes[fit], z[fit]).predict(codes[held_out])
    assert r2(z, codes, random_state=7) == pytest.approx(r2_score(z[held_out], predicted))


def test_an_invertible_linear_mix_keeps_all_information():
    z = normal(100, 3)
    assert r2(z, z @ normal(3, 3, seed=1) - 7) == pytest.approx(1)


def test_half_the_variance_known_gives_one_half():
    z = normal(20_000, 1)
    assert r2(z, z + normal(20_000, 1, seed=1)) == pytest.approx(0.5, abs=0.02)


def test_factors_are_averaged_and_the_unknown_one_counts_zero():
    z = normal(5000, 2)
    assert r2(z, z[:, :1]) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("probe", ["linear", "kernel"])
def test_noise_scores_zero_and_never_less(probe):
    z, codes = normal(60, 2), normal(60, 25, seed=1)
    assert 0 <= r2(z, codes, probe=probe) < 0.1


def test_the_kernel_probe_sees_what_is_not_linear():
    z = np.random.default_rng(0).uniform(-0.8, 0.8, (600, 1))
    circle = np.column_stack([np.cos(3 * z), np.sin(3 * z)])
    assert r2(z, circle, probe="kernel") > 0.999
    assert r2(z, circle) < 0.9


def test_constant_and_duplicated_codes_add_nothing():
    z = normal(100, 2)
    padded = np.hstack([z, z, np.full((100, 1), 3.0)])
    assert r2(z, padded) == pytest.approx(1)
    assert r2(z, np.full((100, 1), 3.0)) == 0


def test_the_default_split_is_fixed_and_a_seed_moves_it():
    z, codes = normal(40, 2), normal(40, 2) + normal(40, 2, seed=1)
    assert r2(z, codes) == r2(z, codes) != r2(z, codes, random_state=1)


def test_a_factor_constant_on_the_scored_half_counts_zero():
    z = np.zeros((10, 1))
    z[np.random.default_rng(0).permutation(10)[0]] = 1.0  # the only one lies in the fitted half
    assert r2(z, z) == 0


def test_the_kernel_probe_is_fitted_on_at_most_n_fit_samples():
    z = normal(400, 1)
    assert r2(z, z, probe="kernel", n_fit=3) < r2(z, z, probe="kernel", n_fit=100)


def test_bad_arguments_are_named():
    z = normal(10, 2)
    with pytest.raises(ValueError, match="`probe` must be"):
        r2(z, z, probe="tree")
    with pytest.raises(ValueError, match="`n_fit` must be"):
        r2(z, z, n_fit=1)
    with pytest.raises(ValueError, match="at least 4 rows"):
        r2(z[:3], z[:3])
    with pytest.raises(ValueError, match="as many rows"):
        r2(z, z[:5])
    with pytest.raises(ValueError, match="finite"):
        r2(z, np.where(z > 0, z, np.nan))
