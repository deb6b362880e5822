"""Which columns are discrete, and how continuous ones are cut."""

import numpy as np
import pytest

from unmix.metrics._kinds import all_labels, equal_count, equal_width, kinds, labels, n_bins


def columns(n=400):
    rng = np.random.default_rng(0)
    return np.column_stack(
        [
            rng.integers(0, 2, n),
            rng.integers(0, 10, n) / 9 + 0.05,  # levels need not be integers
            rng.normal(size=n),
            np.arange(n),  # integers need not be levels
            rng.normal(size=n).round(2),
        ]
    )


def test_a_column_is_discrete_when_its_values_repeat():
    assert kinds(columns()).tolist() == [True, True, False, False, False]


def test_two_hundred_levels_are_the_most():
    n = 2000
    assert kinds(np.column_stack([np.arange(n) % 200, np.arange(n) % 201])).tolist() == [True, False]


def test_half_as_many_levels_as_samples_are_the_most():
    assert kinds(np.array([[0, 0], [0, 1], [1, 2], [1, 2]])).tolist() == [True, False]


def test_what_is_declared_holds():
    assert kinds(columns(), False).tolist() == [False] * 5
    assert kinds(columns(), [True, False, False, False, True]).tolist() == [True, False, False, False, True]


def test_a_column_of_unique_values_cannot_be_discrete():
    with pytest.raises(ValueError, match="`discrete` must mark columns whose values repeat, got column 2"):
        kinds(columns(), True)


@pytest.mark.parametrize("declared", [[True], "yes", [1, 0, 1, 0, 0], np.ones((5, 1), dtype=bool)])
def test_a_declaration_is_a_bool_or_a_mask(declared):
    with pytest.raises(ValueError, match="`codes_are` must be None, True, False or 5 bools"):
        kinds(columns(), declared, "codes_are")


def test_labels_count_levels_in_order():
    assert labels(np.array([0.5, -1, 7, 0.5])).tolist() == [1, 0, 2, 1]


def test_bins_grow_with_the_samples_up_to_the_published_twenty():
    assert [n_bins(n) for n in (2, 120, 1000, 10_000, 1_000_000)] == [2, 5, 10, 20, 20]
    assert n_bins(50, 7) == 7
    with pytest.raises(ValueError, match="`bins` must be at least 2, got 1"):
        n_bins(50, 1)


def test_equal_width_is_the_histogram():
    x = np.random.default_rng(0).normal(size=500)
    counts, _ = np.histogram(x, bins=12)
    np.testing.assert_array_equal(np.bincount(equal_width(x, 12), minlength=12), counts)
    np.testing.assert_array_equal(equal_width(-3 * x + 1, 12), 11 - equal_width(x, 12))
    assert set(equal_width(np.full(5, 0.1), 12)) == {0}
    assert equal_width(np.array([-1.7e308, 0.1, 1.7e308]), 2).tolist() == [0, 1, 1]


def test_equal_count_fills_bins_evenly_and_keeps_equal_values_together():
    x = np.random.default_rng(0).permutation(100).astype(float)
    assert np.bincount(equal_count(x, 5)).tolist() == [20] * 5
    np.testing.assert_array_equal(equal_count(np.exp(x / 50), 5), equal_count(x, 5))
    tied = np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 2.0])
    assert equal_count(tied, 5).tolist() == [0] * 8 + [1, 1]


def test_every_column_is_labelled_by_its_kind():
    found = all_labels(columns(), kinds(columns()), 4)
    assert [int(column.max()) + 1 for column in found] == [2, 10, 4, 4, 4]
