"""Diverse dictionaries in other units and by other starts: what is gained, kept, and switched off."""

import numpy as np
import pytest

import unmix
from unmix import DiverseDictionaryLearning
from unmix.data import sparse_mixing
from unmix.experiments.papers.worlds._draws import sparse
from unmix.metrics import mcc
from unmix.nn import mlp

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


def test_bent_mixings_have_one_more_start_and_none_is_worse_for_it(bent):
    quick = {"n_restarts": 2, "max_iter": 100, "random_state": 0}
    usual, plain = (DiverseDictionaryLearning(5, effort=e, **quick).fit(bent.x) for e in ("usual", "plain"))
    assert usual.restarts_[:2] == plain.restarts_ and len(usual.restarts_) == 3
    assert min(usual.restarts_) < min(plain.restarts_)
    assert mcc(bent.z, usual.transform(bent.x)) > mcc(bent.z, plain.transform(bent.x))


def test_a_fit_with_a_bent_start_goes_on_from_its_checkpoint(bent, tmp_path):
    settings = {"n_restarts": 1, "max_iter": 100, "random_state": 0, "checkpoint": tmp_path / "steps"}
    first, again = (DiverseDictionaryLearning(5, **settings).fit(bent.x) for _ in range(2))
    assert {path.name for path in (tmp_path / "steps" / "bent").iterdir()} >= {
        "autoencoder",
        "taught",
        "round-0",
    }
    assert first.restarts_ == again.restarts_ and len(first.restarts_) == 2
    assert np.array_equal(first.transform(bent.x), again.transform(bent.x))


def test_short_fits_and_few_rows_have_no_starts_by_bends(bent):
    short = DiverseDictionaryLearning(5, n_restarts=1, max_iter=2, random_state=0).fit(bent.x)
    few = DiverseDictionaryLearning(5, n_restarts=1, max_iter=100, random_state=0).fit(bent.x[:300])
    assert len(short.restarts_) == len(few.restarts_) == 1
