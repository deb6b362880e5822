"""Hoyer's sparsity and concentration: values worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmix.metrics import concentration, hoyer_sparsity


def test_known_values():
    assert hoyer_sparsity([0.5, 0.25, 0.25, 0]) == pytest.approx(0.3670068, abs=1e-7)
    assert hoyer_sparsity(np.ones(7)) == pytest.approx(0) and hoyer_sparsity([0, 0, 3]) == 1
    assert hoyer_sparsity([[0, 1], [1, 1]]) == pytest.approx(0.5)


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=8).filter(any), st.floats(1e-200, 1e200))
def test_units_signs_and_order_do_not_matter(values, unit):
    plain = hoyer_sparsity(values)
    assert 0 <= plain <= 1
    assert hoyer_sparsity(-unit * np.array(values[::-1])) == pytest.approx(plain, abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8).filter(lambda v: max(v) > 1e-3))
def test_moving_weight_from_a_small_entry_to_a_large_one_never_lowers_it(values):
    p = np.sort(values)
    richer = p.copy()
    richer[-1] += p[0]
    richer[0] = 0
    assert hoyer_sparsity(richer) >= hoyer_sparsity(p) - 1e-12


@pytest.mark.parametrize(
    "wrong", [[1.0], [], [0.0, 0.0], [1.0, np.nan], [[1, 2], [0, 0]], np.ones((2, 2, 2))]
)
def test_bad_importances_are_named(wrong):
    with pytest.raises(ValueError, match="`importances` must"):
        hoyer_sparsity(wrong)


@pytest.mark.parametrize(
    ("form", "expected"),
    [("skill", 0.5), ("relative", 0.8 / 0.65 - 1), ("over_bottom", 1.0), ("difference", 0.15)],
)
def test_every_form_of_concentration(form, expected):
    assert concentration(0.8, 0.65, form=form) == pytest.approx(expected)


def test_the_rows_of_the_synthetic_plates():
    pairs = {(0.666, 0.600): 0.40, (0.736, 0.646): 0.38, (0.836, 0.520): 0.94, (0.752, 0.607): 0.57}
    for (top, rest), expected in pairs.items():
        assert concentration(top, rest) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("top", "rest", "form", "words"),
    [
        (0.5, 0.4, "skill", "`top` must be above chance"),
        (0.8, 0.5, "over_bottom", "`rest` must be above chance"),
        (0.8, 0.0, "relative", "`rest` must be above 0"),
        (1.2, 0.5, "skill", "`top` must be an AUROC"),
        (0.8, float("nan"), "skill", "`rest` must be an AUROC"),
        (0.8, 0.6, "ratio", "`form` must be one of"),
    ],
)
def test_bad_areas_are_named(top, rest, form, words):
    with pytest.raises(ValueError, match=words):
        concentration(top, rest, form=form)
