"""Diverse dictionaries in other units and by other starts: what is gained, kept, and switched off."""

from functools import partial

import numpy as np
import pytest
import torch
from sklearn.base import clone

import unmix
from unmix import DiverseDictionaryLearning
from unmix.data import sparse_mixing
from unmix.experiments.papers.worlds._draws import sparse
from unmix.metrics import mcc
from unmix.nn import mlp, residual_mlp
from unmix.penalties import dependency_sparsity
from unmix.training import Pace

QUICK = {"n_restarts": 2, "max_iter": 5, "random_state": 0}


@pytest.fixture(scope="module")
def given():
    return sparse_mixing(2000, 4, mixing="tanh", random_state=5)


@pytest.fixture(scope="module")
def read(given):
    """The same world in skewed units."""
    return np.exp(given.x / given.x.std(0))


@pytest.fixture(scope="module")
def model(read):
    return DiverseDictionaryLearning(4, **QUICK).fit(read)


def test_skewed_units_hardly_change_the_codes(given, read, model):
    plain = DiverseDictionaryLearning(4, effort="plain", **QUICK).fit(read)
    assert (model.warped_, plain.warped_) == (True, False)
    assert mcc(given.z, model.transform(read)) > mcc(given.z, plain.transform(read)) + 0.1
    other = np.sign(given.x) * np.abs(given.x) ** 2.5
    cubed = DiverseDictionaryLearning(4, **QUICK).fit(other)
    assert mcc(model.transform(read), cubed.transform(other)) > 0.98


def test_a_warped_model_is_kept_in_a_file(model, read, tmp_path):
    again = unmix.load(model.save(tmp_path / "model"))
    assert np.array_equal(again.transform(read), model.transform(read))
    assert np.array_equal(
        again.inverse_transform(again.transform(read[:9])), model.inverse_transform(model.transform(read[:9]))
    )
    assert again.warped_


def test_reconstructions_are_in_the_units_of_the_table(model, read):
    back = model.inverse_transform(model.transform(read))
    ranks = [
        np.corrcoef(*np.argsort(np.argsort(np.c_[a, b], axis=0), axis=0).T)[0, 1]
        for a, b in zip(read.T, back.T, strict=True)
    ]
    assert min(ranks) > 0.9
    assert (back > 0).mean() > 0.95


def test_a_second_fit_forgets_other_units(read, given):
    model = DiverseDictionaryLearning(4, **QUICK).fit(read)
    assert not model.fit(given.x).warped_
    fresh = DiverseDictionaryLearning(4, **QUICK).fit(given.x)
    assert np.array_equal(model.transform(given.x), fresh.transform(given.x))


@pytest.mark.parametrize("world", [{}, {"profile": "square"}], ids=["tall", "square"])
def test_usual_fits_of_the_tables_are_plain_fits(world):
    data = sparse_mixing(2500, 4, random_state=1, **world)
    codes = [
        DiverseDictionaryLearning(4, effort=e, **QUICK).fit(data.x).transform(data.x)
        for e in ("plain", "usual")
    ]
    assert np.array_equal(*codes)


def test_laws_tell_latents_of_square_data():
    data = sparse_mixing(3000, 4, profile="square", latents="uniform", random_state=2)
    usual, plain = (DiverseDictionaryLearning(4, effort=e, **QUICK).fit(data.x) for e in ("usual", "plain"))
    assert mcc(data.z, usual.transform(data.x)) > 0.97 > mcc(data.z, plain.transform(data.x))


def test_a_thorough_fit_has_more_starts_and_wider_networks(given, tmp_path):
    model = DiverseDictionaryLearning(4, effort="thorough", n_restarts=2, max_iter=2, random_state=0)
    assert len(model.fit(given.x[:300]).restarts_) == 4
    assert model.decoder_.residual[0].out_features == 128
    again = unmix.load(model.save(tmp_path / "model"))
    assert np.array_equal(again.transform(given.x), model.transform(given.x))


def test_a_thorough_fit_leaves_networks_of_other_kinds_alone(given):
    options = {"encoder": mlp, "decoder": mlp, "n_restarts": 1, "max_iter": 1, "random_state": 0}
    model = DiverseDictionaryLearning(4, effort="thorough", **options).fit(given.x[:300])
    assert model.decoder_[0].out_features == 64


def test_an_unknown_effort_is_refused(given):
    with pytest.raises(ValueError, match="`effort` must be one of"):
        DiverseDictionaryLearning(4, effort="most").fit(given.x)


@pytest.mark.parametrize(("decorrelation", "there"), [(None, True), (0.0, False)])
def test_correlations_are_penalised_in_square_data_unless_switched_off(decorrelation, there):
    data = sparse_mixing(300, 3, profile="square", random_state=0)
    model = DiverseDictionaryLearning(3, decorrelation=decorrelation, **QUICK).fit(data.x)
    assert ("correlation" in model.history_.terms) is there


