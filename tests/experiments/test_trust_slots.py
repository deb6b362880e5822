"""Worlds of slots: what counts as right, and that families are what they say."""

import numpy as np
import pytest

from unmix.data import LatentDataset
from unmix.experiments.papers.trust._right_slots import right_slots
from unmix.experiments.papers.trust._worlds_slots import FAMILIES, Blocks

UNITS = ((0, 1), (2,))


@pytest.fixture(scope="module")
def data() -> LatentDataset:
    rng = np.random.default_rng(0)
    z = np.sqrt(0.5) * rng.normal(size=(900, 3)) + np.sqrt(0.5) * rng.normal(size=(900, 1))
    return LatentDataset(z.copy(), z, world=Blocks(UNITS))


def test_a_map_within_slots_is_right_in_any_order_though_slots_depend_on_each_other(data):
    within = np.tanh(0.5 * data.z[:, :2] @ [[1.0, 1.0], [1.0, -1.0]])
    codes = np.column_stack([data.z[:, 2] ** 3 + data.z[:, 2], within])
    assert right_slots(data, codes, ((0,), (1, 2))).all()


@pytest.mark.parametrize("mix", [0.0, 0.5])
def test_what_comes_from_elsewhere_is_wrong(data, mix):
    codes = data.z.copy()
    codes[:, 2] += mix * codes[:, 0]
    assert right_slots(data, codes, UNITS).tolist() == [True, mix == 0]


def test_two_slots_in_one_and_one_slot_in_two_are_wrong(data):
    assert not right_slots(data, data.z, ((0, 1, 2),)).any()
    assert right_slots(data, data.z, ((0,), (1,), (2,))).tolist() == [False, False, True]


def test_one_true_slot_is_claimed_once(data):
    twice = data.z[:, [2, 2]]
    assert right_slots(data, twice, ((0,), (1,))).sum() == 1


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_families_draw_the_same_world_from_a_seed_and_others_from_others(family):
    first, again, other = (family.draw(300, seed) for seed in (1, 1, 2))
    assert (first.x == again.x).all() and not np.array_equal(first.x, other.x)
    assert np.isfinite(first.x).all() and len(first.partition) > 1
    assert sorted(j for slot in first.partition for j in slot) == list(range(first.z.shape[1]))
    assert family.model(first, 1).random_state == 1


def test_eight_families_hold_something_to_find_and_four_hold_nothing():
    assert sum(family.null for family in FAMILIES) == 4 and len(FAMILIES) == 12
