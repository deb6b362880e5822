"""Increasing functions of columns: they lead there and back, and their slopes are those of the pieces."""

import pytest
import torch

from unmix.nn import Warp, jacobian, residual_mlp


@pytest.fixture
def warp():
    """Three columns with knots of their own."""
    steps = torch.rand(2, 3, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 0.1
    return Warp(3, 9).placed(*(steps.cumsum(2) - 4))


def test_a_warp_rises_and_its_inverse_leads_back(warp):
    x = torch.linspace(-6, 8, 400, dtype=torch.float64)[:, None].expand(-1, 3)
    assert (warp(x).diff(dim=0) > 0).all()
    torch.testing.assert_close(warp.inverse()(warp(x)), x)


def test_a_warp_goes_through_its_knots(warp):
    torch.testing.assert_close(warp(warp.knots.T), warp.values.T)


def test_a_warp_behind_a_network_scales_the_rows_of_its_jacobian(warp):
    torch.manual_seed(0)
    net = residual_mlp(2, 3).double()
    z = torch.randn(5, 2, dtype=torch.float64)
    step = 1e-7
    slope = (warp(net(z) + step) - warp(net(z))) / step
    expected = slope[:, :, None] * jacobian(net, z)
    torch.testing.assert_close(jacobian(torch.nn.Sequential(net, warp), z), expected, atol=1e-5, rtol=1e-5)
