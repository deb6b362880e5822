"""Models of images: each kind trains, keeps its promises about codes, and survives files and stops."""

from functools import partial
from itertools import product

import numpy as np
import pytest
import torch
from sklearn.pipeline import make_pipeline

import unmix
from unmix import QLAE, VQVAE, Autoencoder, BetaTCVAE, BetaVAE, BioAE, FactorVAE, FastICA
from unmix.estimators import _images
from unmix.nn import conv_decoder, conv_encoder, mlp, strided_decoder, strided_encoder
from unmix.penalties import dependency_sparsity

STRIDED = {
    "encoder": partial(strided_encoder, widths=(8, 8), dense=(32,)),
    "decoder": partial(strided_decoder, widths=(8, 8), dense=(32,)),
}
SMALL = STRIDED | {"loss": "bernoulli", "batch_size": 32, "lr": 5e-3, "random_state": 0, "max_iter": 2}
MODELS = {
    Autoencoder: {},
    BetaVAE: {"beta": 0.1},
    FactorVAE: {"critic": partial(mlp, hidden=(16,)), "gamma": 2.0, "kl_weight": 0.1},
    BetaTCVAE: {"beta": 2.0, "kl_weight": 0.1},
    BioAE: {},
    QLAE: {"n_values": 6},
    VQVAE: {"n_values": 8, "code_size": 4},
}
each = pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.__name__)


def model(kind, n_components=3, **changes):
    return kind(n_components, **SMALL | MODELS[kind] | changes)


@pytest.fixture(scope="module")
def squares():
    """A bright square in one of four places, in rooms of four times six colours."""
    images = np.zeros((96, 8, 8, 3), dtype=np.uint8)
    for image, (place, red, green) in zip(images, product(range(4), range(4), range(6)), strict=True):
        image[...] = 85 * red, 51 * green, 0
        image[2 * place : 2 * place + 2, 2 * place : 2 * place + 2] = 255
    return images


@each
def test_reconstructions_of_images_improve(kind, squares):
    network = partial(mlp, hidden=(64,))
    fitted = model(kind, encoder=network, decoder=network, max_iter=40, lr=1e-2).fit(squares)
    terms = {name.rpartition("/")[2]: series for name, series in fitted.history_.terms.items()}
    rec = terms["reconstruction"]
    assert np.mean(rec[-7:]) < 0.8 * np.mean(rec[:3])
    z = fitted.transform(squares)
    assert z.shape == (96, 3) and z.dtype == np.float32
    again = fitted.inverse_transform(z)
    assert again.shape == squares.shape and again.dtype == np.uint8
    assert fitted.score(squares) > 0.3


@each
def test_orthogonal_steps_follow_images_in_fewer_updates(kind):
    rooms = unmix.data.shapes3d(600, size=16, random_state=0).images[:]
    networks = {
        "encoder": partial(strided_encoder, widths=(16, 32), dense=(64,)),
        "decoder": partial(strided_decoder, widths=(32, 16), dense=(64,)),
    }

    def error(**settings):
        fitted = model(kind, 6, max_iter=12, **networks, **settings).fit(rooms)
        terms = {name.rpartition("/")[2]: series for name, series in fitted.history_.terms.items()}
        return np.mean(terms["reconstruction"][-9:])

    assert error(matrix_lr=0.05) < 0.95 * min(error(lr=rate) for rate in (2e-3, 5e-3, 1e-2))


@each
def test_models_of_images_are_saved_and_loaded(kind, squares, tmp_path):
    fitted = model(kind).fit(squares)
    again = unmix.load(fitted.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.transform(squares), fitted.transform(squares))
    codes = fitted.transform(squares[:4])
    np.testing.assert_array_equal(again.inverse_transform(codes), fitted.inverse_transform(codes))
    assert again.jacobian(squares[:2]).shape == (2, 192, 3)


class _Stop(Exception):
    pass


