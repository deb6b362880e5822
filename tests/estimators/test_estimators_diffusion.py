"""EncDiff and DisCo: what every model of images promises, with decoders of their own."""

from copy import deepcopy
from functools import partial

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.base import clone

import unmix
from families import IMAGE_READERS, every, label
from unmix import CGGAN, BetaVAE, DisCo, EncDiff
from unmix.nn import mlp
from unmix.objectives import ContrastObjective, DiffusionObjective
from unmix.training import Run, _loop

IMAGES = np.random.default_rng(0).integers(0, 256, (24, 8, 8, 3), dtype=np.uint8)
ENCDIFF, VQ, SPARSE, DISCO, LOCAL = IMAGE_READERS


class _Stop(Exception):
    pass


@pytest.fixture(scope="module")
def fitted():
    """Fit a member once, when it is asked for."""
    known = {}

    def fit(member):
        if id(member) not in known:
            known[id(member)] = clone(member).fit(IMAGES)
        return known[id(member)]

    return fit


@every(IMAGE_READERS)
def test_codes_come_from_images_and_images_from_codes_alone(member, fitted):
    model = fitted(member)
    codes = model.transform(IMAGES)
    assert codes.shape == (24, 4) and codes.dtype == np.float32 and np.isfinite(codes).all()
    made = model.inverse_transform(codes)
    assert made.shape == IMAGES.shape and made.dtype == np.uint8
    torch.manual_seed(5)  # no noise is drawn: the same codes give the same image
    np.testing.assert_array_equal(model.inverse_transform(codes), made)
    np.testing.assert_allclose(model.latent_scale_, codes.std(0), rtol=1e-3)
    assert model.score(IMAGES) < 1 and model.findings().n_components == 4


@every(IMAGE_READERS)
def test_the_jacobian_is_that_of_the_decoder(member, fitted):
    model = fitted(member)
    z = torch.from_numpy(model.transform(IMAGES[:1])).double()
    decoder = deepcopy(model.decoder_).double()
    step = 1e-5 * torch.eye(4, dtype=torch.float64)
    with torch.no_grad():
        secants = [(decoder(z + e[None]) - decoder(z - e[None])).flatten() / 2e-5 for e in step]
    J = model.jacobian(IMAGES[:1])[0] / 255
    np.testing.assert_allclose(np.median(np.abs(np.stack(secants, 1) - J)), 0, atol=1e-3)


@every(IMAGE_READERS)
def test_a_fit_is_a_function_of_its_seed_and_leaves_global_seeds_alone(member, fitted):
    torch.manual_seed(7)
    again = clone(member).fit(IMAGES).transform(IMAGES)
    after = torch.rand(1)
    torch.manual_seed(7)
    assert after == torch.rand(1)
    np.testing.assert_array_equal(again, fitted(member).transform(IMAGES))
    other = clone(member).set_params(random_state=1).fit(IMAGES)
    assert not np.allclose(other.transform(IMAGES), again)


@every(IMAGE_READERS)
def test_a_saved_model_is_whole(member, fitted, tmp_path):
    model = fitted(member)
    again = unmix.load(model.save(tmp_path / "model"))
    codes = model.transform(IMAGES)
    np.testing.assert_array_equal(again.transform(IMAGES), codes)
    np.testing.assert_array_equal(again.inverse_transform(codes), model.inverse_transform(codes))
    assert again.history_.terms == model.history_.terms


@pytest.mark.parametrize("member", IMAGE_READERS, ids=label)
@pytest.mark.parametrize("n_steps", [1, 2])
def test_a_killed_fit_goes_on_to_the_same_bits(member, n_steps, fitted, tmp_path, monkeypatch):
    saved, kept = _loop.Keeper.save, []

    def stop(keeper):
        saved(keeper)
        kept.append(keeper.folder.name)
        if keeper.record.n_steps == n_steps and kept.count(keeper.folder.name) == n_steps:
            raise _Stop

    every_step = partial(Run, checkpoint_every=1)
    monkeypatch.setattr(_loop.Keeper, "save", stop)
    for module in ("_watched", "_apart"):
        monkeypatch.setattr(f"unmix.training.{module}.Run", every_step)
    stopped = clone(member).set_params(checkpoint=tmp_path / "run")
    with pytest.raises(_Stop):
        stopped.fit(IMAGES)
    monkeypatch.setattr(_loop.Keeper, "save", saved)
    torch.manual_seed(99)  # what a resumed fit must not depend on
    model = stopped.set_params(samples=tmp_path / "sheets").fit(IMAGES)  # nor on who watches it
    assert any((tmp_path / "sheets").iterdir())
    codes = fitted(member).transform(IMAGES)
    np.testing.assert_array_equal(model.transform(IMAGES), codes)
    np.testing.assert_array_equal(model.inverse_transform(codes), fitted(member).inverse_transform(codes))


@every(IMAGE_READERS)
def test_sheets_are_written_while_training_and_change_no_bit(member, fitted, tmp_path):
    watched = clone(member).set_params(samples=tmp_path / "sheets").fit(IMAGES)
    names = sorted(file.name for file in (tmp_path / "sheets").iterdir() if file.is_file())
    assert names == [f"step-{step:06d}.png" for step in range(1, 5)]
    with Image.open(tmp_path / "sheets" / names[-1]) as picture:
        assert picture.size == (64, 16)
    np.testing.assert_array_equal(watched.transform(IMAGES), fitted(member).transform(IMAGES))


