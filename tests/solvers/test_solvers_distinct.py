"""Components that follow from the others are left out, and no others."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsRegressor

from unmix.solvers.ica import distinct
from unmix.solvers.ica._distinct import followed


def uniform(n, z, seed=0):
    return 2 * torch.rand(n, z, generator=torch.Generator().manual_seed(seed)) - 1


def test_independent_components_all_stay():
    assert distinct(uniform(3000, 6)) == [0, 1, 2, 3, 4, 5]


def test_a_bent_copy_of_two_components_is_left_out_and_not_these():
    y = uniform(4000, 3)
    both = torch.sin(2 * y[:, 0]) * y[:, 1]
    assert distinct(torch.cat([both[:, None], y], 1)) == [1, 2, 3]


def test_the_two_coordinates_of_a_circle_both_stay():
    """Either tells the other up to its sign, which is half of what there is to know."""
    angle = np.pi * uniform(4000, 1)[:, 0]
    assert distinct(torch.stack([angle.cos(), angle.sin(), uniform(4000, 1, 1)[:, 0]], 1)) == [0, 1, 2]


def test_of_two_copies_one_stays_and_what_never_varies_goes():
    y = uniform(1000, 2)
    found = distinct(torch.stack([y[:, 0], 0 * y[:, 0] + 3, y[:, 1], -2 * y[:, 0]], 1))
    assert len(found) == 2 and 2 in found and 1 not in found


@settings(max_examples=15, deadline=None)
@given(
    st.permutations(range(4)),
    st.lists(st.sampled_from([-1e3, -1.0, 1e-3, 7.0]), min_size=4, max_size=4),
    st.integers(0, 5),
)
def test_order_units_and_signs_change_nothing(order, units, seed):
    y = uniform(1200, 3, seed)
    y = torch.cat([y, (y[:, :1] * y[:, 1:2])], 1).double()
    other = (y * torch.tensor(units, dtype=y.dtype) + 5)[:, list(order)]
    assert sorted(order[j] for j in distinct(other)) == distinct(y)


@pytest.mark.parametrize("seed", [0, 1])
def test_what_follows_is_what_five_neighbours_predict(seed):
    """The same as scikit-learn's regression by neighbours on the rows that are not asked about."""
    y = uniform(800, 4, seed).double()
    target = y[:, 3] + y[:, 0] * y[:, 1]
    others = y[:, :3]
    told = KNeighborsRegressor(5).fit(others[200:], target[200:]).predict(others[:200])
    expected = 1 - np.mean((told - target[:200].numpy()) ** 2) / target[:200].numpy().var()
    assert followed(others, target) == pytest.approx(expected, abs=1e-9)


def test_a_larger_share_leaves_more():
    y = uniform(4000, 2)
    noisy = y[:, :1] * y[:, 1:] + 0.3 * uniform(4000, 1, 3)
    y = torch.cat([y, noisy], 1)
    assert distinct(y, share=0.3) == [0, 1] and distinct(y, share=0.95) == [0, 1, 2]
