"""Slot identifiability against its definition with scikit-learn, slot by slot."""

import itertools

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler

from samples import normal
from unmix.metrics import slot_identifiability


def by_definition(z, codes):
    """Every pair of slots by itself; the split as drawn by seed 0; the matching by brute force."""
    rows = np.random.default_rng(0).permutation(len(z))
    n_test = int(np.ceil(0.2 * len(z)))
    test, fit = rows[:n_test], rows[n_test:]
    r2 = np.zeros((z.shape[1], codes.shape[1]))
    for i, j in np.ndindex(*r2.shape):
        x, y = StandardScaler().fit_transform(codes[:, j]), StandardScaler().fit_transform(z[:, i])
        model = KernelRidge(alpha=1, kernel="rbf").fit(x[fit], y[fit])
        r2[i, j] = max(0, r2_score(y[test], model.predict(x[test])))
    orders = itertools.permutations(range(codes.shape[1]), z.shape[1])
    order = max(orders, key=lambda o: sum(r2[i, j] for i, j in enumerate(o)))
    return np.mean([r2[i, j] - max(np.delete(r2[i], j), default=0) for i, j in enumerate(order)])


@pytest.mark.parametrize(("slots", "inferred"), [(3, 3), (2, 4), (1, 1)])
def test_equals_the_definition(slots, inferred):
    z = normal(150, slots, 2)
    mixed = z.reshape(150, -1) @ normal(2 * slots, 3 * inferred, seed=1)
    codes = np.tanh(mixed).reshape(150, inferred, 3)
    assert slot_identifiability(z, codes) == pytest.approx(by_definition(z, codes))


def test_nonlinear_maps_inside_slots_and_their_order_do_not_matter_much():
    z = np.random.default_rng(0).uniform(-1, 1, (1000, 3, 2))
    codes = np.stack([z[..., 0] + z[..., 1], (z[..., 0] - z[..., 1]) ** 3], -1)[:, [1, 2, 0]]
    assert slot_identifiability(z, codes) > 0.9
    shared = z + 1.0 * z.mean(1, keepdims=True)
    assert slot_identifiability(z, shared) < slot_identifiability(z, codes) - 0.1


def test_slots_that_each_know_half_of_two_factors_score_nothing():
    z = normal(600, 2, 2)
    crossed = np.stack([z[:, :, 0], z[:, :, 1]], 1)
    assert abs(slot_identifiability(z, crossed)) < 0.1


def test_dependent_factors_lower_the_ceiling():
    z = normal(800, 2, 1)
    z[:, 1] += 2 * z[:, 0]
    assert slot_identifiability(z, z) < 0.6


def test_flat_tables_are_slots_side_by_side():
    z, codes = normal(200, 3, 2), normal(200, 3, 2) + normal(200, 3, 2, seed=1)
    flat = slot_identifiability(z.reshape(200, 6), codes.reshape(200, 6), n_slots=3)
    assert flat == slot_identifiability(z, codes)
    assert slot_identifiability(z.reshape(200, 6), codes[:, :2], n_slots=(3, 2)) < flat + 1e-12
    columns = slot_identifiability(z.reshape(200, 6), z.reshape(200, 6))
    assert columns == slot_identifiability(z.reshape(200, 6, 1), z.reshape(200, 6, 1)) > 0.9


def test_too_few_slots_and_constant_slots():
    z = normal(400, 2, 1)
    assert slot_identifiability(z, z[:, :1]) == pytest.approx(0.5, abs=0.06)
    assert slot_identifiability(z, np.ones((400, 2, 1))) == 0


def test_at_most_n_samples_are_used():
    z = normal(3000, 2, 1)
    start = slot_identifiability(z, z + 0.3 * normal(3000, 2, 1, seed=1), n_samples=50)
    assert start != slot_identifiability(z, z + 0.3 * normal(3000, 2, 1, seed=1), n_samples=500)


@pytest.mark.parametrize(
    ("z", "codes", "change", "words"),
    [
        (normal(20, 2, 2), normal(19, 2, 2), {}, "as many rows"),
        (normal(9, 2, 2), normal(9, 2, 2), {}, "at least 10 rows"),
        (normal(20), normal(20, 2), {}, "`z_true` must have shape"),
        (normal(20, 5), normal(20, 4), {"n_slots": 2}, "must divide the 5 columns of `z_true`"),
        (normal(20, 4), normal(20, 4), {"n_slots": 0}, "must divide"),
        (normal(20, 4), np.full((20, 4), np.inf), {}, "`z_hat` must be finite"),
        (np.ones((20, 2, 2)), normal(20, 2, 2), {}, "constant column 0"),
        (normal(20, 2), normal(20, 2), {"n_samples": 5}, "`n_samples` must be at least 10"),
    ],
)
def test_bad_input_is_named(z, codes, change, words):
    with pytest.raises(ValueError, match=words):
        slot_identifiability(z, codes, **change)
