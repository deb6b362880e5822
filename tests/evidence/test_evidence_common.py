"""What every argument needs: halves, refits from seeds of their own, held-out fit, latents that come back."""

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy.stats import rankdata
from sklearn.base import BaseEstimator

from unmix.evidence import EFFORTS, Case
from unmix.evidence._case import first_of_each, fit_anew
from unmix.evidence._common import (
    agreement,
    best_match,
    can_have,
    chance_match,
    correlations,
    explained,
    fit_strength,
    held_out_fit,
    match_strength,
    rank_of,
    ranks_of,
    second_agreement,
    survival,
)

N = 200


class Principal(BaseEstimator):
    """Principal directions of the columns, as an estimator; it remembers what it was fitted with."""

    def __init__(self, n_components=2, *, random_state=None, verbose=True, checkpoint="kept"):
        self.n_components, self.random_state = n_components, random_state
        self.verbose, self.checkpoint = verbose, checkpoint

    def fit(self, x, domains=None):
        self.mean_, self.rows_, self.domains_ = x.mean(0), x, domains
        self.directions_ = np.linalg.svd(x - self.mean_, full_matrices=False)[2][: self.n_components]
        return self

    def transform(self, x):
        return (x - self.mean_) @ self.directions_.T

    def inverse_transform(self, z):
        return z @ self.directions_ + self.mean_


def table(seed=0, scales=(5, 3, 1, 0.5)):
    return np.random.default_rng(seed).laplace(size=(N, len(scales))) * scales


@pytest.fixture(scope="module")
def x():
    return table()


@pytest.fixture(scope="module")
def model(x):
    return Principal(2, random_state=3).fit(x)


def test_efforts_are_ordered_and_allow_what_is_cheaper(model, x):
    allowed = [[Case(model, x, effort=spent).allows(asked) for asked in EFFORTS] for spent in EFFORTS]
    assert allowed == [[True, False, False], [True, True, False], [True, True, True]]


@given(st.integers(0, 100), st.integers(1, 5))
def test_halves_are_disjoint_cover_all_rows_and_share_out_every_domain(seed, n_domains):
    domains = np.random.default_rng(seed).integers(0, n_domains, N)
    case = Case(None, table(), domains=domains, random_state=seed)
    first, second = case.halves
    assert sorted([*first, *second]) == list(range(N))
    for label in np.unique(domains):
        assert abs((domains[first] == label).sum() - (domains[second] == label).sum()) <= 1


