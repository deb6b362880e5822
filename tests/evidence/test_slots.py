"""Slots are trusted for rows beyond copies: laws of the links, nulls that fail, and a world that passes."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from unmix.data import slots as draw_slots
from unmix.estimators import SlotAutoencoder
from unmix.evidence import Case, Link, trust
from unmix.evidence._probe import mutual, shares
from unmix.evidence._slot_rows import connection, distinct, surprise
from unmix.evidence._slots import links

N = 300
SIZES, ROWS = (2, 1, 2), (9, 7, 8)
PARTITION = ((0, 1), (2,), (3, 4))


@dataclass
class Linear:
    """A code x = A z whose latents come in slots, as a fitted model shows it."""

    loadings: np.ndarray
    partition_: tuple[tuple[int, ...], ...]

    def transform(self, x: np.ndarray) -> np.ndarray:
        return x @ np.linalg.pinv(self.loadings).T

    def inverse_transform(self, z: np.ndarray) -> np.ndarray:
        return z @ self.loadings.T

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(self.loadings, (len(x), *self.loadings.shape))


def blocks(rng: np.random.Generator) -> np.ndarray:
    owner, row = np.repeat(range(3), SIZES), np.repeat(range(3), ROWS)
    return rng.normal(size=(len(row), len(owner))) * (row[:, None] == owner)


def world(loadings: np.ndarray, noise: float = 0.02, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    clean = rng.laplace(size=(N, loadings.shape[1])) @ loadings.T
    return clean + noise * clean.std(0) * rng.normal(size=clean.shape)


def copied(loadings: np.ndarray) -> np.ndarray:
    """Return the loadings of the code that copies as many variables as it has numbers."""
    return loadings @ np.linalg.inv(loadings[: loadings.shape[1]])


def asked(model: object, x: np.ndarray) -> dict[str, Link]:
    return {each.name: each for each in links(Case(model, x))}


def weakest(model: object, x: np.ndarray) -> np.ndarray:
    """Return the strength of the weakest link that needs no refit, slot by slot."""
    return np.nanmin([each.strength for each in asked(model, x).values() if each.checked], axis=0)


@pytest.fixture(scope="module")
def good() -> tuple[Linear, np.ndarray]:
    loadings = blocks(np.random.default_rng(0))
    return Linear(loadings, PARTITION), world(loadings)


def test_slots_with_rows_of_their_own_pass_every_link(good):
    assert (weakest(*good) > 0).all()


@pytest.mark.parametrize("d", [5, 6, 12, 24])
@pytest.mark.parametrize("gaussian", [True, False])
def test_copies_of_dense_data_do_not(d, gaussian):
    rng = np.random.default_rng(d)
    loadings = rng.normal(size=(d, 5))
    x = rng.normal(size=(N, 5)) @ loadings.T if gaussian else world(loadings)
    assert (weakest(Linear(copied(loadings), PARTITION), x) < 0).all()


def test_a_rotation_of_good_slots_is_not_one_of_them(good):
    model, x = good
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(5, 5)))[0]
    assert (weakest(Linear(model.loadings @ turn, PARTITION), x) < 0).all()


def test_noise_has_no_slots():
    x = np.random.default_rng(4).normal(size=(N, 12))
    assert (weakest(Linear(np.eye(12)[:, :5], PARTITION), x) < 0).all()


def test_two_slots_in_one_are_told_from_one(good):
    model, x = good
    glued = asked(Linear(model.loadings, ((0, 1, 2), (3, 4))), x)["one slot and not two"].strength
    assert glued[0] < 0 < glued[1]


def test_one_slot_cut_in_two_fails_and_leaves_the_others_alone(good):
    model, x = good
    found = weakest(Linear(model.loadings, ((0,), (1,), (2,), (3, 4))), x)
    assert (found[:2] < 0).all() and (found[2:] > 0).all()


def test_one_slot_of_everything_separates_nothing(good):
    model, x = good
    assert weakest(Linear(model.loadings, ((0, 1, 2, 3, 4),)), x) == approx(-3)


def test_a_latent_too_few_shows_in_the_slot_that_lacks_it(good):
    model, x = good
    found = weakest(Linear(model.loadings[:, [0, 2, 3, 4]], ((0,), (1,), (2, 3))), x)
    assert found[0] < 0 and (found[1:] > 0).all()


def test_a_latent_too_many_shows_as_a_copy_of_noise(good):
    model, x = good
    extra = np.linalg.norm(x - model.inverse_transform(model.transform(x)), axis=0).max() / np.sqrt(N)
    more = np.hstack([model.loadings, extra * np.eye(len(model.loadings))[:, :1]])
    found = asked(Linear(more, ((0, 1, 5), (2,), (3, 4))), x)["several variables for each direction"]
    assert found.strength[0] < 0 < found.strength[2]


def test_relabelling_permutes_the_answer(good):
    model, x = good
    order = [3, 4, 2, 1, 0]
    other = Linear(model.loadings[:, order], ((0, 1), (2,), (3, 4)))
    assert weakest(other, x) == approx(weakest(model, x)[[2, 1, 0]])


def test_units_of_rows_and_codes_and_maps_within_slots_do_not_matter(good):
    model, x = good
    rng = np.random.default_rng(5)
    units = 10 ** rng.uniform(-2, 2, len(model.loadings))
    within = np.zeros((5, 5))
    for slot in PARTITION:
        within[np.ix_(slot, slot)] = rng.normal(size=(len(slot), len(slot))) + 2 * np.eye(len(slot))
    other = Linear(units[:, None] * model.loadings @ within, PARTITION)
    other.transform = lambda rows: model.transform(rows / units) @ np.linalg.inv(within).T
    name = "variables of its own beyond copies"
    mine, theirs = asked(model, x), asked(other, x * units)
    assert theirs[name].strength == approx(mine[name].strength)
    name = "one slot and not two"
    assert theirs[name].measured == approx(mine[name].measured)


def test_copies_of_samples_or_of_variables_change_nothing(good):
    model, x = good
    assert weakest(model, np.vstack([x, x])) == approx(weakest(model, x))
    twice = Linear(np.vstack([model.loadings, 3 * model.loadings]), PARTITION)
    twice.transform = lambda rows: model.transform(rows[:, : x.shape[1]])
    assert weakest(twice, np.hstack([x, 3 * x])) == approx(weakest(model, x))


def test_links_have_the_same_names_at_every_effort_and_wait_for_theirs(good):
    found = asked(*good)
    assert [each.checked for each in found.values()] == [True] * 5 + [False] * 3
    assert all(len(each.words) == 3 for each in found.values())


@given(st.lists(st.floats(0, 1), min_size=6, max_size=12), st.integers(0, 5), st.floats(0, 1))
def test_less_leak_is_never_less_evidence(leaks, row, factor):
    before, after = np.array(leaks), np.array(leaks)
    after[row] *= factor
    assert surprise(after, 2, 3)[0] >= surprise(before, 2, 3)[0]


def test_generic_gradients_rarely_surprise():
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(200, 20, 5))
    shares_outside = np.square(rows[..., 2:]).sum(2) / np.square(rows).sum(2)
    assert np.mean([surprise(each, 2, 3)[0] > 2 for each in shares_outside]) <= 0.01


def test_connection_knows_pieces_in_any_coordinates():
    rng = np.random.default_rng(7)
    block = np.zeros((10, 3))
    block[:5, :2], block[5:, 2:] = rng.normal(size=(5, 2)), rng.normal(size=(5, 1))
    jacobians = np.stack([block @ rng.normal(size=(3, 3)) for _ in range(4)])
    assert connection(jacobians) == approx(0, abs=1e-9)
    assert connection(rng.normal(size=(4, 10, 3))) > 0.3


def test_constant_columns_are_not_distinct():
    x = np.random.default_rng(8).normal(size=(30, 3)) * [1, 0, 1]
    assert distinct(x).tolist() == [0, 2]


def test_probe_is_near_zero_on_noise_and_near_one_on_functions():
    z = np.random.default_rng(9).normal(size=(300, 2))
    assert shares(z, np.random.default_rng(10).normal(size=(300, 2))).max() < 0.1
    table = mutual(z, ((0,), (1,)), np.tanh(z[:, ::-1]), ((0,), (1,)))
    assert (np.diag(table) < 0.1).all() and (table[[0, 1], [1, 0]] > 0.95).all()


@pytest.mark.slow
def test_fitted_slots_are_told_from_fitted_dense_data():
    data = draw_slots(2500, 2, 2, n_rows=10, random_state=0)
    rng = np.random.default_rng(0)
    dense = np.tanh(data.z @ rng.normal(size=(4, 20))) + data.z @ rng.normal(size=(4, 20))
    found = [
        trust(SlotAutoencoder(4, slots=2, random_state=0).fit(x), x, effort="quick", random_state=0)
        for x in (data.x, dense)
    ]
    lowest = [np.nanmin(list(each.strengths.values()), axis=0) for each in found]
    assert (lowest[0] > 0).all() and (lowest[1] < 0).all() and not found[1].trusted.any()
