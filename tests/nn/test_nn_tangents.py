"""Jacobians of convolutional networks by the tangent rule, against automatic differentiation."""

from functools import partial

import pytest
import torch
from torch import nn

from tensors import points, seeded
from unmix.nn import conv_decoder, jacobian, jvp_columns, strided_decoder, strided_encoder
from unmix.nn._convolutions import InstanceNorm
from unmix.nn._strided import ChannelsLast
from unmix.nn._tangents import has_tangent_rule
from unmix.penalties import dependency_sparsity, hessian_penalty, latent_sparsity, orojar

SHAPE = (8, 8, 3)
DECODERS = {
    "strided": partial(strided_decoder, widths=(6, 4), dense=(10,)),
    "style": partial(conv_decoder, widths=(6, 4), dense=(10, 10)),
    "normed": lambda n, shape: nn.Sequential(
        nn.Linear(n, 64), nn.SiLU(), nn.Unflatten(1, (4, 4, 4)), nn.ConvTranspose2d(4, 3, 4, 2, 1),
        InstanceNorm(3), nn.Conv2d(3, 3, 3, 1, 1), nn.Tanh(), ChannelsLast(),
    ),
}  # fmt: skip


@pytest.fixture(params=[*DECODERS, "strided, sigmoid", "style, sigmoid"])
def decoder(request):
    name, _, squashed = request.param.partition(", ")
    network = seeded(DECODERS[name], 4, SHAPE)
    return nn.Sequential(network, nn.Sigmoid()) if squashed else network


def test_the_tangent_rule_is_the_derivative(decoder):
    z = points(3, 4)
    assert has_tangent_rule(decoder)
    exact = jacobian(decoder, z, mode="forward")
    torch.testing.assert_close(jacobian(decoder, z, mode="closed"), exact)
    columns = torch.tensor([2, 0])
    torch.testing.assert_close(jvp_columns(decoder, z, columns), exact[:, :, columns])
    each = torch.func.jvp(decoder, (z,), (torch.eye(4, dtype=torch.float64)[1].expand(3, -1),))[1]
    torch.testing.assert_close(jacobian(decoder, z)[:, :, 1], each.flatten(1))


def test_its_gradients_are_those_of_forward_mode(decoder):
    z, weights = points(3, 4), [p for p in decoder.parameters() if p.ndim > 1]
    found, expected = (
        torch.autograd.grad(jacobian(decoder, z, mode=mode).abs().sum(), weights, allow_unused=True)
        for mode in ("closed", "forward")
    )
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b)


def test_secants_come_close_to_columns(decoder):
    z, columns = points(2, 4), torch.arange(4)
    secants = jvp_columns(decoder, z, columns, step=1e-7)
    torch.testing.assert_close(secants, jacobian(decoder, z), atol=1e-4, rtol=1e-3)


def test_sampled_columns_are_unbiased_on_images(decoder):
    z = points(2, 4)
    draws = [
        dependency_sparsity(decoder, z, columns=1, generator=torch.Generator().manual_seed(seed))
        for seed in range(40)
    ]
    singles = sorted({round(draw.item(), 8) for draw in draws})
    assert len(singles) == 4  # each column is drawn, and all of them together are the exact penalty
    exact = dependency_sparsity(decoder, z).item()
    assert sum(singles) / 4 == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(
    "penalty",
    [
        latent_sparsity,
        orojar,
        partial(orojar, exact=False),
        partial(orojar, exact=False, step=0.1),
        partial(hessian_penalty, exact=False, step=0.1),
    ],
)
def test_penalties_take_decoders_of_images(penalty, decoder):
    z = points(4, 4).requires_grad_()
    value = penalty(decoder, z)
    value.backward()
    grads = [p.grad for p in (z, *decoder.parameters()) if p.grad is not None]
    assert value.shape == () and value >= 0 and grads and all(grad.isfinite().all() for grad in grads)


def test_layers_without_a_rule_are_differentiated_as_ever():
    network = nn.Sequential(
        nn.Linear(4, 16), nn.Unflatten(1, (1, 4, 4)), nn.MaxPool2d(2), nn.Flatten(1)
    ).double()
    z = points(3, 4)
    assert not has_tangent_rule(network)
    torch.testing.assert_close(jacobian(network, z), jacobian(network, z, mode="reverse"))
    hooked = seeded(DECODERS["strided"], 4, SHAPE)
    hooked[0].register_forward_hook(lambda *_: None)
    assert not has_tangent_rule(hooked)


def test_strided_networks_have_the_published_sizes():
    shapes = [tuple(p.shape) for p in strided_encoder((64, 64, 3), 20).parameters() if p.ndim > 1]
    assert shapes == [(32, 3, 4, 4), (32, 32, 4, 4), (64, 32, 2, 2), (64, 64, 2, 2), (256, 1024), (20, 256)]
    shapes = [tuple(p.shape) for p in strided_decoder(10, (64, 64, 3)).parameters() if p.ndim > 1]
    assert shapes == [(256, 10), (1024, 256), (64, 64, 4, 4), (64, 32, 4, 4), (32, 32, 4, 4), (32, 3, 4, 4)]
    wide = [m for m in strided_encoder((128, 128, 1), 2) if isinstance(m, nn.Conv2d)]
    assert [m.out_channels for m in wide] == [32, 32, 32, 64, 64]
    with pytest.raises(ValueError, match="sides divisible by 4"):
        strided_encoder((6, 8, 3), 2, widths=(4, 4))
