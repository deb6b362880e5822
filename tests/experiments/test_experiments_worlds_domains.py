"""Worlds with domains for the calibration of trust: what they hold, and what counts as right."""

import numpy as np
import pytest

from unmix.experiments.papers.trust._worlds_domains import FAMILIES, right_within

NULL = [family for family in FAMILIES if family.null]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_worlds_are_drawn_again_alike_and_fit_the_estimator(family):
    for seed in range(6):
        data = family.draw(300, seed)
        model = family.model(data, seed)
        assert np.isfinite(data.x).all() and len(data.u) == len(data.x) == len(data.z)
        assert model.n_components <= data.x.shape[1] and len(np.unique(data.u)) > 1
        np.testing.assert_array_equal(family.draw(300, seed).x, data.x)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_truth_is_right_in_any_order_and_a_turn_of_it_is_not(family):
    data = family.draw(300, 1)
    inside = data.z - np.array([data.z[data.u == u].mean(0) for u in range(data.u.max() + 1)])[data.u]
    turn = np.linalg.qr(np.ones((data.z.shape[1],) * 2) + 3 * np.tri(data.z.shape[1]))[0]
    assert right_within(data, -np.sinh(data.z[:, ::-1]), ()).all()
    assert not right_within(data, inside / inside.std(0) @ turn, ()).all()


def test_several_families_are_null():
    assert len(NULL) >= 2 and len(FAMILIES) - len(NULL) >= 4


def test_labels_that_say_nothing_leave_latents_gaussian_and_alike():
    data = NULL[0].draw(1000, 0)
    spreads = np.array([data.z[data.u == u].std(0) for u in range(data.u.max() + 1)])
    assert abs(np.corrcoef(data.z.T)[0, 1]) < 0.15 and np.all(np.abs(np.log(spreads)) < 0.5)
