"""Images that are drawn or read on demand index as arrays do."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unmix.data import Renderer
from unmix.data.images._renderer import _REPEATED, _alike
from unmix.data.images._stored import Stored

N = 11
WHOLE = np.random.default_rng(0).integers(256, size=(N, 3, 2, 1), dtype=np.uint8)


def painted(values):
    return torch.from_numpy(WHOLE)[values[:, 0]]


VALUES = np.stack([np.arange(N), np.arange(N) % 3], axis=1)
LAZY = {
    "drawn": Renderer(painted, VALUES, (3, 2, 1), work=2**19),  # two at a time
    "shared": Renderer(painted, VALUES, (3, 2, 1), work=2**19, shared=[1]),  # two thirds at a time
    "stored": Stored(lambda rows: WHOLE[rows], WHOLE.shape),
}
KINDS = pytest.mark.parametrize("kind", list(LAZY))

numbers = st.integers(-N, N - 1)
slices = st.builds(slice, st.none() | numbers, st.none() | numbers, st.sampled_from([None, 1, 2, 5]))
lists = st.lists(numbers, min_size=1, max_size=20).map(np.array)
masks = st.lists(st.booleans(), min_size=N, max_size=N).map(np.array)


@KINDS
@given(
    rows=numbers | slices | lists | masks, within=st.sampled_from([(), (1,), (..., 0), (slice(1, None), 0)])
)
def test_rows_are_those_of_the_array(kind, rows, within):
    np.testing.assert_array_equal(LAZY[kind][(rows, *within)], WHOLE[(rows, *within)])


@KINDS
@given(rows=slices | lists | masks)
def test_tensors_are_those_of_the_array(kind, rows):
    found = LAZY[kind].rendered(rows, "cpu")
    assert found.dtype == torch.uint8
    np.testing.assert_array_equal(found, WHOLE[rows])


@KINDS
def test_they_look_like_an_array(kind):
    images = LAZY[kind]
    assert (images.shape, images.ndim, images.dtype, len(images)) == (WHOLE.shape, 4, WHOLE.dtype, N)
    np.testing.assert_array_equal(np.asarray(images), WHOLE)
    with pytest.raises(IndexError):
        images[N]


@given(values=st.lists(st.integers(0, 5), min_size=1, max_size=200), chunk=st.integers(1, 3))
def test_rows_that_share_work_come_together_and_memory_is_bounded(values, chunk):
    values = np.array(values)
    parts = list(_alike(values[:, None], chunk))
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(values)))
    assert all(len(rows) <= _REPEATED * chunk and len(set(values[rows])) <= chunk for rows in parts)
    once = [set(values[rows]) for rows in parts if len(rows) < _REPEATED * chunk]
    assert len(values) >= _REPEATED or sum(map(len, once)) == len(set(values))
