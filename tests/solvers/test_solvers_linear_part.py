"""The linear part of a code holds what data tell linearly, and no products."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cross_decomposition import CCA

from unmix.solvers.ica import linear_part


def uniform(n, z, seed=0):
    return 2 * torch.rand(n, z, generator=torch.Generator().manual_seed(seed)).double() - 1


def world(n=4000, seed=0):
    """Two circles in colours of their own, and a code that also holds products of the two."""
    a, b = np.pi * uniform(n, 2, seed).T
    circles = torch.stack([a.cos(), a.sin(), b.cos(), b.sin()], 1)
    products = torch.stack([a.cos() * b.cos(), a.sin() * b.cos(), a.cos() * b.sin()], 1)
    return circles, products


def span(basis):
    return torch.linalg.qr(basis)[0]


def test_products_of_what_moves_data_apart_are_no_part_of_it():
    circles, products = world()
    x = circles @ uniform(4, 12, 1) + 0.01 * uniform(4000, 12, 2)
    turn = torch.linalg.qr(uniform(7, 7, 3))[0]
    codes = torch.cat([circles, products], 1) @ turn
    found = linear_part(codes, x)
    assert found.shape == (7, 4)
    wanted = span(turn.mT[:, :4])  # directions of the codes that are circles alone
    assert torch.linalg.matrix_norm(span(found) - wanted @ (wanted.mT @ span(found))) < 0.1


def test_codes_along_the_part_are_white():
    circles, products = world()
    codes = 50 * torch.cat([circles, products], 1) + 3
    y = codes @ linear_part(codes, circles)
    torch.testing.assert_close(torch.cov(y.mT, correction=0), torch.eye(4).double(), atol=1e-8, rtol=0)


def test_products_that_data_show_stay():
    circles, products = world()
    codes = torch.cat([circles, products], 1)
    assert linear_part(codes, codes).shape == (7, 7)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 5), st.sampled_from([1e-3, 1.0, 1e3]), st.sampled_from([1e-4, 1.0, 1e4]))
def test_linear_maps_of_the_code_and_units_of_the_data_change_nothing(seed, unit, unit_x):
    circles, products = world(1500, seed)
    codes, x = (
        torch.cat([circles, products], 1),
        circles @ uniform(4, 6, seed + 1) + 0.1 * uniform(1500, 6, 9),
    )
    change = unit * (torch.eye(7).double() + 0.3 * uniform(7, 7, seed + 2))
    first = codes @ linear_part(codes, x)
    other = codes @ change @ linear_part(codes @ change + 5, unit_x * x - 7)
    first, other = first - first.mean(0), other - other.mean(0)
    assert first.shape == other.shape
    # the same directions, up to sign
    assert (first * other).mean(0).abs().min() > 0.99


def test_the_best_direction_is_the_first_canonical_variate():
    """scikit-learn's canonical correlation analysis names the same one, where rows are plenty."""
    circles, products = world(6000)
    x = torch.stack(
        [circles[:, 0] + uniform(6000, 1, 4)[:, 0], circles[:, 2] + 2 * uniform(6000, 1, 5)[:, 0]], 1
    )
    codes = torch.cat([circles, products], 1)
    ours = (codes @ linear_part(codes, x, share=0.4))[:, 0]
    theirs = CCA(n_components=1).fit(codes.numpy(), x.numpy()).transform(codes.numpy())[:, 0]
    assert abs(np.corrcoef(ours, theirs)[0, 1]) > 0.99


def test_a_larger_share_leaves_less_and_one_direction_stays_in_any_case():
    circles, _ = world()
    x = circles[:, :2] + 0.7 * uniform(4000, 2, 6)
    counts = [linear_part(circles, x, share=share).shape[1] for share in (0.3, 0.95)]
    assert counts == [2, 1]
    assert linear_part(uniform(500, 3, 7), uniform(500, 4, 8)).shape == (3, 1)


@pytest.mark.parametrize("constant", [0.0, 2.0])
def test_codes_that_never_vary_are_no_directions(constant):
    circles, _ = world(1000)
    codes = torch.cat([circles, torch.full((1000, 1), constant).double()], 1)
    found = linear_part(codes, circles)
    assert found.shape == (5, 4) and found[4].abs().max() < 1e-6 * found.abs().max()
