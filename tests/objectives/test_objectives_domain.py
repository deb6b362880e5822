"""The likelihood of domains: of coordinates, and of rows on a surface."""

import pytest
import torch

from unmix.nn import residual_mlp
from unmix.objectives import DomainGaussian, DomainObjective, beside_tangents


class Along(torch.nn.Module):
    """A network of rows that are linear functions of coordinates."""

    def __init__(self, net, basis):
        super().__init__()
        self.net, self.basis = net, basis

    def forward(self, w):
        return self.net(w @ self.basis.T)


def likelihood(encoder, seen, x, u, *, on_surface):
    prior = DomainGaussian([0.5, 0.5], 2).double()
    objective = DomainObjective(encoder, residual_mlp(2, 5).double(), 2, prior, on_surface=on_surface)
    return objective(seen, x, u, torch.zeros(len(x), 2))["likelihood"].item()


@pytest.fixture
def plane():
    """Return coordinates, their rows in a plane, domains, and the plane's orthonormal basis."""
    generator = torch.Generator().manual_seed(0)
    w = torch.randn(40, 2, generator=generator, dtype=torch.float64)
    basis = torch.linalg.qr(torch.randn(5, 2, generator=generator, dtype=torch.float64))[0]
    return w, w @ basis.T, torch.arange(40) % 2, basis


def test_on_a_plane_rows_are_as_likely_as_their_coordinates(plane):
    w, x, u, basis = plane
    net = residual_mlp(5, 2).double()
    seen = beside_tangents(x, basis.expand(len(x), -1, -1))
    direct = likelihood(Along(net, basis), w, x, u, on_surface=False)
    assert likelihood(net, seen, x, u, on_surface=True) == pytest.approx(direct)


def test_bases_of_a_tangent_space_may_be_turned(plane):
    _, x, u, basis = plane
    net = residual_mlp(5, 2).double()
    turns = torch.linalg.qr(torch.randn(len(x), 2, 2, dtype=torch.float64))[0]
    one, other = (
        likelihood(net, beside_tangents(x, bases), x, u, on_surface=True)
        for bases in (basis.expand(len(x), -1, -1), basis @ turns)
    )
    assert other == pytest.approx(one)


def test_codes_do_not_depend_on_what_stands_beside_rows(plane):
    _, x, u, basis = plane
    net = residual_mlp(5, 2).double()
    prior = DomainGaussian([0.5, 0.5], 2).double()
    objective = DomainObjective(net, residual_mlp(2, 5).double(), 2, prior, on_surface=True)
    seen = beside_tangents(x, basis.expand(len(x), -1, -1))
    torch.testing.assert_close(objective.encode(seen, u), net(x))