def test_the_same_seed_gives_the_same_halves_and_others_others(model, x):
    first, again, other = (Case(model, x, random_state=seed).halves[0] for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_every_purpose_has_a_stream_of_its_own(model, x):
    case = Case(model, x, random_state=1)
    draws = [case.rng(purpose).random() for purpose in (1, 2, 3, 1)]
    assert draws[0] == draws[3] and len(set(draws)) == 3
    seeds = {case.seed(words) for words in ("on one half of the rows", "on the other half of the rows")}
    assert len(seeds) == 2 and all(0 < seed < 2**31 for seed in seeds)


def test_refits_are_fresh_quiet_and_made_once_on_their_half(model, x):
    told = []
    case = Case(
        model, x, effort="full", random_state=0, telling=lambda words: nullcontext(told.append(words))
    )
    assert case.first is case.first and case.first is not model
    assert (case.first.rows_ == x[case.halves[0]]).all() and (case.second.rows_ == x[case.halves[1]]).all()
    assert case.first.random_state != case.second.random_state != model.random_state
    assert case.first.verbose is False and case.first.checkpoint is None
    assert case.more.n_components == 3
    assert len(told) == 3 and all(words.startswith("fitting again") for words in told)
    assert model.n_components == 2 and model.random_state == 3 and model.verbose


def test_refits_are_given_the_labels_of_their_rows(model, x):
    labels = np.arange(N) % 3
    case = Case(model, x, domains=labels, effort="quick")
    assert (case.first.domains_ == labels[case.halves[0]]).all()
    assert fit_anew(model, x, None, 1).domains_ is None


@given(st.integers(1, 3), st.integers(0, 100))
def test_copies_of_rows_are_dropped_with_their_labels(times, seed):
    x = table(seed)
    order = np.random.default_rng(seed).permutation(np.repeat(np.arange(N), times))
    case = Case(None, x[order], domains=order)
    assert len(case.x) == N and (x[case.domains] == case.x).all()


def test_rows_of_events_are_no_copies():
    events = 1.0 * (np.random.default_rng(0).random((N, 4)) < 0.3)
    assert len(first_of_each(events)) == N


def test_what_takes_more_effort_is_left_open_and_has_one_value_where_it_is_taken(model, x):
    for ask, needed in ((held_out_fit, 1), (agreement, 1), (second_agreement, 2), (survival, 2)):
        links = [ask(Case(model, x, effort=effort, random_state=0)) for effort in EFFORTS]
        assert [each.checked for each in links] == [spent >= needed for spent in range(3)]
        assert {each.effort for each in links} == {EFFORTS[needed]} and len({e.name for e in links}) == 1
        for each in links[needed:]:
            np.testing.assert_array_equal(each.strength, links[-1].strength)


def test_held_out_fit_is_that_of_the_refit_on_the_other_rows_in_units_of_each_column(model, x):
    case = Case(model, x, effort="quick", random_state=0)
    rows, refit = case.halves[1], case.first
    left = (x[rows] - refit.inverse_transform(refit.transform(x[rows]))).var(0) / x[rows].var(0)
    assert held_out_fit(case).measured == approx(1 - left.mean(), abs=0.02)
    noise = np.random.default_rng(1).normal(size=(N, 30))
    bad = held_out_fit(Case(Principal(2).fit(noise), noise, effort="quick"))
    assert bad.strength.max() < -0.9  # two of thirty directions of noise explain nothing


def test_a_constant_column_costs_no_fit(model, x):
    wide = np.column_stack([x, np.full(N, 7.0)])
    four, five = Principal(4).fit(x), Principal(4).fit(wide)
    assert explained(four, x) == approx(1) and explained(five, wide) == approx(1)


def test_strengths_say_what_their_words_promise():
    assert [fit_strength(left) for left in (0.05, 0.005, 0.5, 1.0, 0.0)] == approx([0, 1, -1, -1, 1])
    assert match_strength(np.array([0.95, -0.995, 0.5, 1.0])) == approx([0, 1, -1, np.log10(50)])


@given(st.integers(0, 1000))
def test_matches_know_neither_order_nor_sign_nor_a_monotone_function(seed):
    rng = np.random.default_rng(seed)
    codes = rng.normal(size=(60, 4))
    others = np.sinh(codes[:, rng.permutation(4)]) * rng.choice([-1, 1], 4) + 5
    assert best_match(codes, others) == approx(1)
    assert best_match(codes, others[:, :3]).min() < 1
    assert np.abs(correlations(codes, others)).max(0) == approx(1)


def test_each_latent_of_another_code_is_claimed_once():
    rng = np.random.default_rng(0)
    codes = np.repeat(rng.normal(size=(N, 1)), 2, axis=1)
    assert sorted(best_match(codes, np.column_stack([codes[:, 0], rng.normal(size=N)])) > 0.9) == [
        False,
        True,
    ]


def test_a_random_rotation_scores_more_in_few_dimensions_than_in_many():
    rng = np.random.default_rng(0)
    few, many = (chance_match(rng.normal(size=(N, n)), rng).mean() for n in (2, 8))
    assert 0.4 < many < few < 0.95


@pytest.mark.parametrize("copies", [0, 2])
def test_rank_counts_directions_and_not_columns(x, copies):
    wide = np.column_stack([x, 1000 * x[:, :copies], np.ones(N)])
    assert rank_of(wide) == 4
    case = Case(Principal(4).fit(wide), wide, effort="full")
    assert can_have(case, 4) and not can_have(case, 5)
    assert "no direction left" in survival(case).words[0] and survival(case).strength.max() == 0


class Turned(Principal):
    """Principal directions, turned as the seed says; the fit itself ends at 1, refits at `end`."""

    def __init__(self, n_components=2, *, end=1.0, random_state=None):
        super().__init__(n_components, random_state=random_state)
        self.end = end

    def fit(self, x, domains=None):
        super().fit(x, domains)
        self.n_components_, self.restarts_ = self.n_components, (1.0 if self.random_state == 0 else self.end,)
        turn = np.linalg.qr(np.random.default_rng(self.random_state).normal(size=2 * (self.n_components,)))[0]
        self.directions_ = turn @ self.directions_
        return self


@pytest.mark.parametrize(("end", "as_low"), [(0.7, True), (1.04, True), (1.06, False), (np.nan, False)])
def test_a_refit_that_ends_as_low_without_a_latent_is_called_a_counterexample(end, as_low, x):
    case = Case(Turned(2, end=end, random_state=0).fit(x), x, effort="full", random_state=0)
    found, more = agreement(case), survival(case)
    lost = found.strength < 0
    assert lost.any()
    assert ["a counterexample" in words for words in found.words] == list(lost & as_low)
    assert not any("a counterexample" in words for words in more.words)  # which has another number of latents


@given(st.integers(0, 2**31), st.integers(1, 40), st.sampled_from([1, 5, 10**6]), st.booleans())
def test_ranks_are_those_of_scipy_with_ties_and_without_numbers(seed, n_rows, n_values, holes):
    values = np.random.default_rng(seed).integers(n_values, size=(n_rows, 3)) / 7
    values[0, 0] = np.nan if holes else values[0, 0]
    np.testing.assert_array_equal(ranks_of(values), rankdata(values, axis=0))
