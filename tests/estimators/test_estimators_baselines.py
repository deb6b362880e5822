"""The baselines of degenerate mixtures: their objectives against the definitions, and what they recover."""

from functools import partial

import numpy as np
import pytest

import unmix
from unmix.data import degenerate_mixture
from unmix.metrics import mcc
from unmix.nn import mlp

small = partial(mlp, hidden=(32,))


@pytest.fixture(scope="module")
def data():
    return degenerate_mixture(1500, n_latents=3, profile="linear", random_state=0)


def test_vade_ends_in_a_sigmoid_unless_told_otherwise(data):
    settings = {"encoder": small, "decoder": small, "max_iter": 60, "batch_size": 500, "lr": 1e-2}
    bounded, free = (
        unmix.VaDE(3, output=output, random_state=0, **settings).fit(data.x)
        for output in ("sigmoid", "linear")
    )
    decoded = (bounded.inverse_transform(100 * np.eye(3)) - bounded.mean_) / bounded.scale_
    assert (decoded >= 0).all() and (decoded <= 1).all()
    assert bounded.score(data.x) < 0.3 < 0.6 < free.score(data.x)
    assert free.weights_.sum() == pytest.approx(1) and free.means_.shape == (15, 3)
    assert free.variances_.shape == (15, 3) and (free.variances_ > 0).all()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"output": "tanh"}, "`output` must be one of"), ({"n_classes": 0}, "`n_classes` must be")],
)
def test_vade_refuses(wrong, words, data):
    with pytest.raises(ValueError, match=words):
        unmix.VaDE(2, **wrong).fit(data.x)


def test_the_oracle_recovers_latents_and_tightens_its_bound(data):
    settings = {"encoder": small, "decoder": small, "max_iter": 250, "lr": 3e-3, "dual_lr": 3e-3}
    model = unmix.LabelledSparseAutoencoder(3, random_state=0, **settings).fit(data.x, data.labels)
    assert mcc(data.z, model.transform(data.x)) > 0.97 > 0.9 > mcc(data.z, data.x)
    constraint, multiplier = (model.history_.extras[name] for name in ("constraint", "multiplier"))
    assert constraint[-1] < 0.7 * constraint[0] and multiplier[0] == 0 < multiplier[-1]
    assert model.classes_.tolist() == sorted(set(data.labels.tolist()))


def test_masks_tell_the_oracle_the_order_of_latents(data):
    settings = {"encoder": small, "decoder": small, "max_iter": 5, "random_state": 0}
    model = unmix.LabelledSparseAutoencoder(3, masks=data.masks, **settings).fit(data.x, data.labels)
    plain = unmix.LabelledSparseAutoencoder(3, **settings).fit(data.x, data.labels)
    assert model.history_.terms["moments"][0] != plain.history_.terms["moments"][0]


@pytest.mark.parametrize(
    ("settings", "labels", "words"),
    [
        ({}, [0, 1], "`y` must be one number per sample"),
        ({}, ["a"] * 1500, "`y` must hold numbers"),
        ({"masks": np.ones((9, 3))}, None, "`masks` must have shape"),
        ({"epsilon": 0.0}, None, "`epsilon` must be"),
        ({"dual_lr": float("inf")}, None, "`dual_lr` must be"),
    ],
)
def test_the_oracle_refuses(settings, labels, words, data):
    with pytest.raises(ValueError, match=words):
        unmix.LabelledSparseAutoencoder(3, **settings).fit(data.x, data.labels if labels is None else labels)


def test_without_the_bound_the_second_stage_stays_an_arbitrary_affine_map(data):
    linear = partial(mlp, hidden=(30,), activation="identity")
    model = unmix.Autoencoder(3, encoder=linear, decoder=linear, max_iter=60, lr=1e-2, random_state=0).fit(
        data.x
    )
    codes = model.transform(data.x)
    fitted = np.column_stack([data.x, np.ones(len(codes))])
    left = codes - fitted @ np.linalg.lstsq(fitted, codes, rcond=None)[0]
    assert np.abs(left).max() < 1e-3 and model.score(data.x) > 0.99
    assert mcc(data.z, codes) < 0.95
