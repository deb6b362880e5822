"""The evidence for sparse mixing: laws, worlds where nothing is identifiable, and good ones."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from sklearn.base import BaseEstimator

from unmix.estimators import DiverseDictionaryLearning
from unmix.evidence import ARGUMENTS, EFFORTS, Case, trust
from unmix.evidence._sparse import dependence, independence, links, number_of_latents, sparsity
from unmix.experiments.papers.trust._worlds_sparse import FAMILIES, mixed
from unmix.experiments.papers.worlds._draws import sparse
from unmix.nn import residual_mlp
from unmix.structure import diverse

N_ROWS, D, N = 300, 16, 4
SPARSITY, INDEPENDENCE = "zeros beyond generic ones", "independence"


class Linear(BaseEstimator):
    """A code x = A z with loadings that are known, as a fitted model shows it; refits are a little off."""

    def __init__(
        self, loadings, n_components=N, *, max_iter=2, batch_size=64, lr=1e-2, device="cpu", random_state=0
    ):
        self.loadings, self.n_components, self.random_state = loadings, n_components, random_state
        self.max_iter, self.batch_size, self.lr, self.device = max_iter, batch_size, lr, device

    def fit(self, x):
        rng = np.random.default_rng(self.random_state)
        more = rng.normal(size=(len(self.loadings), max(self.n_components - self.loadings.shape[1], 0)))
        self.weights_ = np.hstack([self.loadings, more])[:, : self.n_components]
        return self

    def transform(self, x):
        return x @ np.linalg.pinv(self.weights_).T

    def inverse_transform(self, z):
        return z @ self.weights_.T

    def jacobian(self, x):
        return np.repeat(self.weights_[None], len(x), axis=0)


def loadings(seed=0, *, dense=False):
    rng = np.random.default_rng(seed)
    support = np.ones((D, N)) if dense else diverse(D, N, n_parents=2, random_state=seed).support
    return support * rng.normal(size=(D, N))


def data(weights, seed=1):
    return np.random.default_rng(seed).laplace(size=(N_ROWS, N)) @ weights.T


def strengths(model, x, effort="none"):
    return {each.name: each.strength for each in links(Case(model.fit(x), x, effort=effort, random_state=0))}


@pytest.fixture(scope="module")
def good():
    weights = loadings()
    return weights, data(weights)


@pytest.fixture(scope="module")
def full(good):
    weights, x = good
    return strengths(Linear(weights), x, "full")


def test_zeros_and_independence_speak_for_sparse_coordinates(full):
    assert full[SPARSITY].min() > 0.5 and full[INDEPENDENCE].min() > 0


def test_copies_of_dense_data_have_neither():
    zeros, apart = [], []
    for seed in range(10):
        dense = loadings(seed, dense=True)
        found = strengths(Linear(dense @ np.linalg.inv(dense[:N])), data(dense))
        zeros.append(found[SPARSITY]), apart.append(found[INDEPENDENCE])
    assert np.mean(zeros) < -0.2 and np.max(apart) < 0
    assert np.mean(np.add(zeros, apart) > 0) < 0.05  # zeros by luck, and dependent


def test_a_rotation_of_good_latents_has_neither(good):
    weights, x = good
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(N, N)))[0]
    found = strengths(Linear(weights @ turn), x)
    assert found[SPARSITY].max() < 0


def test_relabelling_permutes_every_link(good, full):
    weights, x = good
    order = np.array([2, 0, 3, 1])
    other = strengths(Linear(weights[:, order] * [1, -1, 1, -1]), x, "full")
    for name, values in full.items():
        if name != "survives one latent more":  # the stand-in's further latent is not the same one
            np.testing.assert_allclose(other[name], values[order], atol=1e-6, err_msg=name)


def test_units_of_x_and_of_codes_change_nothing(good, full):
    weights, x = good
    rng = np.random.default_rng(4)
    columns, codes = rng.uniform(0.01, 100, D), rng.uniform(0.01, 100, N)
    here = strengths(Linear(weights), x)
    there = strengths(Linear(columns[:, None] * weights / codes), x * columns)
    for name in (SPARSITY, INDEPENDENCE):
        np.testing.assert_allclose(there[name], here[name], atol=1e-6, err_msg=name)


def test_copies_of_rows_change_nothing(good, full):
    weights, x = good
    other = strengths(Linear(weights), np.vstack([x, x[::-1]]), "full")
    for name, values in full.items():
        np.testing.assert_allclose(other[name], values, atol=1e-9, err_msg=name)


def test_copies_of_columns_and_constant_ones_add_no_zeros(good):
    weights, x = good
    wide = np.vstack([weights, 3 * weights, np.ones((1, N))])
    columns = np.hstack([x, 3 * x, np.full((len(x), 1), 2.0)])
    model = Linear(wide)
    model.transform = lambda rows: rows[:, :D] @ np.linalg.pinv(weights).T
    found = sparsity(Case(model.fit(columns), columns))
    np.testing.assert_allclose(found.strength, sparsity(Case(Linear(weights).fit(x), x)).strength, atol=1e-6)


def test_a_link_has_one_value_at_every_effort_that_takes_it(good, full):
    weights, x = good
    seen = {effort: strengths(Linear(weights), x, effort) for effort in EFFORTS}
    taken = [sum(not np.isnan(v).any() for v in seen[effort].values()) for effort in EFFORTS]
    assert taken == [3, 6, 8]
    for values in seen.values():
        assert values.keys() == full.keys()
        for name, strength in values.items():
            np.testing.assert_array_equal(np.where(np.isnan(strength), full[name], strength), full[name])


def test_trust_asks_the_argument_of_the_class_and_answers_the_same_for_the_same_seed(good, monkeypatch):
    weights, x = good
    assert trust(Linear(weights).fit(x), x, verbose=False).kind == "none"
    monkeypatch.setitem(ARGUMENTS, "Linear", ARGUMENTS["DiverseDictionaryLearning"])
    first, again, other = (trust(Linear(weights).fit(x), x, random_state=s, verbose=False) for s in (1, 1, 2))
    assert first.kind == "sparse" and first.probability.tolist() == again.probability.tolist()
    halves = [each.evidence[5].measured.tolist() for each in (first, again, other)]  # of rows, by the seed
    assert halves[0] == halves[1] != halves[2]


@given(st.integers(0, 1000))
def test_dependence_knows_no_monotone_function_and_sees_squares(seed):
    rng = np.random.default_rng(seed)
    codes = rng.normal(size=(400, 3))
    codes[:, 2] = np.abs(codes[:, 0]) * rng.choice([-1, 1], 400)
    found = dependence(codes)
    assert dependence(np.exp(codes) * [1, 5, 2] - 3) == approx(found)
    assert found[0] == approx(found[2]) and found[0] > 0.9 > 0.3 > found[1]


def test_independence_of_a_square_model_is_no_evidence_in_favour():
    x = np.random.default_rng(0).normal(size=(N_ROWS, N))
    found = independence(Case(Linear(np.eye(N)).fit(x), x))
    assert found.strength.max() <= 0


@pytest.mark.parametrize(("n", "sign"), [(2, 1), (1, -1)])
def test_a_latent_too_few_shows(n, sign):
    """Two latents in twelve variables: a plain autoencoder with one more gains only where one is missing."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (600, 2)) @ rng.normal(size=(2, 8))
    model = Linear(rng.normal(size=(8, n)), n, max_iter=80)
    found = number_of_latents(Case(model.fit(x), x, effort="quick", random_state=0))
    assert (sign * found.strength > 0).all() and "one latent more leaves" in found.words[0]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_families_draw_the_same_world_from_a_seed_and_others_from_others(family):
    first, again, other = (family.draw(60, seed) for seed in (1, 1, 2))
    assert (first.x == again.x).all() and not np.array_equal(first.x, other.x) and np.isfinite(first.x).all()
    model = family.model(first, 5)
    assert model.random_state == 5 and not hasattr(model, "structure_")


