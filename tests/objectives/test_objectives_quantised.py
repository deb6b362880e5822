"""Codes out of a codebook: nearest values, gradients that pass through, and curves between values."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tensors import points, seeded
from unmix.nn import mlp
from unmix.objectives import Codebook, QuantisedDecoder, QuantisedEncoder, QuantisedObjective
from unmix.objectives._energy import EnergyObjective


def book(n_latents=3, n_values=5, size=1, *, shared=False):
    return Codebook(
        points((1 if shared else n_latents) * n_values, size).reshape(-1, n_values, size), n_latents
    )


@pytest.mark.parametrize(("size", "shared"), [(1, False), (4, True)])
def test_codes_are_quantised_to_the_nearest_value(size, shared):
    codes = book(size=size, shared=shared)
    z = points(20 * 3, size, 5).reshape(20, 3, size)
    numbers = codes.nearest(z)
    values = codes.values.detach()
    apart = [[[(z[i, j] - values[j, k]).norm() for k in range(5)] for j in range(3)] for i in range(20)]
    np.testing.assert_array_equal(numbers, np.argmin(apart, axis=2))
    found = codes.picked(numbers, codes.values)
    assert all(torch.isin(found[:, j], values[j]).all() for j in range(3))
    torch.testing.assert_close(codes.at(numbers.double()), found)


@given(number=st.floats(-2.0, 6.0))
def test_between_values_the_curve_is_smooth_and_passes_through_them(number):
    codes = book(1)
    at = torch.tensor([[number]], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(codes.at(at).sum(), at)
    ahead, behind = (codes.at(at.detach() + step).item() for step in (1e-6, -1e-6))
    assert slope.item() == pytest.approx((ahead - behind) / 2e-6, abs=1e-4)


def objective(penalty=None, loss="squared"):
    codes = book(2, 4)
    encoder = QuantisedEncoder(seeded(mlp, 3, 2, hidden=(5,)), codes)
    network = seeded(mlp, 2, 3, hidden=(5,))
    network = nn.Sequential(network, nn.Sigmoid()) if loss == "bernoulli" else network
    return QuantisedObjective(encoder, QuantisedDecoder(codes, network), loss=loss, penalty=penalty)


@pytest.mark.parametrize("loss", ["squared", "bernoulli"])
def test_the_gradient_passes_straight_through_to_the_encoder(loss):
    member, x = objective(loss=loss), points(6, 3).sigmoid()
    terms = member(x, points(6, 1))
    z = member.encoder.network(x)
    values = member.encoder.book.picked(member.encoder.book.nearest(z[..., None]), member.encoder.book.values)
    there = values[..., 0].detach().requires_grad_()  # as if the decoder's input were the encoder's output
    out = member.decoder.network(there)
    loss_there = (
        (x - out).square().mean() if loss == "squared" else nn.functional.binary_cross_entropy(out, x)
    )
    torch.testing.assert_close(terms["reconstruction"], loss_there)
    (pulled,) = torch.autograd.grad(loss_there, there)
    weights = list(member.encoder.network.parameters())
    expected = torch.autograd.grad(z, weights, grad_outputs=pulled)
    found = torch.autograd.grad(terms["reconstruction"], weights, retain_graph=True)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b)


def test_each_of_the_two_distances_moves_its_own_side():
    member, x = objective(), points(6, 3)
    terms = member(x, points(6, 1))
    weight, codes = member.encoder.network[0].weight, member.encoder.book.codebook
    torch.testing.assert_close(terms["quantisation"], terms["commitment"])
    for name, moved, still in (("quantisation", codes, weight), ("commitment", weight, codes)):
        a, b = torch.autograd.grad(terms[name], (moved, still), allow_unused=True, retain_graph=True)
        assert a is not None and a.abs().sum() > 0 and b is None
    there = codes.detach().clone().requires_grad_()

    def quantisation(values):
        return torch.func.functional_call(member, {"encoder.book.codebook": values}, (x, points(6, 1)))[
            "quantisation"
        ]

    assert torch.autograd.gradcheck(quantisation, there)


def test_encoder_and_decoder_speak_of_numbers():
    member, x = objective(), points(6, 3)
    numbers = member.encoder(x)
    assert torch.isin(numbers, torch.arange(4, dtype=torch.float64)).all()
    values = member.encoder.book.picked(numbers.long(), member.encoder.book.values)
    torch.testing.assert_close(member.decoder(numbers), member.decoder.network(values.flatten(1)))


def test_energy_counts_what_is_below_zero_and_what_is_large():
    member = EnergyObjective(nn.Identity(), nn.Identity())
    z = torch.tensor([[-1.0, 2.0], [0.0, -3.0]])
    terms = member(z, z)
    assert terms["reconstruction"] == 0 and terms["negativity"] == 1 and terms["activity"] == 3.5
    smooth = EnergyObjective(
        seeded(mlp, 3, 2, hidden=(4,), activation="tanh"), seeded(mlp, 2, 3, hidden=(4,), activation="tanh")
    )
    x = points(5, 3)

    def total(weight):
        return sum(torch.func.functional_call(smooth, {"encoder.0.weight": weight}, (x, x)).values())

    assert torch.autograd.gradcheck(total, smooth.encoder[0].weight.detach().clone().requires_grad_())
