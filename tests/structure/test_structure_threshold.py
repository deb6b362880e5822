"""Structures read off Jacobian samples: scale, threshold, margin."""

import numpy as np
import pytest

from unmix.structure import Structure, diverse


def jacobians(structure, n=200, leak=0.0, seed=0):
    rng = np.random.default_rng(seed)
    kept = rng.uniform(0.5, 1.5, (n, *structure.shape)) * rng.choice([-1, 1], (n, *structure.shape))
    return np.where(structure.support, kept, leak * kept)


def test_exact_zeros_give_back_the_structure_with_an_infinite_margin():
    truth = diverse(10, 5, random_state=0)
    found = Structure.from_jacobian(jacobians(truth))
    assert found == truth and found.margin == np.inf


@pytest.mark.parametrize("leak", [0.001, 0.05, 0.2])
def test_the_gap_finds_the_structure_under_leakage(leak):
    truth = diverse(10, 5, random_state=1)
    found = Structure.from_jacobian(jacobians(truth, leak=leak))
    assert found == truth
    assert 0.5 / leak < found.margin < 1.5 / leak


def test_the_margin_is_smallest_kept_over_largest_dropped():
    magnitudes = [[1.0, 0.4, 0.03], [0.05, 1.0, 0.6]]
    found = Structure.from_jacobian(magnitudes)
    assert found.support.tolist() == [[True, True, False], [False, True, True]]
    assert found.margin == pytest.approx(0.4 / 0.05)


def test_a_given_threshold_is_used_and_reports_its_margin():
    magnitudes = [[1.0, 0.4], [0.05, 1.0]]
    assert Structure.from_jacobian(magnitudes, 0.5).support.tolist() == [[True, False], [False, True]]
    assert Structure.from_jacobian(magnitudes, 0.5).margin == pytest.approx(1.0 / 0.4)
    assert Structure.from_jacobian(magnitudes, 0.01).margin == np.inf
    assert Structure.from_jacobian([[0.3, 0.0]], 0.0).support.tolist() == [[True, False]]


def test_the_threshold_never_leaves_its_window():
    even = np.array([[1.0, 0.8, 0.6, 0.45]])  # a gap between 0.45 and 0.6 is no reason to drop an edge
    assert Structure.from_jacobian(even).support.all()
    dust = np.array([[1.0, 0.6, 0.025, 1e-9]])  # the widest gap of all lies below 0.025
    assert Structure.from_jacobian(dust).support.tolist() == [[True, True, False, False]]


def test_rows_are_compared_with_their_own_maximum():
    truth = diverse(6, 3, random_state=2)
    units = np.geomspace(1e-6, 1e6, 6)[:, None]
    assert Structure.from_jacobian(jacobians(truth, leak=0.01) * units) == truth


def test_latent_scale_undoes_the_units_of_latents():
    truth = diverse(6, 3, random_state=3)
    units = np.array([1e-3, 1.0, 1e3])
    stretched = jacobians(truth, leak=0.01) / units
    assert Structure.from_jacobian(stretched, latent_scale=units) == truth
    assert Structure.from_jacobian(stretched) != truth


def test_opposite_signs_do_not_cancel():
    assert Structure.from_jacobian([[[1.0, 1.0]], [[1.0, -1.0]]]).support.all()


def test_a_row_that_never_moves_has_no_parents():
    assert Structure.from_jacobian([[1.0, 0.0], [0.0, 0.0]]).support.tolist() == [
        [True, False],
        [False, False],
    ]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_jacobian_must_be_finite(bad):
    with pytest.raises(ValueError, match="`J` must be finite, got 1"):
        Structure.from_jacobian([[1.0, bad]])


@pytest.mark.parametrize("shape", [(3,), (0, 2, 2), (2, 0), (1, 2, 3, 4)])
def test_a_jacobian_must_have_two_or_three_axes(shape):
    with pytest.raises(ValueError, match="`J` must have shape"):
        Structure.from_jacobian(np.ones(shape))


@pytest.mark.parametrize("threshold", [-0.1, 1.0, np.nan])
def test_a_threshold_is_relative(threshold):
    with pytest.raises(ValueError, match="`threshold` must be in"):
        Structure.from_jacobian([[1.0]], threshold)


@pytest.mark.parametrize("scale", [[1.0], [1.0, -1.0], [1.0, np.nan], [[1.0, 1.0]]])
def test_latent_scale_is_checked(scale):
    with pytest.raises(ValueError, match="`latent_scale` must hold 2"):
        Structure.from_jacobian([[1.0, 1.0]], latent_scale=scale)
