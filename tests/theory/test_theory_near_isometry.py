"""Bounds on near-isometries: printed values, and never below an isometry built by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmix._geometry import rotation
from unmix.theory import isometric_constant, near_isometry_bound
from unmix.theory.near._isometry import distance_change, pivot_heights

seeds = st.integers(0, 2**32 - 1)
SQUARE = np.array([[0, 0], [1, 0], [0, 1], [1, 1.0]])
TABLE = {1: 5.754, 2: 19.03, 3: 47.69, 4: 110.9, 5: 248.8, 8: 2527, 10: 1.131e4, 16: 9.16e5, 64: 5.2e20}


def diameter(z):
    return max(np.linalg.norm(z - row, axis=1).max() for row in z)


@pytest.mark.parametrize(("d", "value"), TABLE.items())
def test_the_constant_has_the_printed_values(d, value):
    assert isometric_constant(d) == pytest.approx(value, rel=1e-2 if d == 64 else 6e-4)


@pytest.mark.parametrize(("delta", "value"), [(1e-6, 3.62813e-5), (1e-4, 3.63933e-3), (1e-3, 3.74541e-2)])
def test_the_square_has_the_printed_bounds(delta, value):
    assert near_isometry_bound(SQUARE, delta) == pytest.approx(value, rel=2e-6)
    np.testing.assert_allclose(pivot_heights(SQUARE, 0) / np.sqrt(2), [1, 0.5])


@given(seed=seeds, d=st.integers(1, 5), bend=st.floats(1e-6, 0.05))
def test_no_near_isometry_is_farther_from_a_rigid_motion_than_the_bound(seed, d, bend):
    rng = np.random.default_rng(seed)
    z = rng.uniform(-1, 1, (60, d)) * rng.uniform(0.05, 1, d)
    image = z @ np.linalg.qr(rng.normal(size=(d, d)))[0] + bend * np.sin(3 * z @ rng.normal(size=(d, d)))
    delta, _ = distance_change(z, image, diameter(z))
    bound = near_isometry_bound(z, delta) * diameter(z)
    a, b = z - z.mean(0), image - image.mean(0)
    assert np.linalg.norm(a @ rotation(a, b)[0] - b, axis=1).max() <= bound


@given(seed=seeds, d=st.integers(1, 5), delta=st.floats(1e-9, 1.0))
def test_the_uniform_bound_is_never_below_that_of_the_points(seed, d, delta):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(20, d)) * 10.0 ** rng.uniform(-4, 0, d)
    assert near_isometry_bound(z, delta) <= isometric_constant(d) * np.sqrt(delta) * (1 + 1e-9)


@given(seed=seeds, factor=st.floats(0.01, 100), delta=st.floats(1e-6, 0.1))
def test_the_bound_does_not_know_the_frame_or_the_unit(seed, factor, delta):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(15, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    moved = factor * z @ turn + 5
    assert near_isometry_bound(moved, delta) == pytest.approx(near_isometry_bound(z, delta), rel=1e-6)


@given(seed=seeds)
def test_heights_are_the_largest_distances_from_the_spans(seed):
    z = np.random.default_rng(seed).normal(size=(12, 3))
    left, found = z - z[4], []
    for _ in range(3):
        k = np.linalg.norm(left, axis=1).argmax()
        found.append(np.linalg.norm(left[k]))
        axis = left[k] / found[-1]
        left = left - np.outer(left @ axis, axis)
    np.testing.assert_allclose(pivot_heights(z, 4), found, rtol=1e-9)


def test_a_segment_bent_into_an_arc_shows_that_the_square_root_is_needed():
    """Its error over sqrt(delta) does not shrink with the bend, and the bound for its line stays above."""
    t = np.linspace(-0.5, 0.5, 201)
    for angle in (0.5, 0.1, 0.02):
        arc = np.column_stack([np.sin(angle * t), 1 - np.cos(angle * t)]) / angle
        line = np.column_stack([t, 0 * t])
        delta, _ = distance_change(line, arc, 1.0)
        sagitta = np.ptp(arc[:, 1]) / 2  # the closest line halves the height of the arc
        assert sagitta / np.sqrt(delta) == pytest.approx(0.306, abs=0.005)
        assert sagitta <= near_isometry_bound(line, delta)


def test_a_map_into_a_wider_space_has_a_larger_bound():
    z = np.random.default_rng(0).normal(size=(30, 2))
    assert near_isometry_bound(z, 1e-4, n_target=3) > 10 * near_isometry_bound(z, 1e-4)


def test_no_change_no_error_and_a_point_has_no_size():
    z = np.random.default_rng(0).normal(size=(30, 4))
    assert near_isometry_bound(z, 0.0) == 0.0
    assert near_isometry_bound(np.ones((3, 2)), 0.1) == 0.0


@given(seed=seeds)
def test_delta_is_that_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(8, 2)), rng.normal(size=(8, 3))
    delta, ratios = distance_change(a, b, 2.0)
    pairs = [(i, j) for i in range(8) for j in range(i)]
    before = np.array([np.linalg.norm(a[i] - a[j]) for i, j in pairs])
    after = np.array([np.linalg.norm(b[i] - b[j]) for i, j in pairs])
    assert delta == pytest.approx(np.abs(after - before).max() / 2)
    np.testing.assert_allclose(ratios, np.quantile(after / before, (0.05, 0.5, 0.95)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: isometric_constant(0), "`n_latents` must be at least 1"),
        (lambda: near_isometry_bound([1.0, 2.0], 0.1), "`z` must be a finite table"),
        (lambda: near_isometry_bound([[np.nan]], 0.1), "`z` must be a finite table"),
        (lambda: near_isometry_bound(SQUARE, -0.1), "`delta` must be at least 0"),
        (lambda: near_isometry_bound(SQUARE, np.nan), "`delta` must be at least 0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
