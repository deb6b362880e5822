"""Second derivatives against the directional ones and against differences."""

import numpy as np
import pytest
import torch

from unmix.nn import hessian, mlp, second_directional
from unmix.theory import finite_differences


@pytest.fixture
def network():
    torch.manual_seed(0)
    return mlp(3, 4, hidden=(8,), activation="tanh").double()


def test_quadratic_forms_are_second_directional_derivatives(network):
    z, v = torch.randn(2, 5, 3, dtype=torch.float64)
    found = torch.einsum("nxab,na,nb->nx", hessian(network, z), v, v)
    torch.testing.assert_close(found, second_directional(network, z, v))


def test_differences_agree(network):
    z = torch.randn(5, 3, dtype=torch.float64)
    with torch.no_grad():
        expected = finite_differences(lambda a: network(torch.from_numpy(a)).numpy(), z.numpy(), order=2)
    assert np.abs(hessian(network, z).detach().numpy() - expected).max() < 1e-6


def test_more_output_axes_are_flattened():
    found = hessian(lambda z: z[:, :, None] * z[:, None, :], torch.ones(2, 2))
    assert found.shape == (2, 4, 2, 2)
    assert found[0].tolist() == [[[2, 0], [0, 0]], [[0, 1], [1, 0]], [[0, 1], [1, 0]], [[0, 0], [0, 2]]]