def test_at_least_five_sparse_families_hold_nothing_to_find():
    assert sum(family.null for family in FAMILIES) >= 5


@pytest.mark.slow
def test_a_good_world_is_believed_more_than_a_null_one():
    null = next(family for family in FAMILIES if family.name == "null: dense bent")
    best = []
    for draw in (mixed, null.draw):
        world = draw(1500, 3)
        model = DiverseDictionaryLearning(world.z.shape[1], device="cpu", random_state=0).fit(world.x)
        best.append(trust(model, world.x, effort="quick", verbose=False).probability)
    assert best[0].min() > best[1].max()


@pytest.mark.parametrize(
    ("n_rows", "n_observed", "skewed", "max_iter", "expected"),
    [
        (2000, 6, False, 100, ("plain", 100)),  # as if small batches were not known
        (1000, 6, False, 100, ("usual", 100)),  # the fit had small ones itself
        (2000, 6, False, 20, ("usual", 20)),  # too short for small ones
        (2000, 3, False, 220, ("usual", 110)),  # half of the passes, each of which costs as much
        (2000, 8, True, 220, ("usual", 110)),
    ],
)
def test_a_refit_does_what_the_fit_did_at_half_its_cost(n_rows, n_observed, skewed, max_iter, expected):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n_rows, 3)) @ rng.normal(size=(3, n_observed))
    x = np.exp(x / x.std(0)) if skewed else x
    tiny = partial(residual_mlp, hidden=(4,))
    model = DiverseDictionaryLearning(
        3, max_iter=max_iter, n_restarts=1, encoder=tiny, decoder=tiny, random_state=0
    ).fit(x)
    again = Case(model, x, effort="quick", random_state=0).first
    assert model.warped_ == skewed and (again.effort, again.max_iter) == expected
    assert again.history_.n_steps <= 1.3 * model.history_.n_steps  # of a fifth as many rows where above 1


def test_a_refit_to_half_of_the_rows_follows_the_bends_that_the_fit_followed():
    x = sparse(2000, 1).x
    tiny = partial(residual_mlp, hidden=(4,))
    model = DiverseDictionaryLearning(
        5, max_iter=110, n_restarts=1, encoder=tiny, decoder=tiny, random_state=0
    ).fit(x)
    again = Case(model, x, effort="quick", random_state=0).first
    assert model.bent_ and again.bent_ and again.max_iter == 110
