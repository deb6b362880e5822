"""Bi-Lipschitz constants: closed forms, one-sidedness of the directional estimate, and its known bias."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from unmix.nn import bilipschitz, directional_bilipschitz, mlp, segment_gap
from unmix.theory import certify_decoder

seeds = st.integers(0, 2**31 - 1)


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def orthonormal(rows, columns, seed):
    return torch.linalg.qr(draw(rows, columns, seed=seed))[0]


@given(seed=seeds, low=st.floats(0.1, 1.0), high=st.floats(1.0, 10.0))
def test_a_linear_decoder_has_the_constant_of_its_singular_values(seed, low, high):
    weights = (
        orthonormal(6, 3, seed)
        * torch.tensor([low, 1.0, high], dtype=torch.float64)
        @ orthonormal(3, 3, seed + 1)
    )
    found = bilipschitz(lambda z: z @ weights.T, draw(5, 3, seed=seed))
    np.testing.assert_allclose(found.smallest, low, rtol=1e-9)
    np.testing.assert_allclose(found.largest, high, rtol=1e-9)
    assert found.mean == pytest.approx(max(high, 1 / low)) and found.max == pytest.approx(found.median)
    assert found.free == pytest.approx(np.sqrt(high / low))


def test_a_curved_decoder_varies_from_place_to_place():
    z = torch.tensor([[0.0, 0.0], [1.0, 0.0], [-2.0, 0.0]], dtype=torch.float64)
    found = bilipschitz(lambda z: torch.stack([z[:, 0].exp(), z[:, 1]], 1), z)
    np.testing.assert_allclose(found.constants, np.exp([0, 1, 2]))
    assert found.max == pytest.approx(np.exp(2)) and found.median == pytest.approx(np.e)
    assert found.free == pytest.approx(np.exp(1.5))


@given(seed=seeds)
def test_directions_lie_between_the_singular_values(seed):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        decoder = mlp(4, 9, hidden=(8,), activation="silu").double()
    z = draw(20, 4, seed=seed)
    exact, tried = bilipschitz(decoder, z), directional_bilipschitz(decoder, z)
    assert (tried.smallest >= exact.smallest - 1e-12).all() and (tried.largest <= exact.largest + 1e-12).all()
    assert (tried.constants <= exact.constants + 1e-12).all() and not tried.exact
    many = directional_bilipschitz(decoder, z, n_directions=200)
    assert many.mean > tried.mean


@pytest.mark.parametrize(("d", "average"), [(2, 1.98), (8, 1.56), (16, 1.44), (64, 1.28), (256, 1.23)])
def test_ten_directions_are_biased_as_documented(d, average):
    values = torch.logspace(-1, 1, d, base=2.0, dtype=torch.float64)
    found = directional_bilipschitz(lambda z: z * values, draw(400, d))
    assert found.mean == pytest.approx(average, abs=0.03)
    assert bilipschitz(lambda z: z * values, draw(2, d)).max == pytest.approx(2)


@pytest.mark.parametrize("slope", [0.3, 0.7, 1.0])
def test_orthogonal_leaky_decoders_stay_within_the_slope_squared(slope):
    layers = [orthonormal(5, 3, 0), orthonormal(8, 5, 1), orthonormal(12, 8, 2)]

    def decoder(z):
        for w in layers[:-1]:
            z = nn.functional.leaky_relu(z @ w.T, slope)
        return z @ layers[-1].T

    found = bilipschitz(decoder, draw(200, 3))
    assert (found.smallest >= slope**2 - 1e-12).all() and (found.largest <= 1 + 1e-12).all()
    assert found.max <= slope**-2 + 1e-9


def test_what_cannot_be_inverted_is_capped_and_counted():
    found = bilipschitz(lambda z: z.clamp_min(0.0), torch.tensor([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]]))
    assert found.n_capped == 2 and found.max == pytest.approx(1e6) and found.median == pytest.approx(1e6)
    narrow = bilipschitz(lambda z: z[:, :1], torch.zeros(2, 3))
    assert narrow.n_capped == 2 and (narrow.smallest == 0).all() and (narrow.largest == 1).all()
    assert narrow.singular_values.shape == (2, 3)


@given(seed=seeds)
def test_the_certificate_reads_the_singular_values(seed):
    weights = draw(7, 3, seed=seed)
    found = bilipschitz(lambda z: (z @ weights.T).tanh(), 0.1 * draw(6, 3, seed=seed + 1))
    certificate = certify_decoder(found.singular_values.numpy())
    np.testing.assert_allclose(certificate.constants, found.constants, rtol=1e-9)
    assert certificate.k_p95 == pytest.approx(found.p95)


def test_pieces_and_images_change_nothing():
    z, w = draw(7, 2), draw(2, 12)
    whole = bilipschitz(lambda z: (z @ w).tanh(), z)
    pieces = bilipschitz(lambda z: (z @ w).tanh().reshape(-1, 3, 2, 2), z, max_bytes=400)
    np.testing.assert_allclose(pieces.singular_values, whole.singular_values, rtol=1e-12)
    assert json.loads(json.dumps(whole.to_dict())) == whole.to_dict()
    again = directional_bilipschitz(lambda z: (z @ w).tanh(), z, random_state=3)
    same = directional_bilipschitz(lambda z: (z @ w).tanh().reshape(-1, 3, 4), z, random_state=3)
    np.testing.assert_allclose(again.constants, same.constants)


def test_segments_of_a_ring_leave_what_the_autoencoder_knows():
    angle = torch.linspace(0, 2 * torch.pi, 101)[:-1]
    ring = torch.stack([angle.cos(), angle.sin()], 1)

    def onto_ring(x):
        return x / x.norm(dim=1, keepdim=True)

    gaps = segment_gap(onto_ring, lambda z: z, ring)
    assert gaps.shape == (500,) and gaps.mean() > 0.1  # chords pass inside by 1 - |z_t|, over 2
    assert segment_gap(lambda x: x, lambda z: z, ring).max() == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: directional_bilipschitz(lambda z: z, torch.zeros(2, 2), n_directions=0), "n_directions"),
        (lambda: segment_gap(lambda x: x, lambda z: z, torch.zeros(1, 2)), "at least 2 rows"),
        (lambda: segment_gap(lambda x: x, lambda z: z, torch.zeros(3, 2), n_points=0), "n_points"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
