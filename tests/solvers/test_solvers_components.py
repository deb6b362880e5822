"""Components read off patterns of activity."""

import numpy as np
import pytest

from unmix.solvers.sparse_rows._components import Components, components_of, genericity_gap


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
