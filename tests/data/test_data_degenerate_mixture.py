"""Mixtures of degenerate Gaussians: what is constant, where, and what every such generator promises."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from families import MIXTURES, every
from unmix.data import LatentDataset, LayeredMixing, LinearSCM, degenerate_mixture
from unmix.data._degenerate_mixture import givens_rotations


@every(MIXTURES)
def test_mixture_is_constant_exactly_outside_its_masks(member):
    data = member(2000, random_state=0)
    assert isinstance(data, LatentDataset) and data.description.endswith(".")
    active = data.masks[data.labels]
    constant = np.broadcast_to(data.world.constant, active.shape)
    np.testing.assert_array_equal(data.unrotated[~active], constant[~active])
    assert (data.unrotated[active] != constant[active]).all()
    assert data.masks.any(0).all() and len(np.unique(data.masks, axis=0)) in (1, len(data.masks))
    counts = np.bincount(data.labels, minlength=len(data.masks))
    assert counts.max() - counts.min() <= 1


@every(MIXTURES)
def test_mixture_says_the_truth_about_x_and_its_jacobian(member):
    data = member(2000, random_state=1)
    n = data.z.shape[1]
    assert data.structure.shape == (n, n) and data.structure.support.all()
    clean = data.mixing(data.z)
    left = (data.x - clean).std(0) / clean.std(0)
    np.testing.assert_allclose(left, data.noise, atol=0.02 if data.noise else 1e-12)
    J = data.mixing.jacobian(data.z[:50])
    assert np.linalg.matrix_rank(J).min() == n and (J != 0).any(0).all()
    for j, step in enumerate(1e-7 * np.eye(n)):
        secant = (data.mixing(data.z[:50] + step) - data.mixing(data.z[:50] - step)) / 2e-7
        assert np.median(np.abs(secant - J[:, :, j])) < 1e-6


@every(MIXTURES)
def test_mixture_is_a_function_of_its_seed_and_draws_fresh_samples_of_one_world(member):
    first, again, other = (member(60, random_state=seed) for seed in (3, 3, 4))
    for name in ("x", "z", "labels", "masks", "unrotated", "graph"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
        with pytest.raises(ValueError, match="read-only"):
            getattr(first, name)[0] = 0
    assert not np.array_equal(first.x, other.x)
    fresh = first.world.sample(40, random_state=0)
    assert fresh.mixing is first.mixing and fresh.masks is first.masks
    assert len(fresh.x) == 40 and not np.array_equal(fresh.z, first.z[:40])
    np.testing.assert_array_equal(fresh.x, first.world.sample(40, random_state=0).x)


def test_rotation_is_that_of_the_angle_and_is_undone_by_its_transpose():
    data = degenerate_mixture(50, n_latents=2, theta=30.0, mask_size=1, graph_degree=0, random_state=0)
    cosine, sine = np.sqrt(3) / 2, 0.5
    rotated = data.unrotated @ np.array([[cosine, -sine], [sine, cosine]])
    np.testing.assert_allclose(data.z, rotated, atol=1e-12)
    R = givens_rotations(6, 45.0)
    np.testing.assert_allclose(R @ R.T, np.eye(6), atol=1e-12)
    np.testing.assert_array_equal(givens_rotations(4, 0.0), np.eye(4))


@pytest.mark.parametrize(("degrees", "published"), [(15.0, 0.83), (30.0, 0.60), (45.0, 0.62)])
def test_rotation_leaves_room_for_the_published_scores_and_little_more(degrees, published):
    overlap = np.abs(givens_rotations(10, degrees))
    best = overlap[linear_sum_assignment(-overlap)].mean()  # MCC of independent latents before and after it
    assert published < best < published + 0.05


def test_masked_value_lies_delta_deviations_from_the_mean():
    data = degenerate_mixture(10, n_latents=4, delta=2.0, graph_degree=1, random_state=0)
    free = data.world.scms[0].sample(50_000, np.random.default_rng(0))
    np.testing.assert_allclose(data.world.constant, free.mean(0) + 2 * free.std(0), atol=0.15)


def test_masks_have_the_size_asked_for_and_blocks_move_together():
    sizes = [(0.5, 5), (0.75, 7), (1, 1), (3, 3)]
    for mask_size, expected in sizes:
        masks = degenerate_mixture(60, mask_size=mask_size, random_state=0).masks
        assert set(masks.sum(1)) == {expected} and len(masks) <= 50
    masks = degenerate_mixture(60, blocks=(2, 3, 5), mask_size=0.67, random_state=0).masks
    np.testing.assert_array_equal(masks[:, 0], masks[:, 1])
    assert (masks[:, 5:].all(1) | ~masks[:, 5:].any(1)).all()


def test_two_bases_put_every_other_component_elsewhere():
    data = degenerate_mixture(3000, n_latents=4, components="two bases", random_state=0)
    own = data.labels % 2 == 0
    assert np.allclose(data.z[own], data.unrotated[own]) and not np.allclose(
        data.z[~own], data.unrotated[~own]
    )
    np.testing.assert_allclose(
        np.linalg.norm(data.z, axis=1), np.linalg.norm(data.unrotated, axis=1), rtol=1e-9
    )


def test_equal_components_agree_where_they_meet_and_full_ones_are_nowhere_constant():
    equal = degenerate_mixture(20_000, n_latents=4, components="equal", random_state=0)
    active = equal.masks[equal.labels]
    assert (equal.world.constant == 0).all() and not equal.graph.any()
    np.testing.assert_allclose(equal.unrotated[active].std(), 1, atol=0.03)
    full = degenerate_mixture(500, n_latents=4, components="full", random_state=0)
    assert full.masks.all() and len(full.world.scms) == len(full.masks)
    assert len({scm.graph.tobytes() for scm in full.world.scms}) == 1


def test_scm_samples_obey_their_equations_and_graph_is_acyclic():
    scm = LinearSCM.draw(8, degree=2, rng=np.random.default_rng(0))
    assert scm.graph.sum() == 16 and np.trace(np.linalg.matrix_power(scm.graph.astype(int), 8)) == 0
    sizes = np.abs(scm.weights[scm.weights != 0])
    assert sizes.min() >= 0.2 and sizes.max() <= 1
    v = scm.sample(40_000, np.random.default_rng(1))
    noise = v - v @ scm.weights.T
    np.testing.assert_allclose(np.cov(noise.T), np.eye(8), atol=0.05)


@pytest.mark.parametrize(("noise", "mean"), [("exponential", 1.0), ("gumbel", np.euler_gamma)])
def test_misspecified_noise_has_its_own_mean(noise, mean):
    scm = LinearSCM(np.zeros((2, 2)), noise)
    np.testing.assert_allclose(scm.sample(50_000, np.random.default_rng(0)).mean(0), mean, atol=0.03)


def test_mixing_is_linear_with_one_layer_or_slope_one_and_bends_otherwise():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(20, 3))
    for n_layers, slopes, linear in ((1, (0.2, 0.2), True), (3, (1.0, 1.0), True), (3, (0.2, 0.2), False)):
        g = LayeredMixing.draw(3, n_layers=n_layers, slopes=slopes, rng=rng)
        assert np.allclose(g(z) + g(-z), 0) == linear
    np.testing.assert_allclose(
        LayeredMixing.draw(3, n_layers=1, slopes=(1, 1), rng=rng).jacobian(z)[0].shape, 3
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_samples": 0}, "`n_samples` must be"),
        ({"n_samples": 2.5}, "`n_samples` must be"),
        ({"n_latents": 1}, "`n_latents` must be"),
        ({"profile": "wide"}, "`profile` must be one of"),
        ({"components": "some"}, "`components` must be one of"),
        ({"scm_noise": "cauchy"}, "`scm_noise` must be one of"),
        ({"activation": "relu"}, "`activation` must be one of"),
        ({"graph_degree": 5}, "`graph_degree` must be at most"),
        ({"mask_size": 10}, "`mask_size` must be"),
        ({"mask_size": 0.0}, "`mask_size` must be"),
        ({"blocks": (3, 4)}, "`blocks` must be"),
        ({"blocks": (5, 5), "mask_size": 1}, "`mask_size` must be a share"),
        ({"n_layers": 0}, "`n_layers` must be"),
        ({"delta": float("nan")}, "`delta` must be"),
        ({"noise": -0.1}, "`noise` must be"),
        ({"layers": 2, "slope": 1}, "among n_samples, .*, n_layers, activation, noise, got layers, slope."),
    ],
    ids=str,
)
def test_mixture_rejects_bad_arguments(wrong, message):
    with pytest.raises((ValueError, TypeError), match=message):
        degenerate_mixture(**{"n_samples": 50} | wrong)
