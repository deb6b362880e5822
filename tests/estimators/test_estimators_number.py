"""`n_components="auto"`: found in `fit`, remembered beside the setting, and refused where nothing stops."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unmix
from families import ESTIMATORS, TRANSFORMERS, SmallNetwork, label, quick
from unmix.estimators import _number
from unmix.evidence._case import fit_anew
from unmix.solvers.number import Number

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
MEMBERS = [*(quick(member) for member in ESTIMATORS), *TRANSFORMERS]
GROUPS = np.arange(150) % 3


@pytest.fixture(scope="module")
def x():
    rng = np.random.default_rng(0)
    z = rng.laplace(size=(150, 2))
    return z @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(150, 5))


@pytest.fixture
def two(monkeypatch):
    """Let the search find two latents at once; it has tests of its own."""
    looked = []

    def find(values):
        looked.append(values.shape)
        return Number(2, 2, 4, 1.0, 0.1, 0.0, (), 150, 30)

    monkeypatch.setattr(_number, "find_number", find)
    return looked


def automatic(member):
    fresh = clone(member).set_params(n_components="auto")
    names = fresh.get_params()
    free = {"slots": None, "masks": None} | ({"random_state": 0} if "random_state" in names else {})
    return fresh.set_params(**{name: value for name, value in free.items() if name in names})


@pytest.mark.parametrize("member", MEMBERS, ids=label)
def test_every_estimator_finds_its_number_and_keeps_the_setting(member, x, two, tmp_path):
    model = automatic(member)
    model.fit(x, GROUPS)
    assert two == [x.shape]
    assert model.n_components == "auto" and clone(model).n_components == "auto"
    assert model.n_components_ == 2 and model.transform(x).shape == (150, 2)
    assert len(model.get_feature_names_out()) == 2
    again = unmix.load(model.save(tmp_path / "model"), trusted=[SmallNetwork()])
    assert again.n_components == "auto" and again.n_components_ == 2
    np.testing.assert_array_equal(again.transform(x), model.transform(x))


@pytest.mark.parametrize("member", MEMBERS, ids=label)
def test_the_fit_is_the_one_with_the_number_given(member, x, two):
    found = automatic(member).fit(x, GROUPS)
    given = automatic(member).set_params(n_components=2).fit(x, GROUPS)
    assert given.n_components_ == 2
    np.testing.assert_array_equal(found.transform(x), given.transform(x))


def test_a_refit_keeps_the_number(x, two):
    model = unmix.FastICA("auto", random_state=0).fit(x)
    assert fit_anew(model, x[:100], None, 1).n_components == 2
    assert len(two) == 1


def test_it_works_in_a_pipeline_and_really_looks(x):
    pipe = make_pipeline(StandardScaler(), unmix.FastICA("auto", random_state=0)).fit(x)
    assert pipe[-1].n_components_ == 2


def test_a_file_is_read(x, two, tmp_path):
    np.save(tmp_path / "x.npy", x)
    model = unmix.FastICA("auto", random_state=0).fit(tmp_path / "x.npy")
    assert two == [x.shape] and model.n_components_ == 2


def test_where_nothing_is_shared_the_way_out_is_named():
    noise = np.random.default_rng(0).normal(size=(200, 5))
    with pytest.raises(ValueError, match=r"must be an integer for this table, got 'auto'\. No la"):
        unmix.FastICA("auto").fit(noise)


def test_where_nothing_stops_the_way_out_is_named(x, monkeypatch):
    endless = Number(None, 4, 4, 0.2, 0.1, 0.2, (), 150, 30)
    monkeypatch.setattr(_number, "find_number", lambda values: endless)
    with pytest.raises(ValueError, match=r"Nothing stops: of 4 latents 4 pay.*Ask for as many"):
        unmix.Autoencoder("auto").fit(x)


@pytest.mark.parametrize("given", ["Auto", "many", "2"])
def test_no_other_word_is_taken(given, x):
    for model in (unmix.FastICA(given), unmix.Autoencoder(given), unmix.SparseBasis(given)):
        with pytest.raises(ValueError, match="`n_components` must be an integer of at least 1"):
            model.fit(x)


def test_images_and_constant_columns_are_refused(x):
    with pytest.raises(ValueError, match="must be an integer for images"):
        unmix.BetaVAE("auto").fit(np.zeros((20, 4, 4, 1), dtype=np.uint8))
    with pytest.raises(ValueError, match="constant columns"):
        unmix.BetaVAE("auto").fit(np.column_stack([x, np.ones(150)]))
