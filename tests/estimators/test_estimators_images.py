"""Estimators on images and on rows larger than memory: the same API, no copies, constant pixels allowed."""

from copy import deepcopy
from functools import partial

import numpy as np
import pytest
import torch

import unmix
from unmix import GAN, VQVAE, Autoencoder, BetaVAE, EncDiff
from unmix.estimators import _images
from unmix.nn import conv_decoder, conv_encoder, mlp

ENCODER = partial(conv_encoder, widths=(4, 8), dense=(16,))
DECODER = partial(conv_decoder, widths=(8, 4), dense=(16,))
SMALL = {
    "encoder": ENCODER,
    "decoder": DECODER,
    "max_iter": 30,
    "batch_size": 16,
    "lr": 1e-2,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def blobs():
    """A blob that moves over a field whose first column is always black."""
    place = np.random.default_rng(0).uniform(3, 12, size=(160, 2))
    grid = np.arange(16)
    square = (grid[None, :, None] - place[:, :1, None]) ** 2 + (grid[None, None, :] - place[:, 1:, None]) ** 2
    images = (255 * np.exp(-square / 8)).astype(np.uint8)
    images[:, 0] = 0
    return images[..., None]


@pytest.fixture(scope="module")
def fitted(blobs):
    return Autoencoder(2, **SMALL).fit(blobs)


def test_images_are_encoded_decoded_and_scored(fitted, blobs):
    z = fitted.transform(blobs)
    again = fitted.inverse_transform(z)
    assert z.shape == (160, 2) and again.shape == blobs.shape and again.dtype == np.uint8
    untrained = Autoencoder(2, **SMALL | {"max_iter": 1}).fit(blobs)
    assert fitted.score(blobs) > max(0.3, untrained.score(blobs))
    left = np.square((blobs - again.astype(float)) / 255).sum()
    total = np.square((blobs - blobs.mean(0)) / 255).sum()
    assert fitted.score(blobs) == pytest.approx(1 - left / total, abs=0.01)
    assert not hasattr(fitted, "structure_")


def test_jacobians_of_images_agree_with_differences(fitted, blobs):
    J = fitted.jacobian(blobs[:2])
    z, decoder = torch.from_numpy(fitted.transform(blobs[:2])).double(), deepcopy(fitted.decoder_).double()
    step = 1e-7 * torch.eye(2)[0]
    with torch.no_grad():
        secant = (decoder(z + step) - decoder(z - step)).flatten(1) / 2e-7
    assert J.shape == (2, 256, 2)
    np.testing.assert_allclose(J[:, :, 0] / 255, secant, atol=1e-3)


@pytest.mark.parametrize("kind", [Autoencoder, BetaVAE])
def test_a_model_of_images_is_saved_and_loaded(kind, blobs, tmp_path):
    model = kind(2, **SMALL | {"max_iter": 2}).fit(blobs)
    again = unmix.load(model.save(tmp_path / "model"), trusted=[conv_encoder, conv_decoder])
    np.testing.assert_array_equal(again.transform(blobs), model.transform(blobs))
    np.testing.assert_array_equal(again.inverse_transform(np.eye(2)), model.inverse_transform(np.eye(2)))


def test_a_fit_to_images_goes_on_after_a_stop(blobs, tmp_path, monkeypatch):
    whole = Autoencoder(2, **SMALL | {"max_iter": 4}).fit(blobs)
    settings = SMALL | {"max_iter": 4, "checkpoint": tmp_path / "run"}
    monkeypatch.setattr(_images, "describe", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        Autoencoder(2, **settings).fit(blobs)
    monkeypatch.undo()
    np.testing.assert_array_equal(
        Autoencoder(2, **settings).fit(blobs).transform(blobs), whole.transform(blobs)
    )


def test_bytes_are_not_copied_and_memory_maps_stay_on_disk(blobs, tmp_path):
    np.save(tmp_path / "images.npy", blobs)
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r+")
    for images in (blobs, mapped):
        held = _images.read(Autoencoder(2, device="cpu"), images)
        assert held.data_ptr() == images.ctypes.data


def test_networks_with_buffers_train_and_their_statistics_move(blobs):
    normed = partial(ENCODER, norm="batch")
    model = Autoencoder(2, **SMALL | {"encoder": normed, "n_restarts": 2, "max_iter": 4}).fit(blobs)
    moved = [b for name, b in model.encoder_.named_buffers() if name.endswith("running_mean")]
    assert len(model.restarts_) == 2 and all(b.abs().sum() > 0 for b in moved)
    np.testing.assert_allclose(model.transform(blobs[:1]), model.transform(blobs)[:1], atol=1e-5)


def test_perceptrons_take_images_and_batch_normalised_ones_tables(blobs):
    assert Autoencoder(2, encoder=mlp, decoder=mlp, max_iter=2).fit(blobs).transform(blobs).shape == (160, 2)
    table = blobs.reshape(160, -1)[:, 100:110] + np.random.default_rng(0).normal(size=(160, 10))
    model = Autoencoder(2, encoder=partial(mlp, norm="batch"), max_iter=3, random_state=0).fit(table)
    assert model.structure_.shape == (10, 2) and np.isfinite(model.transform(table)).all()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda x: x[:1], "at least two images"),
        (lambda x: x.astype(np.int32), r"bytes \(uint8\) or floats"),
        (lambda x: np.where(x > 200, np.nan, x / 255.0), "must be finite"),
        (lambda x: x[:, :15], "sides divisible by 4"),
    ],
    ids=["one", "integers", "nan", "odd sides"],
)
def test_bad_images_are_named(spoil, message, blobs):
    with pytest.raises(ValueError, match=message):
        Autoencoder(2, **SMALL).fit(spoil(blobs))


