import pytest
import torch
from torch import nn

from unmix.nn import (
    ACTIVATIONS,
    batch_norm_head,
    first_directional,
    jacobian,
    mlp,
    residual_mlp,
    second_directional,
)
from unmix.nn._layer_norm import LayerNorm


def points(n, d, seed=0):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_derivative_is_the_derivative(name):
    module = ACTIVATIONS[name].module()
    a = torch.linspace(-6, 6, 40, dtype=torch.float64, requires_grad=True)  # no node at the kink
    (expected,) = torch.autograd.grad(module(a).sum(), a)
    torch.testing.assert_close(ACTIVATIONS[name].derivative(module, a), expected)


def test_leaky_relu_has_slope_one_fifth():
    assert mlp(1, 1)[1](torch.tensor(-1.0)) == -0.2


def test_widths_and_depth_are_as_asked():
    f = mlp(2, 3, hidden=(8, 5), norm="layer", activation=nn.Mish)
    assert [tuple(m.weight.shape) for m in f if isinstance(m, nn.Linear)] == [(8, 2), (5, 8), (3, 5)]
    assert [type(m) for m in f[1:3]] == [LayerNorm, nn.Mish]
    assert len(mlp(2, 3, hidden=())) == 1


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
def test_orthogonal_layers_keep_angles(shape):
    W = mlp(*shape, hidden=(), linear="orthogonal")[0].weight
    gram = W @ W.mT if shape[1] <= shape[0] else W.mT @ W
    torch.testing.assert_close(gram, torch.eye(min(shape)), atol=1e-5, rtol=0)


def test_spectral_layers_have_norm_one_also_after_a_step():
    f = mlp(4, 3, linear="spectral")
    optimiser = torch.optim.SGD(f.parameters(), lr=1.0)
    f(torch.randn(8, 4)).square().sum().backward()
    optimiser.step()
    norms = [torch.linalg.matrix_norm(m.weight, 2) for m in f if isinstance(m, nn.Linear)]
    torch.testing.assert_close(torch.stack(norms), torch.ones(3))


@pytest.mark.parametrize("linear", ["plain", "orthogonal", "spectral"])
def test_residual_starts_linear_and_bends_when_trained(linear):
    f, x = residual_mlp(3, 4, linear=linear), torch.randn(6, 3)
    assert torch.equal(f(x), f.linear(x))
    f(x).square().sum().backward()
    assert f.residual[-1].weight.grad.abs().sum() > 0
    bent = residual_mlp(3, 4, zero_init=False)
    assert not torch.allclose(bent(x), bent.linear(x))


def test_head_standardises_and_has_no_parameters():
    head = batch_norm_head(3)
    codes = head(5 * torch.randn(200, 3) + 2)
    torch.testing.assert_close(codes.std(0, correction=0), torch.ones(3), atol=1e-3, rtol=0)
    torch.testing.assert_close(codes.mean(0), torch.zeros(3), atol=1e-5, rtol=0)
    assert not list(head.parameters())


@pytest.mark.parametrize("option", ["activation", "norm", "linear"])
def test_unknown_options_are_named(option):
    with pytest.raises(ValueError, match=f"`{option}` must be one of .* got 'fancy'"):
        mlp(2, 2, **{option: "fancy"})


def test_empty_layers_are_refused():
    with pytest.raises(ValueError, match="at least 1"):
        mlp(2, 0)


def cubic(z):
    return torch.stack([z[:, 0] * z[:, 1], z[:, 0] ** 2 * z[:, 1], z.sum(1)], 1)


def test_first_directional_is_the_jacobian_times_the_direction():
    z, v = points(5, 2), points(5, 2, seed=1)
    expected = (jacobian(cubic, z) @ v.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(first_directional(cubic, z, v), expected)
    torch.testing.assert_close(first_directional(cubic, z, v, step=1e-6), expected, atol=1e-4, rtol=0)


def test_second_directional_is_the_quadratic_form_of_the_hessian():
    z, v = points(5, 2), points(5, 2, seed=1)
    H = torch.func.vmap(torch.func.hessian(lambda a: cubic(a[None])[0]))(z)
    expected = torch.einsum("nj,nxjk,nk->nx", v, H, v)
    torch.testing.assert_close(second_directional(cubic, z, v), expected)
    torch.testing.assert_close(second_directional(cubic, z, v, step=1e-3), expected, atol=1e-6, rtol=1e-6)


def test_piecewise_linear_nets_need_the_step():
    f, z = mlp(2, 1).double(), points(20, 2)
    v = torch.ones_like(z)
    assert (second_directional(f, z, v) == 0).all()
    assert second_directional(f, z, v, step=0.5).abs().max() > 0


def test_second_directional_reaches_the_parameters():
    f, z = mlp(2, 3, activation="tanh").double(), points(4, 2)
    second_directional(f, z, torch.ones_like(z)).square().sum().backward()
    assert f[0].weight.grad.abs().sum() > 0


def test_step_must_be_positive():
    with pytest.raises(ValueError, match="`step` must be positive or None, got 0"):
        second_directional(cubic, points(2, 2), points(2, 2), step=0.0)
    with pytest.raises(ValueError, match="`step` must be positive or None, got -1"):
        first_directional(cubic, points(2, 2), points(2, 2), step=-1.0)
