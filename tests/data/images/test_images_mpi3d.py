"""Arms that differ in colours alone are cast once, which no pixel shows."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from unmix.data import mpi3d
from unmix.data.images import _mpi3d
from unmix.data.images._rays import averaged

WHOLE = mpi3d(size=16)
COLOURS = [[c, 0, 0, 0, b, 0, 0] for c in range(4) for b in range(3)]


def coloured(arm):
    """Return an arm in all colours."""
    return np.array([0, *arm[:3], 0, *arm[3:]]) + COLOURS


def directly(levels, size):
    """Colour every ray of an image, and average: the definition."""
    level = torch.tensor(levels)[None]
    kind, light = _mpi3d._cast(level, size)
    rgb = _mpi3d._palette(level)[0][kind[0].long()].permute(2, 0, 1) * light
    return (averaged(rgb[None], size) * 255).round().to(torch.uint8)[0].permute(1, 2, 0)


@pytest.mark.parametrize("size", [16, 32, 64, 128])
def test_images_are_the_mean_of_coloured_rays_byte_by_byte(size):
    data = mpi3d(6, size=size, random_state=size)
    np.testing.assert_array_equal(data.images[:], [directly(row, size) for row in data.factors])


arms = st.tuples(*(st.integers(0, n - 1) for n in (4, 2, 3, 40, 40)))


@settings(max_examples=10)
@given(chosen=st.lists(arms, min_size=1, max_size=3), seed=st.integers(0, 99), n=st.integers(1, 60))
def test_rows_in_any_order_and_repeated_are_those_drawn_one_by_one(chosen, seed, n):
    several = np.concatenate([coloured(arm) for arm in chosen])
    levels = np.random.default_rng(seed).choice(several, n)
    once, back = np.unique(levels, axis=0, return_inverse=True)
    alone = np.concatenate([WHOLE.render(row[None]) for row in once])
    np.testing.assert_array_equal(WHOLE.render(levels), alone[back.ravel()])


def test_chunks_are_those_drawn_one_by_one():
    whole, some = mpi3d(size=64), mpi3d(9, size=64, random_state=0).factors  # two arms at a time
    levels = np.concatenate([some, coloured([1, 1, 2, 7, 30]), some[::-3]])
    alone = [whole.render(row[None])[0] for row in levels]
    np.testing.assert_array_equal(whole.render(levels), alone)


def test_each_arm_is_cast_once(monkeypatch):
    cast, seen = _mpi3d._cast, []
    monkeypatch.setattr(_mpi3d, "_cast", lambda arms, size: seen.extend(arms.tolist()) or cast(arms, size))
    rng = np.random.default_rng(0)
    different = np.stack([rng.permutation(n)[:2] for n in (4, 2, 3, 40, 40)], axis=1)
    levels = rng.permutation(np.concatenate([coloured(arm) for arm in different]))
    mpi3d(size=128).render(levels)  # one arm at a time
    assert len(seen) == 2


def test_no_rows_are_no_images():
    assert WHOLE.images[:0].shape == (0, 16, 16, 3)
