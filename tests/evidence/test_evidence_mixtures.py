"""Evidence of rest: what protects a latent is that it rests while others vary, and nothing else will do."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import unmix
from unmix.data import degenerate_mixture
from unmix.evidence import Case, argument_for
from unmix.evidence._mixtures import links
from unmix.evidence._mixtures_rest import count, moved, rest_values, searched_noise, turned_noise

# of fits to data that have no rest at all
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
EFFORTS = ("none", "quick", "full")


class Known(BaseEstimator):
    """A linear code that is known, as a fitted model would have it."""

    def __init__(self, rows=None):
        self.rows = rows

    def fit(self, X):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X @ self.rows.T

    def inverse_transform(self, codes):
        return codes @ np.linalg.pinv(self.rows).T


def resting(n_samples=500, n=3, *, seed=0, share=0.5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_samples, n)) * (rng.random((n_samples, n)) < share), rng


def strengths(rows, x, effort="none"):
    case = Case(Known(rows).fit(x), x, effort=effort, random_state=0)
    return {each.name: each.strength for each in links(case)}


def fitted(x, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return unmix.SparseBasis(random_state=0, **settings).fit(x)


def spherical(n_samples, n, kind, rng):
    gauss = rng.normal(size=(n_samples, n))
    scales = {
        "normal": 1.0,
        "heavy tails": 1 / np.sqrt(rng.chisquare(3, (n_samples, 1)) / 3),
        "two spreads": np.where(rng.random((n_samples, 1)) < 0.5, 0.05, 1.0),
        "ball": rng.random((n_samples, 1)) ** (1 / n) / np.linalg.norm(gauss, axis=1, keepdims=True),
    }
    return gauss * scales[kind]


def test_relabelling_latents_permutes_what_is_found():
    z, rng = resting(n=4)
    rows, order = rng.normal(size=(4, 4)), [2, 0, 3, 1]
    x = z @ np.linalg.inv(rows).T
    before, after = strengths(rows, x), strengths(rows[order], x)
    for name in ("rests while others vary", "sharpness of rest", "one value of rest"):
        assert after[name] == pytest.approx(before[name][order], abs=1e-9)


def test_units_of_x_and_of_codes_change_nothing():
    z, rng = resting()
    rows = rng.normal(size=(3, 3))
    x, units = z @ np.linalg.inv(rows).T, np.array([1e-3, 1.0, 1e4])
    plain = strengths(rows, x)
    for other in (strengths(rows / units, x * units), strengths(rows * units[:, None], x)):
        for name, value in plain.items():
            assert other[name] == pytest.approx(value, abs=1e-6, nan_ok=True), name


def test_copies_of_rows_add_nothing():
    z, rng = resting(300)
    z = z[(z != 0).any(1)]  # rows in which all rest are copies of each other already
    rows = rng.normal(size=(3, 3))
    x = z @ np.linalg.inv(rows).T
    once, twice = strengths(rows, x), strengths(rows, np.concatenate([x, x]))
    for name, value in once.items():
        assert np.array_equal(twice[name], value, equal_nan=True), name


def test_more_samples_at_rest_while_another_varies_never_lower_the_evidence():
    z, _ = resting()
    more = np.array([[0.0, 1.5, -1.5]] * 50) * np.linspace(0.8, 1.2, 50)[:, None]
    before, after = count(z), count(np.concatenate([z, more]))
    assert (after.z[0] > before.z[0]).all()


def test_only_the_pair_that_rests_together_is_unprotected():
    z, rng = resting(1000)
    z[:, 1] = rng.normal(size=1000) * (z[:, 0] != 0)
    assert np.argwhere(count(z).z < 3).tolist() == [[0, 1], [1, 0]]


def test_a_mixture_of_two_latents_has_no_rest_while_a_part_varies():
    z, _ = resting(1000)
    turned = z @ np.array([[1.0, 0.6, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    weakest = count(turned).z.min(1)
    assert weakest[1] < 3 < min(weakest[0], weakest[2])


def test_a_code_that_squeezes_values_together_does_not_make_them_rest():
    class Squeezing:
        def inverse_transform(self, codes):
            return np.cbrt(codes)

    z = np.random.default_rng(0).normal(size=(2000, 2))
    squeezed = z**3
    assert count(squeezed).z.min() > 5  # as the code has it
    undone = moved(Squeezing(), squeezed, rest_values(squeezed))
    assert undone == pytest.approx(z / z.std(0), abs=0.1)
    assert count(undone).z.max() < 3


@pytest.mark.parametrize("kind", ["normal", "two spreads"])
def test_a_search_through_noise_finds_no_rest_worth_the_name(kind):
    rng = np.random.default_rng(1)
    assert searched_noise(spherical(400, 3, kind, rng), 0) < 3


@quiet
@pytest.mark.parametrize(
    ("kind", "effort"),
    [("normal", "none"), ("heavy tails", "quick"), ("two spreads", "full"), ("ball", "none")],
)
def test_where_no_direction_differs_from_another_nothing_is_trusted(kind, effort):
    rng = np.random.default_rng(2)
    x = spherical(400, 4, kind, rng) @ rng.normal(size=(4, 12))
    x += 0.05 * x.std(0) * rng.normal(size=x.shape)
    found = unmix.trust(fitted(x, n_components=4), x, effort=effort, random_state=0)
    assert set(found.verdicts) <= ({"no"} if effort == "full" else {"no", "not checked"})


@quiet
def test_latents_that_rest_two_by_two_are_not_trusted():
    rng = np.random.default_rng(3)
    z = rng.normal(size=(500, 4)) * np.repeat(rng.random((500, 2)) < 0.5, 2, axis=1)
    x = z @ rng.normal(size=(4, 4))
    found = unmix.trust(fitted(x), x, random_state=0)
    assert not found.trusted.any() and "varies" in found.evidence[0].words[0]
    assert (found.evidence[0].strength < 0).all()  # whatever else is measured


def test_latents_that_rest_each_on_its_own_are_trusted_once_checked():
    z, rng = resting()
    x = z @ rng.normal(size=(3, 5)) + 0.01 * rng.normal(size=(500, 5))
    model = fitted(x, n_components=3)
    assert "no" not in unmix.trust(model, x, effort="none").verdicts
    assert unmix.trust(model, x, effort="quick", random_state=0).trusted.all()


@quiet
def test_with_one_latent_too_few_no_mixture_of_two_is_trusted():
    z, rng = resting(500, n=4)
    x = z @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
    model = fitted(x, n_components=3)
    right = np.abs(np.corrcoef(model.transform(x).T, z.T)[:3, 3:]).max(1) > 0.99
    trusted = unmix.trust(model, x, random_state=0).trusted
    assert not right.all() and not (trusted & ~right).any()


@quiet
def test_sums_of_binary_latents_rest_often_and_are_not_trusted():
    rng = np.random.default_rng(5)
    z = rng.integers(2, size=(400, 3)).astype(float)
    turned = z @ np.array([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # as sparse as z
    x = turned @ rng.normal(size=(3, 3))
    assert not unmix.trust(fitted(x), x, random_state=0).trusted.any()
    assert (strengths(np.eye(3), turned + 1e-3 * rng.normal(size=z.shape))["one value of rest"] < -1).all()


def test_sums_that_rest_while_others_vary_give_way_to_sparser_coordinates():
    rng = np.random.default_rng(6)
    z = rng.normal(size=(400, 3)) * np.eye(3)[rng.integers(3, size=400)]
    sums = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    wrong, right = strengths(sums, z), strengths(np.eye(3), z)
    assert (wrong["rests while others vary"] > 1).all() and (wrong["no sparser coordinates"] < 0).all()
    assert (right["no sparser coordinates"] >= 1).all()


def test_every_case_yields_the_same_names():
    z, _ = resting(100)
    names = {tuple(strengths(np.eye(3), z, effort)) for effort in EFFORTS}
    assert len(names) == 1 and len(*names) == 8


def test_one_latent_alone_needs_rest_only():
    z, rng = resting(400, 1)
    z += 1e-3 * rng.normal(size=z.shape)  # rows that repeat others would not count
    assert strengths(np.eye(1), z)["rests while others vary"] > 1
    assert strengths(np.eye(1), rng.normal(size=(400, 1)))["rests while others vary"] < 0


def test_a_mixture_of_full_gaussians_has_no_argument_and_says_why():
    x = np.random.default_rng(0).normal(size=(60, 2))
    found = unmix.trust(unmix.VaDE(2, max_iter=1, random_state=0).fit(x), x)
    assert argument_for(unmix.VaDE()).kind == "none" and not found.trusted.any()
    assert "affine map" in found.reasons[0]


@quiet
@pytest.mark.slow
@pytest.mark.parametrize("rests", [True, False])
def test_networks_are_trusted_where_latents_rest_and_only_there(rests):
    data = degenerate_mixture(800, 3, n_layers=3, components="masked" if rests else "full", random_state=4)
    found = unmix.trust(unmix.PDGMM(3, random_state=0).fit(data.x), data.x, random_state=0)
    assert bool(found) is rests and found.trusted.any() == rests


@quiet
@pytest.mark.slow
@pytest.mark.parametrize("shuffled", [True, False])
def test_labels_take_no_part_in_the_verdict_of_an_oracle(shuffled):
    data = degenerate_mixture(800, 3, mask_size=1, n_layers=2, random_state=0)
    labels = np.random.default_rng(0).permutation(data.labels) if shuffled else data.labels
    model = unmix.LabelledSparseAutoencoder(3, random_state=0).fit(data.x, labels)
    found = unmix.trust(model, data.x, domains=labels, effort="none")
    correlation = np.abs(np.corrcoef(data.z.T, model.transform(data.x).T)[:3, 3:]).max(0)
    assert not np.any(
        [v == "not checked" and r < 0.8 for v, r in zip(found.verdicts, correlation, strict=True)]
    )


@pytest.mark.parametrize("kind", ["normal", "heavy tails"])
def test_random_directions_stand_in_for_a_search_where_no_direction_differs(kind):
    assert turned_noise(spherical(400, 3, kind, np.random.default_rng(0)), 0) < 3


def test_a_verdict_on_a_sparse_basis_searches_from_fewer_starts():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 3)) * (rng.random((300, 3)) < 0.5)
    case = Case(unmix.SparseBasis(random_state=0).fit(z @ rng.normal(size=(3, 3))), z, effort="quick")
    assert case.first.n_starts == 6
    assert Case(case.model.set_params(n_starts=4), z, effort="quick").first.n_starts == 4
