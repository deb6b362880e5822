"""Wide codes first, then narrow ones: what is kept is what moves reconstructions most."""

import numpy as np
import pytest
import torch
from torch import nn

import unmix
from unmix.estimators._narrowing import narrow, start_narrow
from unmix.nn import points_decoder, points_encoder
from unmix.objectives import Objective, likely

X = np.random.default_rng(0).normal(size=(300, 3)) @ np.random.default_rng(1).normal(size=(3, 6))


def wide_and_narrow(loss="squared", n=2, wide=5, d=7):
    torch.manual_seed(0)
    encoder, decoder = nn.Linear(d, wide), nn.Linear(wide, d)
    begun = Objective(encoder, likely(decoder, loss), wide, loss=loss)
    made = narrow(nn.Linear(d, wide), nn.Linear(wide, d), wide, n)
    return begun, Objective(made[0], likely(made[1], loss), n, loss=loss)


def test_of_linear_networks_the_leading_components_of_reconstructions_are_kept():
    """Narrow reconstructions are the best of their rank: those of PCA of the wide ones."""
    begun, member = wide_and_narrow()
    x = torch.randn(500, 7, generator=torch.Generator().manual_seed(1)) @ torch.diag(torch.arange(1.0, 8))
    start_narrow(member, begun, x)
    with torch.no_grad():
        wide, found = begun.decoder(begun.encode(x)), member.decoder(member.encode(x))
    mean = wide.mean(0)
    u, s, v = torch.linalg.svd(wide - mean, full_matrices=False)
    torch.testing.assert_close(found, mean + (u[:, :2] * s[:2]) @ v[:2], atol=2e-4, rtol=0)
    codes = member.encode(x).detach()
    torch.testing.assert_close(
        codes.mT @ codes / 500, 0 * codes.mT @ codes + codes.square().mean(0).diag(), atol=1e-4, rtol=0
    )


def test_units_of_wide_codes_change_nothing():
    found = []
    for scale in (1.0, 30.0):
        begun, member = wide_and_narrow("bernoulli")
        with torch.no_grad():
            begun.encoder.weight[1] *= scale
            begun.encoder.bias[1] *= scale
            begun.decoder[0].weight[:, 1] /= scale
        x = torch.randn(400, 7, generator=torch.Generator().manual_seed(1))
        start_narrow(member, begun, x)
        found.append(member.decoder(member.encode(x)).detach())
    torch.testing.assert_close(*found, atol=1e-3, rtol=0)


def test_samples_in_order_are_as_good_as_shuffled_ones(monkeypatch):
    """What varies between the first samples says little about all: they may show one and the same thing."""
    monkeypatch.setattr("unmix.estimators._narrowing._SAMPLES", 100)
    begun, member = wide_and_narrow(n=3)
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(2000, 3, generator=generator) @ torch.randn(3, 7, generator=generator)
    x[:200] = x[0] + 0.001 * torch.randn(200, 7, generator=generator)
    start_narrow(member, begun, x)
    with torch.no_grad():
        wide, found = begun.decoder(begun.encode(x)), member.decoder(member.encode(x))
    assert float((wide - found).square().mean() / wide.var()) < 1e-3


def test_a_fit_keeps_both_parts_and_goes_through_a_file(tmp_path):
    model = unmix.Autoencoder(2, wide=5, max_iter=9, batch_size=100, n_restarts=2, random_state=0).fit(X)
    assert model.history_.n_steps == 27 and model.transform(X).shape == (300, 2) and len(model.restarts_) == 2
    again = unmix.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(
        again.inverse_transform(model.transform(X)), model.inverse_transform(model.transform(X))
    )


def test_a_fit_that_was_killed_goes_on_with_the_same_bits(tmp_path):
    def made(folder, **more):
        return unmix.Autoencoder(
            2, wide=4, max_iter=6, batch_size=100, random_state=0, checkpoint=folder, **more
        ).fit(X)

    whole = made(None).transform(X)
    np.testing.assert_array_equal(made(tmp_path / "a").transform(X), whole)
    np.testing.assert_array_equal(made(tmp_path / "a").transform(X), whole)  # from what is there


@pytest.mark.parametrize("wide", [1, 2.5, True, "four"])
def test_codes_that_begin_narrower_than_they_end_are_refused(wide):
    with pytest.raises(ValueError, match="`wide` must be an integer of at least 2"):
        unmix.Autoencoder(2, wide=wide, max_iter=1).fit(X)


@pytest.mark.parametrize("loss", ["squared", "bernoulli"])
def test_images_are_fitted_by_points(loss):
    images = np.random.default_rng(0).integers(0, 256, (24, 8, 8, 3), dtype=np.uint8)
    networks = {"encoder": points_encoder, "decoder": points_decoder}
    model = unmix.Autoencoder(2, wide=4, loss=loss, max_iter=2, batch_size=8, random_state=0, **networks).fit(
        images
    )
    assert (
        model.transform(images).shape == (24, 2)
        and model.inverse_transform(model.transform(images)).shape == images.shape
    )