@each
def test_a_fit_that_was_stopped_goes_on_to_the_same_bits(kind, squares, tmp_path, monkeypatch):
    from unmix.training import _loop

    settings = {"max_iter": 5, "penalty": partial(dependency_sparsity, columns=1)}
    whole = model(kind, **settings).fit(squares)

    def stop(keeper):
        saved(keeper)
        if keeper.record.n_steps >= 10:
            raise _Stop

    saved = _loop.Keeper.save
    monkeypatch.setattr(_loop.Keeper, "save", stop)
    monkeypatch.setattr("unmix.training._apart.Run", partial(unmix.training.Run, checkpoint_every=10))
    stopped = model(kind, **settings, checkpoint=tmp_path / "run")
    with pytest.raises(_Stop):
        stopped.fit(squares)
    monkeypatch.setattr(_loop.Keeper, "save", saved)
    torch.manual_seed(99)  # what a resumed fit must not depend on
    np.testing.assert_array_equal(stopped.fit(squares).transform(squares), whole.transform(squares))


@each
def test_any_penalty_on_the_decoder_lowers_itself(kind, squares):
    loose, tight = (
        model(kind, max_iter=8, penalty=dependency_sparsity, penalty_weight=weight).fit(squares)
        for weight in (0.0, 30.0)
    )
    prefix = "vae/" if kind is FactorVAE else ""
    assert tight.history_.terms[f"{prefix}penalty"][-1] >= 0
    sizes = [np.abs(each.jacobian(squares[:40])).sum((1, 2)).mean() for each in (loose, tight)]
    assert sizes[1] < sizes[0]


@pytest.mark.parametrize("kind", [QLAE, VQVAE])
def test_quantised_codes_are_numbers_of_values(kind, squares):
    fitted = model(kind, max_iter=6).fit(squares)
    z = fitted.transform(squares)
    n_values = MODELS[kind]["n_values"]
    assert np.isin(z, np.arange(n_values)).all()
    book = fitted.codebook_
    assert book.shape == ((3, n_values) if kind is QLAE else (n_values, 4))
    values = torch.from_numpy(book).float()
    network, numbers = fitted.decoder_.network, torch.from_numpy(z[:5]).long()
    picked = values[torch.arange(3), numbers] if kind is QLAE else values[numbers].flatten(1)
    with torch.no_grad():
        expected = (network(picked) * 255).round().clamp(0, 255).to(torch.uint8).numpy()
    close = np.abs(fitted.inverse_transform(z[:5]).astype(int) - expected.astype(int))
    assert close.max() <= 1


def test_codes_that_are_missing_make_no_black_images(squares):
    fitted = model(Autoencoder, max_iter=1).fit(squares)
    codes = fitted.transform(squares[:3])
    codes[1, 0] = np.nan
    with pytest.raises(ValueError, match="`X` must be finite, got 1 entries"):
        fitted.inverse_transform(codes)


def test_codes_of_the_bio_autoencoder_are_hardly_negative(squares):
    plain, bio = (model(kind, max_iter=20).fit(squares).transform(squares) for kind in (Autoencoder, BioAE))
    assert np.maximum(-bio, 0).mean() < 0.1 * np.maximum(-plain, 0).mean() + 0.02


def test_published_recipes_are_those_of_the_papers():
    ae = Autoencoder.preset("hsu2023", dataset="shapes3d")
    assert (ae.n_components, ae.lr, ae.batch_size, ae.max_steps, ae.weight_decay) == (
        12,
        1e-3,
        128,
        200_000,
        1e-3,
    )
    assert (ae.encoder, ae.decoder, ae.loss, ae.clip_value) == (conv_encoder, conv_decoder, "bernoulli", 1.0)
    assert BetaVAE.preset("hsu2023", dataset="falcor3d").beta == 10
    assert BetaTCVAE.preset("hsu2023", dataset="mpi3d").beta == 0.3
    assert BioAE.preset("hsu2023", dataset="isaac3d").activity == 0.1
    assert QLAE.preset("hsu2023", dataset="isaac3d", n_components=5).n_components == 5
    vq = VQVAE.preset("hsu2023")
    assert (vq.n_values, vq.code_size, vq.quantisation, vq.commitment) == (512, 64, 1.0, 0.25)
    factor = FactorVAE.preset("locatello2019", dataset="shapes3d")
    assert (factor.gamma, factor.n_components, factor.lr, factor.batch_size) == (40.0, 10, 1e-4, 64)
    assert FactorVAE.preset("locatello2019", dataset="mpi3d").gamma == 10
    with pytest.raises(ValueError, match=r"`name` must be a recipe of QLAE among \['hsu2023'\]"):
        QLAE.preset("locatello2019")
    with pytest.raises(ValueError, match="`dataset` must be None or one of"):
        QLAE.preset("hsu2023", dataset="mnist")


