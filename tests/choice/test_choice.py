"""Before a fit: each check says yes where its thing is there, and no where it is not."""

import json

import numpy as np
import pytest

import unmix
from pages import Page
from unmix.choice import Choice, Support, _checks, agreement
from unmix.choice._agreement import numbers_around
from unmix.choice._material import Material
from unmix.data import degenerate_mixture, multi_domain, slots, sparse_mixing
from unmix.report import choice as page
from unmix.solvers.number import Number, Trial


def material(x, n):
    trials = (Trial(0, 0, 5.0, False), Trial(n, n, 1.0, False))
    number = Number(n, n, 10, 1.0, 0.1, 0.0, trials, len(x), len(x) // 5)
    return Material(np.asarray(x, dtype=float), number, 0)


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(400, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(400, 6))
    return unmix.choose(x, domains=np.arange(400) % 4, most=3)


@pytest.mark.parametrize(("law", "holds"), [("laplace", True), ("normal", False)])
def test_laws_other_than_the_normal_are_seen(law, holds, rng):
    x = getattr(rng, law)(size=(3000, 3)) @ rng.normal(size=(3, 8))
    assert _checks.non_gaussian(material(x, 3)).holds is holds


def test_resting_values_are_seen_and_sharp_peaks_are_not(rng):
    rest = degenerate_mixture(2000, 4, profile="linear", random_state=0).x @ rng.normal(size=(4, 9))
    peaks = rng.exponential(size=(2000, 4)) @ rng.normal(size=(4, 9))
    assert _checks.resting(material(rest, 4)).holds
    assert not _checks.resting(material(peaks, 4)).holds


def test_sparsity_is_seen_and_random_effects_are_not(rng):
    few = sparse_mixing(3000, 6, 24, mixing="linear", noise=0.05, random_state=0).x
    many = rng.normal(size=(3000, 6)) @ rng.normal(size=(6, 24))
    assert _checks.sparse(material(few, 6)).holds
    assert not _checks.sparse(material(many, 6)).holds


def test_groups_are_counted(rng):
    apart = slots(2000, 3, 2, n_rows=5, random_state=0).x
    assert _checks.blocks(material(apart, 6)).measured == "3 groups"
    assert not _checks.blocks(material(rng.normal(size=(2000, 3)) @ rng.normal(size=(3, 9)), 3)).holds


def test_domains_that_differ_are_seen_and_permuted_labels_are_not(rng):
    data = multi_domain(2000, 3, n_domains=5, random_state=0)
    seen = _checks.differing(material(data.x, 3), data.u)
    assert seen.holds and "5 domains" in seen.words
    assert not _checks.differing(material(data.x, 3), rng.permutation(data.u)).holds
    assert _checks.differing(material(data.x, 3), None).holds is None


def test_components_of_gaussian_halves_do_not_return(rng):
    x, gaussian = rng.laplace(size=(4000, 4)), rng.normal(size=(4000, 4))
    seen = agreement(x, gaussian, 4)
    assert seen.mean > 0.97 > 0.9 > seen.null


@pytest.mark.parametrize(("n", "most"), [(1, 1), (3, 4), (20, 30), (30, 30)])
def test_numbers_around_hold_the_chosen_one_and_stay_in_bounds(n, most):
    around = numbers_around(n, most)
    assert n in around and min(around) >= 1 and max(around) <= most and around == sorted(set(around))


def test_a_choice_says_the_number_what_survives_and_what_to_try(found):
    assert found.n_latents == 2 and "FastICA" in found.methods
    text = str(found)
    assert text.startswith("2 latents") and "agree to" in text and "Try FastICA" in text
    assert all(each.name in text for each in found.supports)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["n_latents"] == 2 and len(plain["supports"]) == 5
    domains = found.supports[-1]
    assert domains.name == "domains that differ" and domains.holds is False  # labels of nothing


def test_the_page_shows_it_all_and_escapes_what_it_is_given(found, tmp_path):
    text = page(tmp_path / "page.html", found, notes="<script>alert(1)</script>").read_text()
    shown = Page(text)
    assert shown.open == [] and "script" not in shown.tags
    assert found.headline in shown.text and "svg" in shown.tags
    assert all(each.words in shown.text for each in found.supports)


def test_what_nothing_supports_is_said():
    number = Number(None, 3, 3, 0.2, 0.1, 0.2, (Trial(0, 0, 1.0, False), Trial(3, 3, 0.4, False)), 90, 10)
    no = Support("blocks", ("SlotAutoencoder",), False, "1", "1", "None.", "groups.")
    endless = Choice(number, (), (no,), 100, 8)
    assert endless.n_latents is None and endless.methods == () and "can't be trusted" in str(endless)
    assert "blocks (SlotAutoencoder): no" in str(endless)


@pytest.mark.parametrize(
    ("x", "more", "words"),
    [
        (np.zeros((10, 3)), {}, "`X` must have at least 50 rows, got 10"),
        (np.ones((60, 3)), {}, r"constant columns, got \[0, 1, 2\]"),
        (np.full((60, 3), np.nan), {}, "contains NaN"),
        (
            np.random.default_rng(0).normal(size=(60, 3)),
            {"most": 0},
            "`most` must be an integer of at least 1",
        ),
        (
            np.random.default_rng(0).normal(size=(60, 3)),
            {"domains": [1, 2]},
            "one label per row, got 2 for 60",
        ),
    ],
)
def test_what_can_not_be_looked_at_is_refused_at_once(x, more, words):
    with pytest.raises(ValueError, match=words):
        unmix.choose(x, **more)
