"""Points in, bumps out: places move with what is seen, and bumps are where points are."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unmix.nn import points_decoder, points_encoder
from unmix.nn._points import Bumps, Places


def peak(row, column, size=16):
    """One map with a single high pixel."""
    maps = torch.zeros(1, 1, size, size)
    maps[0, 0, row, column] = 1.0
    return maps


@given(row=st.integers(0, 15), column=st.integers(0, 15))
def test_a_point_is_where_its_map_is_high(row, column):
    x, y = Places(1, (16, 16))(peak(row, column))[0].tolist()
    assert x == pytest.approx(2 * (column + 0.5) / 16 - 1, abs=1e-4)
    assert y == pytest.approx(2 * (row + 0.5) / 16 - 1, abs=1e-4)


def test_points_are_means_of_a_softmax_in_any_units_of_the_maps():
    maps = torch.randn(3, 2, 4, 6, generator=torch.Generator().manual_seed(0))
    places = Places(2, (4, 6))
    white = (maps - maps.mean((2, 3), keepdim=True)) / maps.std((2, 3), keepdim=True, correction=0)
    share = torch.softmax((3.0 * white).flatten(2), 2).unflatten(2, (4, 6))
    x = (share.sum(2) * (2 * (torch.arange(6) + 0.5) / 6 - 1)).sum(-1)
    y = (share.sum(3) * (2 * (torch.arange(4) + 0.5) / 4 - 1)).sum(-1)
    torch.testing.assert_close(places(maps).unflatten(1, (2, 2)), torch.stack([x, y], -1), atol=1e-5, rtol=0)
    torch.testing.assert_close(places(7 * maps + 3), places(maps), atol=1e-4, rtol=0)


def test_what_moves_through_the_image_moves_points_along():
    torch.manual_seed(0)
    encoder = points_encoder((64, 64, 1), 6, widths=(8, 8), depth=1)
    with torch.no_grad():
        encoder[-1].sharpness.fill_(60.0)  # a point then sees one place, and no background
    image = torch.zeros(1, 64, 64, 1)
    image[:, 20:28, 24:34] = torch.rand(8, 10, 1, generator=torch.Generator().manual_seed(1))
    moved = torch.roll(image, (8, 12), (1, 2))  # whole pixels of the maps, which are four times as coarse
    with torch.no_grad():
        step = (encoder(moved) - encoder(image)).unflatten(1, (3, 2))[0].numpy()
    seen = np.abs(step).max(1) > 1e-3  # maps that look at the rim do not move
    assert seen.any()
    np.testing.assert_allclose(step[seen], np.tile([12 / 32, 8 / 32], (seen.sum(), 1)), atol=0.02)


def test_bumps_fall_off_by_the_squared_distance():
    bumps = Bumps(2, (6, 8))
    points = torch.tensor([[0.1, -0.3, -0.5, 0.9]])
    with torch.no_grad():
        found = bumps(points)[0]
    for k, width in enumerate(bumps.log_width.exp().tolist()):
        x, y = points[0, 2 * k : 2 * k + 2].tolist()
        for row in range(6):
            for column in range(8):
                squared = (2 * (column + 0.5) / 8 - 1 - x) ** 2 + (2 * (row + 0.5) / 6 - 1 - y) ** 2
                assert found[row, column, k].item() == pytest.approx(
                    np.exp(-squared / (2 * width**2)), abs=1e-5
                )


@pytest.mark.parametrize(("side", "halvings"), [(16, 1), (32, 1), (64, 2), (128, 3)])
def test_maps_are_small_and_codes_are_within_the_image(side, halvings):
    encoder = points_encoder((side, side, 3), 4)
    strided = [layer for layer in encoder if getattr(layer, "stride", (1, 1)) == (2, 2)]
    codes = encoder(torch.rand(2, side, side, 3))
    assert len(strided) == halvings and codes.shape == (2, 4) and codes.abs().max() <= 1
    assert points_decoder(4, (side, side, 3))(codes).shape == (2, side, side, 3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: points_encoder((16, 16, 3), 3), "`n_out` must be even"),
        (lambda: points_decoder(5, (16, 16, 3)), "`n_in` must be even"),
        (lambda: points_encoder(12, 4), "`shape_in` must be"),
        (lambda: points_encoder((15, 15, 3), 4), "divisible by 2"),
        (lambda: points_decoder(4, 12), "`shape_out` must be"),
    ],
)
def test_what_cannot_be_built_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