@pytest.mark.parametrize(
    ("member", "kind", "term"),
    [(ENCDIFF, DiffusionObjective, "noise"), (DISCO, ContrastObjective, "contrast")],
    ids=["EncDiff", "DisCo"],
)
def test_a_term_that_is_no_longer_finite_stops_the_fit_by_name(member, kind, term, monkeypatch):
    plain = kind.forward
    monkeypatch.setattr(kind, "forward", lambda *args: plain(*args) | {term: plain(*args)[term] / 0})
    with pytest.raises(FloatingPointError, match=term):
        clone(member).fit(IMAGES)


@every(IMAGE_READERS)
def test_no_latent_is_trusted_and_the_reason_is_said(member, fitted):
    found = unmix.trust(fitted(member), IMAGES, effort="none")
    assert not found.trusted.any() and "no theorem" in found.reasons[0]


@pytest.mark.parametrize(
    ("member", "name", "value"),
    [
        (ENCDIFF, "space", "air"),
        (ENCDIFF, "target", "image"),
        (ENCDIFF, "through", "wall"),
        (ENCDIFF, "penalty_share", 0),
        (ENCDIFF, "sampling_steps", 0),
        (ENCDIFF, "penalty_weight", -1.0),
        (DISCO, "sparse", "all"),
        (DISCO, "shift", 0),
        (DISCO, "n_components", 100),
        (DISCO, "n_components", 1),
        (DISCO, "batch_size", 2),
    ],
    ids=lambda each: str(each) if isinstance(each, str | int | float) else type(each).__name__,
)
def test_settings_that_make_no_sense_are_refused(member, name, value):
    with pytest.raises(ValueError, match=f"`{name}` must be"):
        clone(member).set_params(**{name: value}).fit(IMAGES)


@pytest.mark.parametrize("member", [ENCDIFF, DISCO], ids=label)
def test_what_is_no_image_is_refused(member):
    with pytest.raises(ValueError, match="`X` must be images"):
        clone(member).fit(np.random.default_rng(0).normal(size=(24, 6)))


def test_disco_takes_any_model_with_a_decoder_and_leaves_it_as_it_is(tmp_path):
    network = {"encoder": partial(mlp, hidden=(8,))}
    network["decoder"] = network["encoder"]
    vae = BetaVAE(5, **network, max_iter=2, random_state=0).fit(IMAGES)
    model = clone(DISCO).set_params(generator=vae.save(tmp_path / "vae")).fit(IMAGES)
    assert model.directions_.shape == (5, 4)
    np.testing.assert_allclose(model.directions_.T @ model.directions_, np.eye(4), atol=5e-5)
    kept = model.decoder_.rendering.generator.state_dict()
    for name, tensor in vae.decoder_.state_dict().items():
        assert torch.equal(kept[name], tensor)
    (tmp_path / "vae").unlink()  # the file of DisCo is whole without it
    again = unmix.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.inverse_transform(np.eye(4)), model.inverse_transform(np.eye(4)))
    with pytest.raises(ValueError, match="`generator` must be a model of images"):
        clone(DISCO).set_params(generator=model.save(tmp_path / "other")).fit(IMAGES[:, :4, :4])


@pytest.mark.parametrize("changes", ["flows", "labels"])
def test_disco_takes_a_generator_of_several_domains(changes, tmp_path):
    small = {"decoder": DISCO.generator, "critic": DISCO.critic, "encoder": DISCO.encoder}
    small |= {"batch_size": 8, "random_state": 0}
    domains = np.arange(24) % 3
    maker = CGGAN(6, n_changing=3, changes=changes, max_steps=2, inversion=1.0, **small).fit(IMAGES, domains)
    model = clone(DISCO).set_params(generator=maker.save(tmp_path / "maker")).fit(IMAGES)
    (tmp_path / "maker").unlink()
    again = unmix.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.transform(IMAGES), model.transform(IMAGES))


@pytest.mark.parametrize("generator", [None, 3])
def test_what_is_no_generator_is_refused(generator):
    with pytest.raises(TypeError, match="`generator` must be the file of a fitted model"):
        clone(DISCO).set_params(generator=generator).fit(IMAGES)


def test_a_gan_that_is_trained_first_can_be_watched_as_well(tmp_path):
    clone(DISCO).set_params(samples=tmp_path / "sheets").fit(IMAGES)
    assert sorted(file.name for file in (tmp_path / "sheets" / "generator").iterdir()) == [
        "step-000001.png",
        "step-000002.png",
    ]


def test_presets_have_the_published_numbers():
    diffusion, contrast = EncDiff.preset("yang2024"), DisCo.preset("ren2022")
    assert (diffusion.n_components, diffusion.batch_size, diffusion.lr, diffusion.ema) == (
        20,
        64,
        1e-4,
        0.9999,
    )
    assert (diffusion.space, diffusion.n_times, diffusion.sampling_steps) == ("vq", 1000, 200)
    assert (diffusion.token_size, diffusion.n_values, diffusion.target) == (32, 2048, "noise")
    assert (contrast.n_components, contrast.max_steps, contrast.lr, contrast.shift) == (64, 70_000, 1e-4, 6)
