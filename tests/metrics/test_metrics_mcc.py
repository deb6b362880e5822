"""MCC against a search over all pairings, its floors and nulls, and what it refuses."""

import itertools

import numpy as np
import pytest
from scipy.stats import spearmanr

from samples import normal
from unmix.metrics import match_components, mcc, rotation_floor


def brute_force(correlation):
    n_factors, n_codes = correlation.shape
    if n_factors <= n_codes:
        pairings = itertools.permutations(range(n_codes), n_factors)
        return max(sum(abs(correlation[j, k]) for j, k in enumerate(order)) for order in pairings) / n_factors
    pairings = itertools.permutations(range(n_factors), n_codes)
    return max(sum(abs(correlation[j, k]) for k, j in enumerate(order)) for order in pairings) / n_factors


@pytest.mark.parametrize("method", ["pearson", "spearman"])
@pytest.mark.parametrize(("n_factors", "n_codes"), [(1, 1), (3, 3), (2, 4), (4, 2), (4, 5)])
def test_equals_the_best_of_all_pairings(method, n_factors, n_codes):
    z, mixing = normal(50, n_factors), normal(n_factors, n_codes, seed=1)
    codes = np.tanh(z @ mixing)
    if method == "pearson":
        expected = np.corrcoef(z.T, codes.T)[:n_factors, n_factors:]
    else:
        joint = spearmanr(np.hstack([z, codes])).statistic
        expected = np.atleast_2d(joint)[:n_factors, n_factors:] if np.ndim(joint) else np.array([[joint]])
    matching = match_components(z, codes, method=method)
    np.testing.assert_allclose(matching.correlation, expected, atol=1e-12)
    assert mcc(z, codes, method=method) == pytest.approx(brute_force(expected), abs=1e-12)


def test_order_and_sign_say_how_to_align_the_codes():
    z = normal(100, 4)
    order, sign = [2, 0, 3, 1], np.array([1, -1, -1, 1])
    codes = (z * sign)[:, order]
    matching = match_components(z, codes)
    np.testing.assert_allclose(codes[:, matching.order] * matching.sign, z)
    np.testing.assert_allclose(matching.matched, 1)
    assert not matching.correlation.flags.writeable


def test_a_factor_without_a_code_counts_zero():
    z = normal(100, 4)
    matching = match_components(z, z[:, [2]])
    assert matching.order == (-1, -1, 0, -1) and matching.sign == (0, 0, 1, 0)
    assert mcc(z, z[:, [2]]) == pytest.approx(0.25)


def test_surplus_codes_cost_nothing():
    z = normal(100, 3)
    assert mcc(z, np.hstack([normal(100, 5, seed=1), z])) == pytest.approx(1)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9, -1e-300])
def test_a_constant_code_has_correlation_zero(constant):
    z = normal(100, 2)
    codes = np.column_stack([np.full(100, constant), z[:, 1]])
    assert match_components(z, codes).correlation[:, 0].tolist() == [0, 0]
    assert mcc(z, codes) == pytest.approx(0.5, abs=0.001)
    assert mcc(z, np.full((100, 2), constant)) == 0


def test_a_code_that_varies_by_rounding_only_is_constant():
    z = normal(100, 2)
    codes = 1e9 * (1 + np.finfo(float).eps * (z > 0))
    assert mcc(z, codes) == 0
    with pytest.raises(ValueError, match="constant column 0"):
        mcc(codes, z)


def test_duplicated_columns_are_fine():
    z = normal(100, 2)
    assert mcc(z, z[:, [0, 0, 1]]) == pytest.approx(1)
    assert mcc(z[:, [0, 0]], z[:, [0, 0]]) == pytest.approx(1)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_extreme_units_neither_overflow_nor_vanish(unit):
    z = normal(100, 3)
    assert mcc(z * unit, z / unit) == pytest.approx(1)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
def test_any_real_type_is_accepted(dtype):
    z = (normal(100, 3).clip(0) * 3).astype(dtype)
    assert mcc(z, z) == pytest.approx(1)


def test_spearman_respects_monotone_maps_and_pearson_does_not():
    z = normal(500, 3)
    assert mcc(z, np.exp(3 * z), method="spearman") == pytest.approx(1)
    assert mcc(z, np.exp(3 * z)) < 0.6