def test_correlations_are_penalised_in_tall_data_where_asked():
    data = sparse_mixing(300, 3, random_state=0)
    plain, other = (DiverseDictionaryLearning(3, decorrelation=w, **QUICK).fit(data.x) for w in (None, 1.0))
    assert "correlation" not in plain.history_.terms and "correlation" in other.history_.terms


@pytest.fixture(scope="module")
def bent():
    """A mixing that swings, so that the linear starts are wrong."""
    return sparse(2500, 1)


@pytest.fixture(scope="module")
def followed(bent):
    return DiverseDictionaryLearning(5, n_restarts=2, max_iter=100, random_state=0).fit(bent.x)


def test_bent_mixings_are_followed(bent, followed):
    plain = clone(followed).set_params(effort="plain").fit(bent.x)
    assert followed.bent_ and not plain.bent_
    before, after = (mcc(bent.z, model.transform(bent.x)) for model in (plain, followed))
    assert after > max(0.95, before + 0.02)


def test_what_follows_bends_is_kept_in_a_file(bent, followed, tmp_path):
    again = unmix.load(followed.save(tmp_path / "model"))
    assert again.bent_ and np.array_equal(again.transform(bent.x), followed.transform(bent.x))


def test_a_second_fit_forgets_bends(bent, given):
    short = {"n_restarts": 1, "max_iter": 100, "random_state": 0}
    straight = given.x @ np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
    model = DiverseDictionaryLearning(4, **short)
    assert model.fit(bent.x).bent_ and not model.fit(straight).bent_
    fresh = DiverseDictionaryLearning(4, **short).fit(straight)
    assert np.array_equal(model.transform(straight), fresh.transform(straight))


def test_a_fit_with_a_bent_start_goes_on_from_its_checkpoint(bent, tmp_path):
    settings = {"n_restarts": 1, "max_iter": 100, "random_state": 0, "checkpoint": tmp_path / "steps"}
    first, again = (DiverseDictionaryLearning(5, **settings).fit(bent.x) for _ in range(2))
    assert {path.name for path in (tmp_path / "steps").iterdir()} >= {"autoencoder", "taught", "round-0"}
    assert first.restarts_ == again.restarts_
    assert np.array_equal(first.transform(bent.x), again.transform(bent.x))


def test_short_fits_and_few_rows_follow_no_bends(bent):
    short = DiverseDictionaryLearning(5, n_restarts=1, max_iter=2, random_state=0).fit(bent.x)
    few = DiverseDictionaryLearning(5, n_restarts=1, max_iter=100, random_state=0).fit(bent.x[:300])
    assert not short.bent_ and not few.bent_


def test_noise_is_no_bend(bent):
    model = DiverseDictionaryLearning(5)
    pace = Pace(200, 500, 2e-3, 0)
    noise = torch.randn(1000, 10, generator=torch.Generator().manual_seed(0))
    x = torch.as_tensor((bent.x - bent.x.mean(0)) / bent.x.std(0), dtype=torch.float32)
    assert not model._follows_bends(noise, pace) and model._follows_bends(x[:1000], pace)
    assert not model._follows_bends(x[:999], pace)


@pytest.mark.parametrize(
    "own",
    [{"weight": 0.01}, {"penalty": dependency_sparsity}, {"decoder": mlp}],
    ids=lambda own: next(iter(own)),
)
def test_what_is_asked_for_by_name_is_not_replaced_where_mixings_bend(bent, own):
    model = DiverseDictionaryLearning(5, n_restarts=1, max_iter=100, random_state=0, **own)
    x = torch.as_tensor((bent.x - bent.x.mean(0)) / bent.x.std(0), dtype=torch.float32)
    pace = Pace(100, 500, 2e-3, 0)
    assert not model._follows_bends(x, pace)
    assert clone(DiverseDictionaryLearning(5))._follows_bends(x, pace)


def test_thorough_fits_of_few_rows_have_one_more_start(bent):
    settings = {"effort": "thorough", "n_restarts": 1, "max_iter": 80, "random_state": 0}
    model = DiverseDictionaryLearning(5, **settings).fit(bent.x[:300])
    assert not model.bent_ and len(model.restarts_) == 3


def test_networks_that_are_given_keep_their_widths_where_mixings_bend(bent):
    small = partial(residual_mlp, hidden=(16,))
    settings = {"n_restarts": 1, "max_iter": 100, "random_state": 0, "encoder": small, "decoder": small}
    model = DiverseDictionaryLearning(5, **settings).fit(bent.x)
    assert model.bent_ and model.decoder_.residual[0].out_features == 16
