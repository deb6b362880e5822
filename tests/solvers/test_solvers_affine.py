"""Affine maps and whitening."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from unmix.solvers.coordinates._affine import Affine, affine, whitening


@given(st.integers(0, 100))
def test_affine_maps_compose_and_come_back(seed):
    rng = np.random.default_rng(seed)
    first, second = (
        affine(torch.from_numpy(rng.normal(size=(3, 3))), torch.from_numpy(rng.normal(size=3)))
        for _ in range(2)
    )
    x = torch.from_numpy(rng.normal(size=(5, 3)))
    both = first.then(second)
    torch.testing.assert_close(both(x), second(first(x)))
    padded = both.padded(5)
    assert padded(x).shape == (5, 5) and (padded(x)[:, 3:] == 0).all()
    back = padded(x) @ padded.back_weight.T + padded.back_bias
    torch.testing.assert_close(back, x, rtol=1e-4, atol=1e-6)
    assert isinstance(padded, Affine)


def test_whitening_keeps_the_rank_and_no_more():
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.normal(size=(500, 2)) @ rng.normal(size=(2, 5)) + 3.0)
    white, left = whitening(x, most=4)
    assert white.weight.shape == (2, 5) and left == 0
    torch.testing.assert_close(torch.cov(white(x).T), torch.eye(2, dtype=x.dtype))
    torch.testing.assert_close(white(x) @ white.back_weight.T + white.back_bias, x)
    only, left = whitening(x, most=1)
    assert only.weight.shape == (1, 5) and left > 0