@pytest.mark.parametrize(
    ("d", "expected"), [(2, 0.89), (3, 0.83), (5, 0.73), (10, 0.60), (20, 0.47), (50, 0.34)]
)
def test_the_floor_of_a_random_rotation(d, expected):
    floor = rotation_floor(normal(4000, d), n_draws=300 // d + 20, random_state=0)
    assert floor == pytest.approx(expected, abs=0.02)


def test_the_floor_rises_with_the_correlation_of_factors():
    floors = []
    for correlation in [0.0, 0.5, 0.9]:
        covariance = np.full((5, 5), correlation) + (1 - correlation) * np.eye(5)
        z = normal(4000, 5) @ np.linalg.cholesky(covariance).T
        floors.append(rotation_floor(z, n_draws=150, random_state=0))
    assert floors == sorted(floors)
    assert floors == pytest.approx([0.74, 0.76, 0.84], abs=0.04)


@pytest.mark.parametrize(("n", "m", "expected"), [(100, 10, 0.175), (100, 1000, 0.335), (1000, 1000, 0.106)])
def test_pure_noise_scores_far_above_zero(n, m, expected):
    scores = [mcc(normal(n, 10, seed=s), normal(n, m, seed=s + 100)) for s in range(8)]
    assert np.mean(scores) == pytest.approx(expected, abs=0.025)


def test_the_floor_takes_any_metric_and_a_seed():
    z = normal(200, 3)
    assert rotation_floor(z, random_state=1) == rotation_floor(z, random_state=1)
    seen = []
    assert (
        rotation_floor(z, metric=lambda a, b: seen.append((a, b)) or len(seen), n_draws=3) == 2
    )  # of 1, 2, 3
    for truth, codes in seen:  # each draw is a rotation of the standardised truth, and not the truth
        turn = np.linalg.lstsq((z - z.mean(0)) / z.std(0), codes)[0]
        np.testing.assert_array_equal(truth, z)
        np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-10)
        assert np.abs(turn).max(0).min() < 0.999
    assert rotation_floor(z[:, :1]) == pytest.approx(1)
    assert rotation_floor(z * [1e-3, 1, 1e3], random_state=1) == pytest.approx(
        rotation_floor(z, random_state=1)
    )
    with pytest.raises(ValueError, match="`n_draws`"):
        rotation_floor(z, n_draws=0)


BAD = [
    (normal(5, 2), normal(4, 2), ValueError, "as many rows"),
    (normal(1, 2), normal(1, 2), ValueError, "at least 2 rows"),
    (np.zeros((0, 2)), np.zeros((0, 2)), ValueError, "shape"),
    (normal(5), normal(5), ValueError, r"reshape\(-1, 1\)"),
    (normal(5, 2), normal(5), ValueError, "`z_hat` must have shape"),
    (np.ones((5, 2)), normal(5, 2), ValueError, "constant column 0"),
    (np.column_stack([normal(5), np.full(5, 0.1)]), normal(5, 2), ValueError, "constant column 1"),
    (np.array([[1, np.nan], [2, 3]]), normal(2, 2), ValueError, "`z_true` must be finite, got nan in row 0"),
    (normal(2, 2), np.array([[1, 2], [-np.inf, 3]]), ValueError, "`z_hat` must be finite, got -inf in row 1"),
    (np.array([["a"], ["b"]]), normal(2, 1), TypeError, "`z_true` must hold numbers"),
    (normal(2, 1), np.array([[1j], [2]]), TypeError, "`z_hat` must hold numbers"),
]


@pytest.mark.parametrize(("z", "codes", "error", "words"), BAD)
def test_bad_input_is_named(z, codes, error, words):
    for call in [mcc, match_components]:
        with pytest.raises(error, match=words):
            call(z, codes)


def test_frames_and_tensors_are_accepted():
    pandas, torch = pytest.importorskip("pandas"), pytest.importorskip("torch")
    z = normal(50, 2)
    assert mcc(pandas.DataFrame(z), torch.from_numpy(z)) == pytest.approx(1)
