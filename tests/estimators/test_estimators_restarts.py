import numpy as np
import pytest

from families import SmallNetwork
from unmix import Autoencoder, BetaVAE, DiverseDictionaryLearning
from unmix.data import sparse_mixing
from unmix.metrics import mcc

SMALL = {"max_iter": 3, "batch_size": 100, "random_state": 0}
TINY = {**SMALL, "encoder": SmallNetwork(), "decoder": SmallNetwork()}


def test_every_restart_ends_with_a_finite_objective():
    data = sparse_mixing(400, 3, random_state=0)
    model = DiverseDictionaryLearning(3, n_restarts=4, **TINY).fit(data.x)
    assert len(model.restarts_) == 4 and all(np.isfinite(model.restarts_))


@pytest.mark.slow
def test_restarts_never_look_at_the_truth_and_recover_it():
    data = sparse_mixing(2000, 5, 15, nonlinearity=0.3, random_state=1)
    model = DiverseDictionaryLearning(5, n_restarts=2, max_iter=40, random_state=0).fit(data.x)
    assert mcc(data.z, model.transform(data.x)) > 0.95 > mcc(data.z, data.x)


def test_square_codes_stay_uncorrelated_and_do_not_copy_x():
    data = sparse_mixing(2000, 4, profile="square", random_state=0)
    z_hat = DiverseDictionaryLearning(4, n_restarts=2, max_iter=30, random_state=0).fit_transform(data.x)
    assert np.abs(np.corrcoef(data.x.T) - np.eye(4)).max() > 0.3
    assert np.abs(np.corrcoef(z_hat.T) - np.eye(4)).max() < 0.05


@pytest.mark.parametrize("estimator", [Autoencoder, BetaVAE, DiverseDictionaryLearning])
def test_the_layout_in_memory_does_not_change_a_bit(estimator):
    X = np.random.default_rng(0).normal(size=(120, 4))
    one = estimator(2, **TINY).fit(X).transform(X)
    other = estimator(2, **TINY).fit(np.asfortranarray(X)).transform(X)
    assert np.array_equal(one, other)


def test_checkpoints_change_nothing_and_belong_to_one_run(tmp_path):
    X = np.random.default_rng(0).normal(size=(120, 4))
    plain = DiverseDictionaryLearning(2, **TINY).fit(X).transform(X)
    folder = tmp_path / "run"
    again = DiverseDictionaryLearning(2, checkpoint=folder, **TINY)
    assert np.array_equal(again.fit(X).transform(X), plain)
    assert np.array_equal(again.fit(X).transform(X), plain)  # from the finished checkpoints
    other = DiverseDictionaryLearning(2, checkpoint=folder, **{**TINY, "random_state": 1})
    with pytest.raises(ValueError, match="belongs to one with another random_state"):
        other.fit(X)
    from unmix.penalties import latent_sparsity

    with pytest.raises(ValueError, match="belongs to one with another penalty"):
        DiverseDictionaryLearning(2, checkpoint=folder, penalty=latent_sparsity, **TINY).fit(X)


def test_a_run_without_a_seed_keeps_its_own_in_the_checkpoint(tmp_path):
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = Autoencoder(2, max_iter=2, checkpoint=tmp_path / "run")
    assert np.array_equal(model.fit(X).transform(X), model.fit(X).transform(X))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((20, 3)), "constant columns, got 0, 1, 2"),
        (np.random.default_rng(0).normal(size=(20, 1)) @ np.ones((1, 3)), "rank of X, which is 1, got 2"),
        (np.random.default_rng(0).normal(size=(2, 3)), "more samples than n_components=2"),
        (np.random.default_rng(0).normal(size=(20, 1)), "at most n_features=1, got 2"),
        (np.full((20, 3), np.nan), "NaN"),
    ],
)
def test_bad_data_are_named_before_any_work(X, message):
    with pytest.raises(ValueError, match=message):
        DiverseDictionaryLearning(2, **SMALL).fit(X)


def test_data_in_tiny_units_are_not_constant():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = Autoencoder(2, **SMALL).fit(X * 1e-14)
    assert np.isfinite(model.transform(X * 1e-14)).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "`n_components` must be an integer of at least 1, got 0"),
        ({"max_iter": 1.5}, "`max_iter` must be an integer"),
        ({"lr": -1.0}, "`lr` must be a finite number above 0"),
        ({"beta": float("inf")}, "`beta` must be a finite number above 0"),
        ({"weight": -0.1}, "`weight` must be a number of at least 0"),
        ({"decorrelation": -0.1}, "`decorrelation` must be None or a number of at least 0, got -0.1"),
        ({"decorrelation": "no"}, "`decorrelation` must be None or a number of at least 0, got 'no'"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        DiverseDictionaryLearning(**{**SMALL, **settings}).fit(np.random.default_rng(0).normal(size=(20, 3)))
