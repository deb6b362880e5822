"""CG-GAN: what the domain changes, what it does not, and its baselines."""

import numpy as np
import pytest
from sklearn.base import clone

from families import IMAGE_MAKERS
from unmix import CGGAN
from unmix.theory import explain

MODEL = IMAGE_MAKERS[1]
RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 100, (48, 8, 8, 3), dtype=np.uint8)
IMAGES[::2, ..., 0] += 150
DOMAINS = np.array(["red", "grey"] * 24)


@pytest.fixture(scope="module")
def fitted():
    return clone(MODEL).fit(IMAGES, domains=DOMAINS)


def test_domains_are_known_by_their_labels(fitted):
    assert fitted.domains_.tolist() == ["grey", "red"] and fitted.n_domains_ == 2
    assert fitted.domain_means_.shape == fitted.domain_scales_.shape == (2, 6)
    codes = fitted.transform(IMAGES)
    np.testing.assert_allclose(fitted.domain_means_[1], codes[::2].mean(0), rtol=1e-4, atol=1e-6)
    both = fitted.sample(6, domains=["red", "grey"] * 3, random_state=0)
    np.testing.assert_array_equal(both[::2], fitted.sample(6, domains="red", random_state=0)[::2])
    np.testing.assert_array_equal(both[1::2], fitted.sample(6, domains="grey", random_state=0)[1::2])
    for bad in ("green", ["red"] * 5):
        with pytest.raises(ValueError, match="`domains` must be one of"):
            fitted.sample(6, domains=bad)


@pytest.mark.parametrize("state", [np.int64(0), np.random.RandomState], ids=["a NumPy integer", "a state"])
def test_domains_that_are_drawn_are_a_function_of_the_state(fitted, state):
    one, other = (fitted.sample(12, random_state=state(0) if callable(state) else state) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_what_it_found_about_domains_can_be_printed(fitted):
    assert str(fitted.findings().domains) == "2 domains; no graph says which latents they guarantee."


def test_the_same_noise_in_another_domain_keeps_the_latents_that_do_not_change(fitted):
    import torch

    noise = torch.randn(5, 6)
    one, other = (fitted.decoder_.code(noise, torch.full((5,), u)) for u in (0, 1))
    kept = ~fitted.domain_specific_
    torch.testing.assert_close(one[:, kept], other[:, kept])
    assert kept.tolist() == [False] * 3 + [True] * 3


def test_the_mask_shrinks_under_its_weight_and_then_names_fewer_latents():
    heavy = (
        clone(MODEL)
        .set_params(mask=50.0, max_steps=60, ema=0.5, inversion=0.05, lr=0.05, batch_size=4, path=0.0)
        .fit(IMAGES, DOMAINS)
    )
    assert (heavy.importance_ < 0.5).any() and heavy.domain_specific_.sum() < 3
    free = clone(MODEL).set_params(masked=False).fit(IMAGES, DOMAINS)
    assert free.importance_.tolist() == [1, 1, 1] and "generator/mask" not in free.history_.terms


def test_the_sparse_term_lowers_what_changing_latents_move():
    def moved(weight):
        model = (
            clone(MODEL)
            .set_params(weight=weight, max_steps=30, inversion=0.05, lr=0.01, path=0.0)
            .fit(IMAGES, DOMAINS)
        )
        return np.mean(model.history_.terms["generator/sparsity"][-5:]) / max(weight, 1e-12)

    assert moved(50.0) < 0.5 * moved(1e-6)


@pytest.mark.parametrize(
    ("settings", "terms"),
    [
        ({"sparse": None}, {"adversarial", "path", "mask"}),
        ({"masked": False}, {"adversarial", "path", "sparsity"}),
        ({"changes": "labels", "sparse": None}, {"adversarial", "path"}),
        ({"sparse": "released"}, {"adversarial", "path", "sparsity", "mask"}),
    ],
)
def test_baselines_are_settings(settings, terms):
    model = clone(MODEL).set_params(**settings).fit(IMAGES, DOMAINS)
    players = [name.split("/") for name in model.history_.terms]
    assert {term for player, term in players if player == "generator"} == terms


def test_its_jacobians_and_codes_explain_it(fitted):
    found = explain(
        jacobians=fitted.jacobian(IMAGES[:20]),
        z=fitted.transform(IMAGES),
        domains=DOMAINS,
    )
    assert "domains" in found.parts and "changes" in found.parts


def test_it_is_explained_beside_its_images(fitted):
    """Pixels are the observed variables, and codes and Jacobians those that the model gives."""
    found = explain(model=fitted, x=IMAGES, domains=DOMAINS)
    units = IMAGES.reshape(len(IMAGES), -1).std(0)[:, None]
    given = {"jacobians": fitted.jacobian(IMAGES) / units, "z": fitted.transform(IMAGES)}
    same = explain(**given, domains=DOMAINS)
    for part in ("changes", "domains", "structure"):
        assert str(found.parts[part]) == str(same.parts[part])
    left = np.square(IMAGES - fitted.inverse_transform(given["z"]).astype(float)).mean(0).sum()
    assert found.parts["reading"].explained == pytest.approx(1 - left / IMAGES.var(0).sum(), rel=1e-3)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_changing", 1),
        ("n_changing", 5),
        ("changes", "all"),
        ("sparse", "yes"),
        ("step", 0.0),
        ("weight", -1),
    ],
)
def test_settings_that_make_no_sense_are_refused(name, value):
    with pytest.raises(ValueError, match=f"`{name}` must be"):
        clone(MODEL).set_params(**{name: value}).fit(IMAGES, DOMAINS)


def test_domains_must_be_given():
    with pytest.raises(ValueError, match="`domains` must be one label per sample"):
        clone(MODEL).fit(IMAGES)
    with pytest.raises(ValueError, match="at least 2 different domains"):
        clone(MODEL).fit(IMAGES, ["one"] * 48)
    assert CGGAN().n_changing is None
