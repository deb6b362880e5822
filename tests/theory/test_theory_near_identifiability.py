"""Certificates from decoders, pairs of runs and softmax heads: closed forms, brute force, wording."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmix.theory import certify_decoder, certify_pair, isometric_constant, softmax_diversity

seeds = st.integers(0, 2**32 - 1)


def orthonormal(seed, n, rows, columns):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n, rows, columns)))[0]


def check_shape(found):
    assert all(isinstance(reason, str) for reason in found.reasons) and len(found.identifies) > 20
    plain = found.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["holds"] == bool(found) and found.identifies in str(found)
    assert bool(found.certificates[0]) == bool(found)


@given(seed=seeds, low=st.floats(0.2, 1), high=st.floats(1, 5))
def test_a_linear_decoder_has_the_constant_of_its_singular_values(seed, low, high):
    q = orthonormal(seed, 1, 4, 4)
    jacobian = (q[0][:, :3] * [low, 1, high]) @ orthonormal(seed, 1, 3, 3)[0]
    found = certify_decoder(np.stack([jacobian] * 3))
    assert (found.k_max, found.k_mean, found.k_p95) == pytest.approx((max(high, 1 / low),) * 3)
    assert found.delta == pytest.approx(found.k_max**2 - 1)
    assert found.slope_max == pytest.approx(np.sqrt(found.delta), abs=1e-6)
    free = certify_decoder(np.stack([jacobian] * 3), scale="free")
    assert free.k_max == pytest.approx(np.sqrt(high / low))  # the best over all factors
    assert free.factor == pytest.approx(np.sqrt(high * low))
    check_shape(found)


def test_an_isometry_is_certified_and_its_scaling_only_if_scale_is_free():
    q = orthonormal(0, 30, 6, 3)
    exact = certify_decoder(q)
    assert exact and exact.uniform_bound < 1e-4 and "rotation, reflection and translation" in exact.identifies
    free = certify_decoder(3 * q, scale="free")
    assert not certify_decoder(3 * q) and free and "translation and a scale" in free.identifies
    assert any("decoder of another minimiser" in word for word in free.certificates[0].assumes)
    assert exact.missing == () and "K below" in certify_decoder(1.01 * q).missing[0]


@pytest.mark.parametrize("d", [0.1, 0.3])
def test_dynamical_isometry_gives_the_derived_constant(d):
    """Singular values in [1 - d, 1 + d]: K = 1 / (1 - d), below the published (1 + d) / (1 - d)."""
    values = np.random.default_rng(0).uniform(1 - d, 1 + d, (50, 4))
    values[0, 0], values[1, 1] = 1 - d, 1 + d
    assert certify_decoder(values).k_max == pytest.approx(1 / (1 - d))


@given(seed=seeds)
def test_singular_values_say_as_much_as_jacobians_in_any_frame(seed):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(6, 5, 3))
    turned = orthonormal(seed, 1, 5, 5)[0] @ J @ orthonormal(seed + 1, 1, 3, 3)[0]
    by_values = certify_decoder(np.linalg.svd(J, compute_uv=False))
    for other in (by_values, certify_decoder(turned)):
        np.testing.assert_allclose(other.constants, certify_decoder(J).constants, rtol=1e-8)


def test_the_bound_is_the_constant_times_the_root_and_vacuous_at_one():
    c = isometric_constant(2)
    edge = np.sqrt(1 + 1 / c**2)  # K^2 - 1 = 1 / c^2
    below, above = (certify_decoder(np.full((2, 2), k)) for k in (0.9999999 * edge, 1.0000001 * edge))
    assert below and not below.vacuous and below.uniform_bound == pytest.approx(1, abs=1e-3)
    assert not above and above.vacuous and above.uniform_bound == pytest.approx(1, abs=1e-3)
    assert f"{edge:.6f}" in above.missing[0]
    assert certify_decoder(np.full((2, 2), 1.1), constant=0.5)  # a user's own constant


def test_beyond_delta_one_there_is_no_theorem():
    found = certify_decoder(np.full((2, 2), 2.0))
    assert found.delta == 3 and found.uniform_bound == np.inf and found.vacuous
    assert "outside the theorem" in found.certificates[0].reasons[0]
    assert found.to_dict()["uniform_bound"] is None


def test_a_linear_head_widens_the_constant():
    q = orthonormal(0, 3, 4, 2)
    assert certify_decoder(q, head=(0.5, 1.5)).delta == pytest.approx(1.0)  # 1 / 0.5 beats 1.5
    assert certify_decoder(q, head=(0.9, 1.5)).delta == pytest.approx(0.5)


def test_singular_jacobians_and_too_few_outputs_are_counted():
    found = certify_decoder(np.array([[[1.0, 0], [0, 0]], [[1, 0], [0, 1]]]))
    assert not found and found.n_capped == 1 and "1 of 2 samples" in found.certificates[1].reasons[0]
    assert certify_decoder(np.ones((4, 1, 2))).n_capped == 4


def test_convexity_is_assumed_or_judged():
    q = orthonormal(0, 3, 4, 2)
    assert any("convex" in word for word in certify_decoder(q).certificates[0].assumes)
    judged = certify_decoder(q, convexity=0.97)
    assert judged and not any("convex" in word for word in judged.certificates[0].assumes)
    bent = certify_decoder(q, convexity=0.4)
    assert not bent and "Convex latent support" in bent.missing[0]


@given(seed=seeds, d=st.integers(1, 4))
def test_a_rigid_pair_is_proved_rigid(seed, d):
    z = np.random.default_rng(seed).uniform(size=(50, d))
    found = certify_pair(z, z @ orthonormal(seed, 1, d, d)[0] - 3)
    assert found and found.delta < 1e-12 and found.instance_bound < 1e-4
    assert found.measured_worst < 1e-12 and found.ratios == pytest.approx((1, 1, 1))
    check_shape(found)


@given(seed=seeds, bend=st.floats(0, 0.3))
def test_the_proof_covers_what_is_measured_and_the_uniform_bound_covers_the_proof(seed, bend):
    rng = np.random.default_rng(seed)
    z = rng.uniform(-1, 1, (80, 3))
    image = z @ orthonormal(seed, 1, 3, 3)[0] + bend * np.sin(2 * z)
    found = certify_pair(z, image)
    assert found.measured_mean <= found.measured_worst <= found.instance_bound + 1e-12
    assert found.instance_bound <= found.uniform_bound + 1e-12
    assert found.vacuous == (found.instance_bound >= 1) == (not found)


def test_ica_is_certified_for_runs_that_a_linear_map_joins():
    rng = np.random.default_rng(0)
    z = rng.uniform(-1, 1, (1500, 2))
    found = certify_pair(z, z @ [[1.0, 0.4], [-0.3, 0.8]])
    assert found.epsilon < 1e-12 and found.curvature.gamma > 0.1 and not found.ica_vacuous
    assert "latent by latent" in found.identifies
    noisy = certify_pair(z, z @ [[1.0, 0.4], [-0.3, 0.8]] + 0.05 * rng.normal(size=z.shape))
    assert noisy.ica_vacuous and noisy.ica_bound > found.ica_bound and noisy.missing


def test_gaussian_runs_leave_the_rotation_open():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1500, 2))
    found = certify_pair(z, z @ orthonormal(0, 1, 2, 2)[0])
    assert found and not found.certificates[2] and not found.certificates[3]
    assert "components that are not Gaussian" in found.missing and "rotation" in found.identifies


def test_a_factor_between_runs_needs_scale():
    z = np.random.default_rng(0).uniform(size=(100, 2))
    assert not certify_pair(z, 5 * z)
    scaled = certify_pair(z, 5 * z, scale=True)
    assert scaled and scaled.factor == pytest.approx(5)
    rotated = certify_pair(z, 5 * np.column_stack([z, 0 * z[:, 0]]), scale=True)
    assert "and a scale" in rotated.identifies


def test_widths_may_differ_and_rank_may_be_short():
    z = np.random.default_rng(0).uniform(size=(60, 2))
    wide = np.column_stack([z, np.zeros(60)]) @ orthonormal(0, 1, 3, 3)[0]
    for a, b in ((z, wide), (wide, z)):
        assert certify_pair(a, b).delta < 1e-12
    short = certify_pair(wide, np.column_stack([z, z[:, 0]]))
    assert short.k_whitening == np.inf and not short.certificates[1]
    check_shape(short)


def test_a_linear_map_that_fits_because_it_is_wide_proves_nothing_about_ica():
    rng = np.random.default_rng(0)
    found = certify_pair(rng.uniform(size=(10, 20)), rng.uniform(size=(10, 2)))
    assert found.epsilon < 1e-12 and found.ica_vacuous and not found.certificates[3]
    assert not certify_pair(rng.uniform(size=(10, 20)), rng.uniform(size=(10, 20))).certificates[3]


def test_many_rows_are_sampled_and_this_is_said():
    z = np.random.default_rng(0).uniform(size=(500, 2))
    found = certify_pair(z, z, max_rows=100)
    assert found.n_rows == 100 and not found.all_pairs
    assert "100 compared" in found.certificates[0].assumes[0]


@given(seed=seeds, d=st.integers(1, 4), n=st.integers(2, 7))
def test_diversity_is_that_the_differences_of_rows_span(seed, d, n):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, 2, (n, d)).astype(float)
    found = softmax_diversity(rows)
    assert found.rank == np.linalg.matrix_rank(rows - rows[0])
    assert bool(found) == (found.rank == d)
    np.testing.assert_allclose(softmax_diversity(rows[::-1] + 7).eigenvalues, found.eigenvalues, atol=1e-9)
    check_shape(found)


def test_classes_that_never_occur_do_not_help():
    rows = np.array([[1.0, 0], [0, 1], [-1, -1], [3, 5]])
    assert softmax_diversity(rows, probabilities=[1, 1, 1, 0])
    short = softmax_diversity(rows, probabilities=[0.5, 0.5, 0, 0])
    assert not short and short.rank == 1 and "at least 3 classes" in short.missing[0]
    p = np.array([0.1, 0.2, 0.3, 0.4])
    covariance = np.cov(rows.T, aweights=p, ddof=0)
    np.testing.assert_allclose(
        softmax_diversity(rows, probabilities=p).eigenvalues, np.linalg.eigvalsh(covariance)[::-1]
    )


def test_enough_classes_may_still_lie_in_a_plane():
    rows = np.random.default_rng(0).normal(size=(10, 2)) @ np.ones((2, 3))
    assert "2 more directions" in softmax_diversity(rows).missing[0]
    assert softmax_diversity(np.ones((4, 2))).rank == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: certify_decoder(np.ones(3)), "`jacobians` must be finite"),
        (lambda: certify_decoder(np.full((2, 2), np.nan)), "`jacobians` must be finite"),
        (lambda: certify_decoder(np.ones((2, 2)), scale="auto"), "`scale` must be"),
        (lambda: certify_decoder(np.ones((2, 2)), head=(0, 1)), "`head` must be"),
        (lambda: certify_decoder(np.ones((2, 2)), convexity=2), "`convexity` must be"),
        (lambda: certify_pair(np.eye(4), np.eye(5)), "as many rows"),
        (lambda: certify_pair(np.ones((4, 2)), np.eye(4)), "`z1` must vary"),
        (lambda: certify_pair(np.eye(2), np.eye(2)), "at least 3 rows"),
        (lambda: certify_pair(np.eye(4), np.eye(4), max_rows=2), "`max_rows` must be"),
        (lambda: softmax_diversity(np.ones(3)), "`weights` must be finite"),
        (lambda: softmax_diversity(np.eye(3), probabilities=[1, 1]), "`probabilities` must hold 3"),
        (lambda: softmax_diversity(np.eye(3), probabilities=[1, 1, -1]), "`probabilities` must hold 3"),
        (lambda: softmax_diversity(np.eye(3), tolerance=0), "`tolerance` must be"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("scale", [1e250, 1e-250])
def test_runs_whose_squares_are_no_numbers_are_refused(scale):
    z = np.random.default_rng(0).laplace(size=(20, 2))
    with pytest.raises(ValueError, match="`z2` must have entries of up to 1e-100 to 1e"):
        certify_pair(z, scale * z)
