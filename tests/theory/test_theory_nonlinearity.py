"""Sufficient nonlinearity from Jacobian samples, and the certificate as a value."""

import json

import numpy as np
import pytest

from unmix.structure import Structure, ring
from unmix.theory import Certificate, nonlinearity


def smooth_jacobians(structure, n=100, seed=0):
    """Gradients of x_i = sum_j sin(w_ij z_j + b_ij) over the parents: different at every point."""
    rng = np.random.default_rng(seed)
    w, b = rng.uniform(1, 2, structure.shape), rng.uniform(-1, 1, structure.shape)
    z = rng.normal(size=(n, 1, structure.n_latents))
    return structure.support * w * np.cos(w * z + b)


def test_a_smooth_mixing_passes_with_full_ranks():
    found = nonlinearity(smooth_jacobians(ring(5)), ring(5))
    assert found and found.ranks == (2,) * 5
    assert all(1e-3 < margin <= 1 for margin in found.margins)
    assert f"{min(found.margins):.2g}" in str(found)
    assert found.certificates == (found,) and found.missing == () and "bends enough" in found.identifies


def test_a_linear_mixing_fails_where_a_variable_has_two_parents():
    structure = Structure([[1, 0], [1, 1]])
    weights = np.array([[2.0, 0.0], [1.0, 3.0]])
    found = nonlinearity(np.tile(weights, (50, 1, 1)), structure)
    assert not found and found.ranks == (1, 1)
    assert found.margins[0] == 1 and found.margins[1] < 1e-12
    assert "x1 span 1 of 2" in str(found)
    assert found.identifies.startswith("Nothing") and "span all of its parents" in found.missing[0]


def test_margins_are_ratios_of_singular_values():
    rows = np.array([[1.0, 0.0], [0.0, 0.25]])
    found = nonlinearity(rows[:, None, :], Structure([[1, 1]]))
    assert found.margins == pytest.approx((0.25,))
    assert not nonlinearity(rows[:, None, :], Structure([[1, 1]]), tolerance=0.3)


def test_entries_outside_the_structure_do_not_count():
    jacobians = smooth_jacobians(ring(3)) + 5 * (~ring(3)).support
    assert nonlinearity(jacobians, ring(3)).ranks == (2, 2, 2)


@pytest.mark.parametrize("noise", [0.003, 0.03, 0.1])
def test_a_linear_mixing_that_was_learned_bends_no_more_than_its_zeros(noise):
    """The error of an estimate spans every direction; what it does to zeros tells how much that is worth."""
    rng, structure = np.random.default_rng(0), ring(5)
    weights = structure.support * rng.uniform(1, 2, (5, 5))
    found = nonlinearity(weights + noise * rng.normal(size=(200, 5, 5)), structure)
    assert not found and found.ranks == (1,) * 5 and min(found.margins) > 1e-3
    assert found.null == pytest.approx(np.median(found.margins), rel=0.5)
    assert "entries that should be zero vary by" in str(found)


def test_a_mixing_that_bends_more_than_its_zeros_passes_in_any_units():
    rng, structure = np.random.default_rng(0), ring(5)
    learned = smooth_jacobians(structure) + 0.02 * rng.normal(size=(100, 5, 5))
    found, other = nonlinearity(learned, structure), nonlinearity(7 * learned, structure)
    assert found and found.ranks == (2,) * 5 and 0 < found.null < min(found.margins) / 1.5
    assert other.null == pytest.approx(found.null) and other.ranks == found.ranks
    assert nonlinearity(smooth_jacobians(structure), structure).null == 0


def test_a_piecewise_linear_map_with_one_kink_spans_two_dimensions_only():
    gradients = np.array([[1.0, 2.0, 3.0], [1.0, -1.0, 0.5]])
    jacobians = gradients[np.arange(60) % 2][:, None, :]
    found = nonlinearity(jacobians, Structure([[1, 1, 1]]))
    assert not found and found.ranks == (2,) and "few" not in str(found)


def test_few_samples_fail_and_say_so():
    found = nonlinearity(smooth_jacobians(ring(4), n=1), ring(4))
    assert not found and found.ranks == (1,) * 4 and found.margins == (0.0,) * 4
    assert "1 samples are few" in str(found) and "so fail x1, x2, x3" in str(found)


def test_a_variable_without_parents_or_movement():
    found = nonlinearity(np.zeros((20, 2, 1)), Structure([[0], [1]]))
    assert found.ranks == (0, 0) and found.margins == (1.0, 0.0) and not found


@pytest.mark.parametrize(
    ("jacobians", "words"),
    [
        (np.ones((5, 3)), r"\(n, 3, 3\)"),
        (np.ones((5, 3, 2)), r"\(n, 3, 3\)"),
        (np.ones((0, 3, 3)), r"\(n, 3, 3\)"),
        (np.full((5, 3, 3), np.nan), "finite"),
        (np.full((5, 3, 3), np.inf), "finite"),
    ],
)
def test_bad_jacobians_are_named(jacobians, words):
    with pytest.raises(ValueError, match=words):
        nonlinearity(jacobians, ring(3))


@pytest.mark.parametrize("tolerance", [0.0, 1.0, -1.0])
def test_the_tolerance_is_relative(tolerance):
    with pytest.raises(ValueError, match="`tolerance`"):
        nonlinearity(np.ones((5, 3, 3)), ring(3), tolerance=tolerance)


def test_a_certificate_is_a_value_that_explains_itself():
    fails = Certificate("T", False, ("a", "b"), ("because", "so"))
    assert not fails and str(fails) == "T fails: because; so. Assumed, not checked: a; b."
    assert str(Certificate("T", True)) == "T holds." and fails == Certificate(
        "T", False, ("a", "b"), ("because", "so")
    )
    assert json.loads(json.dumps(fails.to_dict())) == {
        "theorem": "T",
        "holds": False,
        "assumes": ["a", "b"],
        "reasons": ["because", "so"],
    }
    with pytest.raises(AttributeError):
        fails.holds = True