def test_recipes_name_settings_that_estimators_have():
    from unmix.estimators._recipe import _RECIPES

    for kind, name in _RECIPES:
        getattr(unmix, kind).preset(name, dataset="isaac3d", max_steps=3)


def test_an_autoencoder_and_ica_are_a_pipeline_on_images(squares):
    pipeline = make_pipeline(model(Autoencoder, max_iter=15), FastICA(3, random_state=0)).fit(squares)
    z = pipeline.transform(squares)
    assert z.shape == (96, 3)
    again = pipeline.inverse_transform(z)
    direct = pipeline[0].inverse_transform(pipeline[0].transform(squares))
    assert again.dtype == np.uint8 and np.abs(again.astype(int) - direct.astype(int)).max() <= 1


class Lazy:
    """Images that are made when they are asked for."""

    ndim = 4

    def __init__(self, images):
        self.images, self.shape, self.dtype, self.asked = images, images.shape, images.dtype, []

    def __len__(self):
        return len(self.images)

    def __getitem__(self, rows):
        return self.images[rows]

    def rendered(self, rows, device):
        part = torch.from_numpy(self.images[rows]).to(device)
        self.asked.append(len(part))
        return part


@pytest.mark.parametrize("fits", [True, False])
@pytest.mark.parametrize("kind", [Autoencoder, FactorVAE])
def test_rendered_images_give_what_stored_ones_give(kind, fits, squares, monkeypatch):
    monkeypatch.setattr(_images, "_fits", lambda *_: fits)
    lazy = Lazy(squares)
    rendered, stored = model(kind, n_restarts=2).fit(lazy), model(kind, n_restarts=2).fit(squares)
    assert (sum(size == 32 for size in lazy.asked) > 0) is not fits  # batches drawn one by one
    if fits:
        np.testing.assert_array_equal(rendered.transform(lazy), stored.transform(squares))
    assert rendered.score(lazy) == pytest.approx(rendered.score(squares))
    np.testing.assert_allclose(rendered.transform(lazy), rendered.transform(squares), atol=1e-6)


def test_memory_decides_whether_rendered_images_are_held(squares, monkeypatch):
    monkeypatch.setattr(_images.os, "sysconf", lambda name: 1 if "SIZE" in name else 2 * squares.size)
    assert _images._fits(Lazy(squares), torch.device("cpu"))
    monkeypatch.setattr(_images.os, "sysconf", lambda name: 1 if "SIZE" in name else 2 * squares.size - 2)
    assert not _images._fits(Lazy(squares), torch.device("cpu"))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda x: [x[0], x[1][:4]], r"images of one size, got \(4, 8, 3\) and \(8, 8, 3\)"),
        (lambda x: np.array([x[0], x[1][:4]], dtype=object), "images of one size"),
        (lambda x: x.astype(np.float32), r"floats in \[0, 1\], got 0 to 255"),
        (lambda x: x / 255 - 0.5, r"floats in \[0, 1\]"),
        (lambda x: np.where(x > 200, np.nan, x / 255), "must be finite"),
        (lambda x: Lazy(x / 100.0), r"floats in \[0, 1\]"),
    ],
    ids=["sizes", "objects", "unscaled", "negative", "nan", "rendered"],
)
def test_bad_images_are_named_before_training(spoil, message, squares, monkeypatch):
    monkeypatch.setattr(Autoencoder, "_train", lambda *_: pytest.fail("training began"))
    with pytest.raises(ValueError, match=message):
        model(Autoencoder).fit(spoil(squares))


def test_one_channel_where_three_are_meant_is_named(squares):
    fitted = model(Autoencoder).fit(squares)
    with pytest.raises(ValueError, match=r"\(8, 8, 3\).*got \(8, 8, 1\). It takes 3 channels, not 1"):
        fitted.transform(squares[..., :1])


