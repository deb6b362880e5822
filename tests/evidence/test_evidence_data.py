"""`trust` takes data as estimators take them, and says what is wrong with others."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unmix
from families import IMAGE_MAKERS, SmallNetwork
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
        with pytest.raises(ValueError, match="`X` must have the feature names in the order of the fit"):
            unmix.trust(model, data)


def test_of_columns_that_differ_only_the_others_are_named(x):
    wide = pd.DataFrame(np.tile(x, 20), columns=[f"c{k}" for k in range(120)])
    fitted = unmix.FastICA(2, random_state=0).fit(wide)
    for given, words in [
        (wide.rename(columns={"c7": "new"}), "without 'c7' and with 'new'"),
        (wide.assign(more=1.0), "with 'more'"),
        (wide[["c0", "c1"]], "without 'c2', .* more"),
    ]:
        with pytest.raises(ValueError, match=words) as told:
            unmix.trust(fitted, given)
        assert len(str(told.value)) < 300


def test_numbers_that_are_objects_are_numbers(model, x):
    found = unmix.trust(model, x.astype(object), effort="none")
    np.testing.assert_array_equal(strengths(found), strengths(unmix.trust(model, x, effort="none")))


@pytest.fixture(scope="module")
def moving():
    data = multi_domain(240, 3, n_domains=3, random_state=0)
    return unmix.CGVAE(3, **SMALL, n_restarts=1).fit(data.x, domains=data.u), data


def test_domains_may_be_called_whatever_they_may_be_called_in_a_fit(moving):
    fitted, data = moving
    expected = strengths(unmix.trust(fitted, data.x, domains=data.u, effort="none"))
    names = [f"site {u}" for u in data.u]
    mixed = [u or "0" for u in data.u.tolist()]
    for given in (
        names,
        pd.Series(names, dtype="category"),
        pd.Categorical(names),
        mixed,
        torch.tensor(data.u),
    ):
        found = unmix.trust(fitted, data.x, domains=given, effort="none")
        np.testing.assert_array_equal(strengths(found), expected)


def test_domains_that_can_not_be_labels_are_named(moving):
    fitted, data = moving
    gaps = [None if k == 7 else "abc"[u] for k, u in enumerate(data.u)]
    for given, words in [
        (gaps, "`domains` must have no missing values .*first in row 7"),
        (3, "`domains` must have shape"),
        (data.u[:-1], "`domains` must have shape"),
    ]:
        with pytest.raises(ValueError, match=words):
            unmix.trust(fitted, data.x, domains=given)


def test_labels_of_a_long_table_must_be_as_many_as_its_rows(moving, monkeypatch):
    fitted, data = moving
    monkeypatch.setattr(_data, "MOST", 100)
    with pytest.raises(ValueError, match="`domains` must have shape"):
        _data.checked(fitted, data.x, data.u[:-1])


def test_components_must_be_numbers_as_in_a_fit(x):
    labels = np.arange(len(x)) % 2
    fitted = unmix.LabelledSparseAutoencoder(2, **SMALL).fit(x, labels)
    for effort in ("none", "quick"):
        with pytest.raises(ValueError, match="`domains` must hold numbers"):
            unmix.trust(fitted, x, domains=["ab"[u] for u in labels], effort=effort)


def test_a_model_without_an_argument_is_judged_without_its_domains():
    images = np.random.default_rng(0).integers(0, 255, size=(24, 8, 8, 3)).astype(np.uint8)
    fitted = clone(IMAGE_MAKERS[1]).fit(images, np.arange(24) % 3)
    assert fitted.needs_domains and set(unmix.trust(fitted, images).verdicts) == {"no"}


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
        (x.astype(complex), None, "got complex128"),
        (None, None, "numeric table"),
        (csr_array(x), None, "got csr_array"),
        (np.tile(x[0], (50, 1)), None, "`X` must vary"),
        (x[:, :5], None, "`X` must have the 6 columns of the fit"),
        (np.where(x == x[3, 2], np.nan, x), None, "`X` must be finite"),
        (x, np.arange(3), "`domains` must have shape"),
        (x, 3, "`domains` must have shape"),
        ("gone.npy", None, "must be a file that exists"),
    ]
    for data, domains, words in bad:
        with pytest.raises(ValueError, match=words):
            unmix.trust(model, data, domains=domains)
        assert words in verdict_or_reason(model, data, domains=domains)[1]
    with pytest.raises(ValueError, match="`effort` must be one of"):
        unmix.trust(model, x, effort="much")
    for seed in (-1, "a", 0.5):
        with pytest.raises(ValueError, match="`random_state` must be"):
            unmix.trust(model, x, random_state=seed)
    with pytest.raises(NotFittedError):
        unmix.trust(unmix.Autoencoder(), x)
    with pytest.raises(TypeError, match="`model` must have `transform`"):
        unmix.trust(object(), x)
    assert verdict_or_reason(model, x)[0].verdicts == unmix.trust(model, x, effort="none").verdicts