@pytest.mark.parametrize("kind", [Autoencoder, BetaVAE, VQVAE, EncDiff, GAN])
@pytest.mark.parametrize("as_given", [np.asarray, torch.from_numpy])
def test_grey_images_without_channels_are_told_to_have_one(kind, as_given, blobs):
    with pytest.raises(
        (TypeError, ValueError), match=r"channels.*got shape \(160, 16, 16\).*`X\[\.\.\., None\]`"
    ):
        kind(2).fit(as_given(blobs[..., 0].copy()))


def test_grey_images_without_channels_are_refused_by_a_fitted_model_too(fitted, blobs):
    for call in (fitted.transform, fitted.jacobian, fitted.score):
        with pytest.raises(ValueError, match=r"axis of channels .* `X\[\.\.\., None\]`"):
            call(blobs[..., 0])


def test_other_images_than_fitted_are_refused(fitted, blobs):
    with pytest.raises(ValueError, match=r"images of shape \(16, 16, 1\)"):
        fitted.transform(blobs[:, :8])
    with pytest.raises(ValueError, match="n_components=2"):
        fitted.inverse_transform(np.zeros((3, 5)))


def test_a_refit_to_another_kind_of_data_forgets_the_first(blobs):
    model = Autoencoder(2, encoder=mlp, decoder=mlp, max_iter=1).fit(blobs)
    x = np.random.default_rng(0).normal(size=(30, 4))
    assert model.fit(x).transform(x).shape == (30, 2) and model.n_features_in_ == 4


@pytest.mark.slow
def test_rows_larger_than_memory_give_what_an_array_gives(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(700, 2)) @ rng.normal(size=(2, 5)) + 3
    np.save(tmp_path / "x.npy", x)
    model = Autoencoder(2, max_iter=60, batch_size=50, random_state=0).fit(tmp_path / "x.npy")
    held = Autoencoder(2, max_iter=60, batch_size=50, random_state=0).fit(x)
    np.testing.assert_allclose(model.mean_, held.mean_)
    np.testing.assert_allclose(model.scale_, held.scale_)
    assert model.score(x) == pytest.approx(held.score(x), abs=0.02) and model.score(x) > 0.95
    assert model.score(tmp_path / "x.npy") == pytest.approx(model.score(x))
    np.testing.assert_allclose(model.transform(tmp_path / "x.npy"), model.transform(x))
    with pytest.raises(ValueError, match="must have 5 features"):
        np.save(tmp_path / "narrow.npy", x[:, :3])
        model.transform(tmp_path / "narrow.npy")


def test_more_latents_than_variables_where_a_method_says_so():
    class Wide(Autoencoder):  # type: ignore[misc]  # what a sparse autoencoder will say of itself
        overcomplete = True

    x = np.random.default_rng(0).normal(size=(60, 3))
    assert Wide(7, max_iter=2, random_state=0).fit(x).transform(x).shape == (60, 7)
    with pytest.raises(ValueError, match="at most n_features=3"):
        Autoencoder(7, max_iter=2).fit(x)