def test_lists_of_images_and_double_precision_are_taken(squares):
    listed = model(Autoencoder).fit(list(squares))
    np.testing.assert_array_equal(listed.transform(list(squares[:5])), listed.transform(squares[:5]))
    floats = model(Autoencoder).fit(squares / 255)
    assert floats.transform(squares / 255).dtype == np.float32
    assert floats.inverse_transform(np.zeros((1, 3))).dtype == np.float32


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": "poisson"}, "`loss` must be one of"),
        ({"max_steps": 0}, "`max_steps` must be"),
        ({"weight_decay": -1.0}, "`weight_decay` must be"),
        ({"penalty_weight": -1.0}, "`penalty_weight` must be"),
        ({"precision": "fp8"}, "`precision` must be"),
        ({"schedule": "steps"}, "`schedule` must be"),
        ({"clip_value": 0.0}, "`clip_value` must be"),
        ({"matrix_lr": -0.1}, "`matrix_lr` must be"),
    ],
)
def test_bad_settings_are_named(change, message, squares):
    with pytest.raises(ValueError, match=message):
        model(Autoencoder, **change).fit(squares)


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        (FactorVAE, {"gamma": -1.0}, "`gamma` must be"),
        (FactorVAE, {"critic_lr": 0.0}, "`critic_lr` must be"),
        (FactorVAE, {"kl_weight": -0.1}, "`kl_weight` must be"),
        (QLAE, {"n_values": 1}, "`n_values` must be an integer of at least 2"),
        (VQVAE, {"code_size": 0}, "`code_size` must be an integer of at least 1"),
        (BioAE, {"activity": -0.1}, "`activity` must be"),
    ],
)
def test_bad_settings_of_one_model_are_named(kind, change, message, squares):
    with pytest.raises(ValueError, match=message):
        model(kind, **change).fit(squares)


def test_pixels_have_a_likelihood_and_tables_have_not():
    x = np.random.default_rng(0).normal(size=(40, 5))
    with pytest.raises(ValueError, match="`loss` must be 'squared' for tables"):
        Autoencoder(2, loss="bernoulli").fit(x)


def test_the_likelihood_is_the_mean_cross_entropy(squares):
    fitted = model(Autoencoder).fit(squares)
    x = torch.from_numpy(squares[:10]).float() / 255
    with torch.no_grad():
        p = fitted.decoder_(fitted.encoder_(x))
    expected = torch.nn.functional.binary_cross_entropy(p, x).item()
    from unmix.objectives import Objective

    member = Objective(fitted.encoder_, fitted.decoder_, 3, loss="bernoulli")
    assert member(x, torch.zeros(10, 3))["reconstruction"].item() == pytest.approx(expected, rel=1e-5)


def test_a_restart_on_images_that_is_no_number_leaves_the_others(squares):
    def spoiled(shape, n):
        network = STRIDED["encoder"](shape, n)
        spoiled.built += 1
        if spoiled.built == 1:
            with torch.no_grad():
                network[-1].weight.fill_(float("nan"))
        return network

    spoiled.built = 0
    with pytest.warns(RuntimeWarning, match="restart 1 of 2: term `reconstruction` must stay finite"):
        fitted = model(Autoencoder, encoder=spoiled, n_restarts=2).fit(squares)
    assert fitted.restarts_[0] == np.inf and np.isfinite(fitted.transform(squares)).all()


def test_half_precision_is_close_to_single(squares):
    single, half = (model(BetaVAE, precision=p).fit(squares) for p in (None, "bf16"))
    assert half.restarts_[0] == pytest.approx(single.restarts_[0], rel=0.05)


def test_weights_that_decay_are_smaller(squares):
    sizes = [
        sum(
            float(p.square().sum())
            for p in model(QLAE, weight_decay=decay).fit(squares).decoder_.parameters()
        )
        for decay in (0.0, 5.0)
    ]
    assert sizes[1] < sizes[0]


@each
def test_models_of_images_are_never_trusted_and_never_crash(kind, squares):
    fitted = model(kind).fit(squares)
    found = unmix.trust(fitted, Lazy(squares), effort="none")
    assert not found.trusted.any() and len(found.reasons) == 3 and kind.__name__ in found.reasons[0]
    assert not unmix.trust(fitted, squares, effort="quick").trusted.any()
