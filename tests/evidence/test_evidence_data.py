"""`trust` takes data as estimators take them, and says what is wrong with others."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unmix
from families import SmallNetwork
from models import LinearModel
from unmix import tables
from unmix.data import multi_domain, sparse_mixing
from unmix.evidence import _data, verdict_or_reason
from unmix.nn import conv_decoder, conv_encoder
from unmix.structure import Structure

SMALL = {"encoder": SmallNetwork(), "decoder": SmallNetwork(), "max_iter": 2, "random_state": 0}
NAMES = list("abcdef")


@pytest.fixture(scope="module")
def x():
    return sparse_mixing(120, n_latents=3, n_observed=6, random_state=0).x


@pytest.fixture(scope="module")
def model(x):
    return unmix.DiverseDictionaryLearning(2, **SMALL, n_restarts=1).fit(pd.DataFrame(x, columns=NAMES))


def strengths(found):
    return np.concatenate(list(found.strengths.values()))


def test_frames_tensors_and_files_are_judged_as_arrays_are(model, x, tmp_path):
    np.save(tmp_path / "x.npy", x)
    tables.write(tmp_path / "x.parquet", x, NAMES)
    (tmp_path / "shards").mkdir()
    for k, part in enumerate(np.split(x, 3)):
        np.save(tmp_path / "shards" / f"{k}.npy", part)
    expected = strengths(unmix.trust(model, x))
    given = [pd.DataFrame(x, columns=NAMES), torch.tensor(x, requires_grad=True), x.tolist()]
    given += [tmp_path / "x.npy", str(tmp_path / "x.parquet"), tmp_path / "shards"]
    for data in given:
        np.testing.assert_array_equal(strengths(unmix.trust(model, data)), expected)


def test_labels_that_the_model_was_fitted_without_change_nothing(model, x):
    found = unmix.trust(model, x, domains=np.arange(120) % 4)
    np.testing.assert_array_equal(strengths(found), strengths(unmix.trust(model, x)))


def test_columns_in_another_order_are_refused(model, x, tmp_path):
    frame = pd.DataFrame(x, columns=NAMES)[NAMES[::-1]]
    tables.write(tmp_path / "x.parquet", frame.to_numpy(), list(frame.columns))
    for data in (frame, tmp_path / "x.parquet"):
        with pytest.raises(ValueError, match="`X` must have the feature names"):
            unmix.trust(model, data)


def test_a_long_table_is_thinned_with_its_domains_in_memory_as_in_a_file(tmp_path, monkeypatch):
    data = multi_domain(240, 3, n_domains=3, random_state=0)
    model = unmix.CGVAE(3, **SMALL, n_restarts=1).fit(data.x, domains=data.u)
    np.save(tmp_path / "x.npy", data.x)
    monkeypatch.setattr(_data, "MOST", 100)
    for given in (tmp_path / "x.npy", data.x):
        rows, labels = _data.checked(model, given, data.u)
        np.testing.assert_array_equal(rows, data.x[::3])
        np.testing.assert_array_equal(labels, data.u[::3])


def test_a_pipeline_that_scales_is_judged_by_its_last_step_and_no_other_is_trusted():
    rng = np.random.default_rng(0)
    x = 5 + rng.laplace(size=(2000, 3)) @ rng.normal(size=(3, 5)) + 0.02 * rng.normal(size=(2000, 5))
    scaled = make_pipeline(StandardScaler(), unmix.FastICA(3, random_state=0)).fit(x)
    found = unmix.trust(scaled, x, effort="none")
    alone = unmix.trust(scaled[-1], scaled[:-1].transform(x), effort="none")
    np.testing.assert_array_equal(found.probability, alone.probability)
    assert found.method == "FastICA" and found.probability.min() > 0.5
    turned = make_pipeline(PCA(4), unmix.FastICA(3, random_state=0)).fit(x)
    other = unmix.trust(turned, x, effort="none")
    assert not other.trusted.any() and "no theorem speaks of its steps together" in other.reasons[0]


@pytest.mark.parametrize("kind", ["bytes", "floats"])
@pytest.mark.parametrize("method", [unmix.Autoencoder, unmix.BetaVAE])
def test_models_of_images_are_never_trusted_and_never_crash(method, kind):
    images = np.random.default_rng(0).integers(0, 255, size=(40, 8, 8, 1)).astype(np.uint8)
    images = images if kind == "bytes" else (images / 255).astype(np.float32)
    networks = {
        "encoder": partial(conv_encoder, widths=(4,), dense=(8,)),
        "decoder": partial(conv_decoder, widths=(4,), dense=(8,)),
    }
    model = method(2, **networks, max_iter=1, random_state=0).fit(images)
    for effort in ("none", "full"):
        found = unmix.trust(model, images, effort=effort)
        assert found.verdicts == ("no", "no") and "a rotation of its latents fits as well" in str(found)


def test_a_model_of_another_make_has_no_argument(x):
    weights = np.random.default_rng(0).normal(size=(6, 2))
    found = unmix.trust(LinearModel(weights, structure_=Structure(weights != 0)), x, effort="full")
    assert found.verdicts == ("no", "no")


def test_what_can_not_be_judged_is_named(model, x):
    bad = [
        (x[:19], None, "at least 20 rows"),
        (x[0], None, "numeric table"),
        (x.astype(str), None, "numeric table"),
        (x[:, :5], None, "`X` must have the 6 columns of the fit"),
        (np.where(x == x[3, 2], np.nan, x), None, "`X` must be finite"),
        (x, np.arange(3), "`domains` must have shape"),
        ("gone.npy", None, "must be a file that exists"),
    ]
    for data, domains, words in bad:
        with pytest.raises(ValueError, match=words):
            unmix.trust(model, data, domains=domains)
        assert words in verdict_or_reason(model, data, domains=domains)[1]
    with pytest.raises(ValueError, match="`effort` must be one of"):
        unmix.trust(model, x, effort="much")
    with pytest.raises(NotFittedError):
        unmix.trust(unmix.Autoencoder(), x)
    with pytest.raises(TypeError, match="`model` must have `transform`"):
        unmix.trust(object(), x)
    assert verdict_or_reason(model, x)[0].verdicts == unmix.trust(model, x, effort="none").verdicts
