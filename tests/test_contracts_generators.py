"""What every maker of images promises: samples, codes, files, checkpoints, and no claim to be right."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import unmix
from families import IMAGE_MAKERS, every, label
from unmix import CGGAN, GAN
from unmix.objectives import GameObjective

IMAGES = np.random.default_rng(0).integers(0, 256, (24, 8, 8, 3), dtype=np.uint8)
DOMAINS = np.array(["day", "night"] * 12)


class _Stop(Exception):
    pass


@pytest.fixture(scope="module")
def fitted():
    """Fit a member once, when it is asked for."""
    known = {}

    def fit(member):
        if id(member) not in known:
            known[id(member)] = clone(member).fit(IMAGES, DOMAINS)
        return known[id(member)]

    return fit


def asked(model, **more):
    return more if model.needs_domains else {}


@every(IMAGE_MAKERS)
def test_samples_are_images_and_a_function_of_the_seed(member, fitted):
    model = fitted(member)
    samples = model.sample(5, random_state=3)
    assert samples.shape == (5, 8, 8, 3) and samples.dtype == np.uint8
    np.testing.assert_array_equal(model.sample(5, random_state=3), samples)
    assert not np.array_equal(model.sample(5, random_state=4), samples)
    floats = clone(member).fit(IMAGES / np.float32(255), DOMAINS).sample(3, random_state=3)
    assert floats.dtype == np.float32 and floats.min() >= 0 and floats.max() <= 1
    with pytest.raises(ValueError, match="`n` must be an integer"):
        model.sample(0)


@every(IMAGE_MAKERS)
def test_codes_come_back_from_images_and_images_from_codes(member, fitted):
    model = fitted(member)
    codes = model.transform(IMAGES)
    assert codes.shape == (24, member.n_components) and np.isfinite(codes).all()
    assert model.inverse_transform(codes).shape == IMAGES.shape
    assert model.jacobian(IMAGES[:2]).shape == (2, 192, member.n_components)
    assert model.score(IMAGES) < 1 and model.findings().n_components == member.n_components
    np.testing.assert_allclose(model.latent_scale_, codes.std(0), rtol=1e-3)


@every(IMAGE_MAKERS)
def test_a_fit_is_a_function_of_its_seed_and_leaves_global_seeds_alone(member, fitted):
    torch.manual_seed(7)
    again = clone(member).fit(IMAGES, DOMAINS).transform(IMAGES)
    after = torch.rand(1)
    torch.manual_seed(7)
    assert after == torch.rand(1)
    np.testing.assert_array_equal(again, fitted(member).transform(IMAGES))
    other = clone(member).set_params(random_state=1).fit(IMAGES, DOMAINS)
    assert not np.allclose(other.transform(IMAGES), again)


@every(IMAGE_MAKERS)
def test_a_saved_model_makes_the_same_images(member, fitted, tmp_path):
    model = fitted(member)
    again = unmix.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.sample(4, random_state=0), model.sample(4, random_state=0))
    np.testing.assert_array_equal(again.transform(IMAGES), model.transform(IMAGES))
    assert again.history_.terms.keys() == model.history_.terms.keys()


@pytest.mark.parametrize("member", IMAGE_MAKERS, ids=label)
@pytest.mark.parametrize("n_steps", [2, 4])
def test_a_killed_fit_goes_on_to_the_same_bits(member, n_steps, fitted, tmp_path, monkeypatch):
    from unmix.training import _loop

    saved, settled = _loop.Keeper.save, []

    def stop(keeper):
        saved(keeper)
        settled.append(keeper.record.n_steps)
        if keeper.record.n_steps == n_steps:
            raise _Stop

    monkeypatch.setattr(_loop.Keeper, "save", stop)
    monkeypatch.setattr("unmix.estimators._game.CHECKPOINT_EVERY", 2)
    stopped = clone(member).set_params(checkpoint=tmp_path / "run")
    with pytest.raises(_Stop):
        stopped.fit(IMAGES, DOMAINS)
    monkeypatch.setattr(_loop.Keeper, "save", saved)
    torch.manual_seed(99)  # what a resumed fit must not depend on
    stopped.fit(IMAGES, DOMAINS)
    assert settled[-1] == n_steps
    np.testing.assert_array_equal(stopped.sample(4, random_state=0), fitted(member).sample(4, random_state=0))
    np.testing.assert_array_equal(stopped.transform(IMAGES), fitted(member).transform(IMAGES))


@every(IMAGE_MAKERS)
def test_players_move_in_turn_on_the_same_batch(member, monkeypatch):
    moves = []
    for name in ("distinguish", "forward"):
        plain = getattr(GameObjective, name)

        def seen(self, x, u, noise, name=name, plain=plain):
            moves.append((name, x.long().sum().item()))
            return plain(self, x, u, noise)

        monkeypatch.setattr(GameObjective, name, seen)
    model = clone(member).fit(IMAGES, DOMAINS)
    assert [name for name, _ in moves] == ["distinguish", "forward"] * 4
    assert [batch for _, batch in moves[::2]] == [batch for _, batch in moves[1::2]]
    assert {name.partition("/")[0] for name in model.history_.terms} == {"discriminator", "generator"}


@every(IMAGE_MAKERS)
def test_a_player_that_is_no_longer_finite_stops_by_name(member, monkeypatch):
    plain = GameObjective.forward

    def broken(self, x, u, noise):
        return plain(self, x, u, noise) | {"path": self.path / 0 * 0}

    monkeypatch.setattr(GameObjective, "forward", broken)
    with pytest.raises(FloatingPointError, match="generator/path"):
        clone(member).fit(IMAGES, DOMAINS)


@every(IMAGE_MAKERS)
def test_samples_are_saved_while_training(member, tmp_path, fitted):
    from PIL import Image

    watched = clone(member).set_params(samples=tmp_path / "watched").fit(IMAGES, DOMAINS)
    names = sorted(file.name for file in (tmp_path / "watched").iterdir())
    assert names == [f"step-{step:06d}.png" for step in range(1, 5)]
    with Image.open(tmp_path / "watched" / names[-1]) as picture:
        assert picture.size == (64, 16)
    np.testing.assert_array_equal(watched.transform(IMAGES), fitted(member).transform(IMAGES))


@every(IMAGE_MAKERS)
def test_no_latent_is_trusted_and_the_reason_is_said(member, fitted):
    found = unmix.trust(fitted(member), IMAGES, effort="none", **asked(member, domains=DOMAINS))
    assert not found.trusted.any() and found.kind == "none"
    assert type(member).__name__ in found.reasons[0] and "no theorem" in found.reasons[0]


@every(IMAGE_MAKERS)
def test_what_is_no_image_is_refused_before_any_work(member, fitted):
    with pytest.raises(NotFittedError):
        clone(member).sample(2)
    with pytest.raises(TypeError, match="`X` must be images"):
        clone(member).fit(np.zeros((24, 6)), DOMAINS)
    with pytest.raises(TypeError, match="`X` must be images"):
        fitted(member).transform(np.zeros((24, 6)))
    with pytest.raises(ValueError, match="must have images of shape"):
        fitted(member).transform(IMAGES[:, :4])


@every(IMAGE_MAKERS)
@pytest.mark.parametrize(
    ("name", "value"), [("r1", -1.0), ("path", "two"), ("augment", 1.5), ("inversion", 0), ("max_steps", 0)]
)
def test_settings_that_make_no_sense_are_refused(member, name, value):
    with pytest.raises(ValueError, match=f"`{name}` must be"):
        clone(member).set_params(**{name: value}).fit(IMAGES, DOMAINS)


@pytest.mark.parametrize("maker", [GAN, CGGAN])
def test_sixteen_pixels_are_made_by_networks_of_the_default_kind(maker):
    images = np.random.default_rng(1).integers(0, 256, (16, 16, 16, 3), dtype=np.uint8)
    model = maker(6, max_steps=2, batch_size=8, inversion=0.5, random_state=0).fit(images, DOMAINS[:16])
    made = model.sample(3, random_state=0)
    assert made.shape == (3, 16, 16, 3) and made.std() > 0
    assert all(np.isfinite(values).all() for values in model.history_.terms.values())
