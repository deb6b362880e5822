"""A chain of links: what raises a probability, what bounds it, and how its coefficients are found."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy.special import expit

from models import verdict
from unmix.evidence import EFFORTS, Chain, calibrate, link, unchecked
from unmix.evidence._argument import SPARSE_PARTS
from unmix.evidence._calibration import chain_for, stored, threshold

STRENGTH = st.floats(-3, 3)
LINKS = (
    ("fit", "fit"),
    ("the coordinates", "zeros"),
    ("the coordinates", "independence"),
    ("return", "half"),
)


@st.composite
def chains(draw):
    slopes = {name: draw(st.floats(0.3, 12)) for _, name in LINKS}
    offsets = {part: draw(st.floats(-4, 6)) for part, _ in LINKS}
    return Chain(slopes, offsets, draw(st.floats(0.5, 0.995)))


def parts_from(strengths):
    """Arrange one row of strengths for each link."""
    parts = {}
    for (part, name), row in zip(LINKS, strengths, strict=True):
        parts.setdefault(part, {})[name] = np.asarray(row, float)
    return parts


@given(chains(), st.lists(STRENGTH, min_size=4, max_size=4), st.integers(0, 3), st.floats(0, 6))
def test_raising_any_strength_never_lowers_the_probability(chain, strengths, which, more):
    raised = [strength + more * (k == which) for k, strength in enumerate(strengths)]
    before, after = (chain.probability(parts_from(np.array(each)[:, None])) for each in (strengths, raised))
    assert after >= before


@given(chains(), st.lists(st.one_of(STRENGTH, st.just(np.nan)), min_size=4, max_size=4))
def test_a_probability_is_one_and_no_better_than_its_weakest_part_and_the_rest(chain, strengths):
    parts = parts_from(np.array(strengths)[:, None])
    (found,) = chain.probability(parts)
    assert 0 <= found <= chain.rest <= 1
    assert all(found <= held[0] for held in chain.factors(parts).values())


def test_evidence_for_one_part_adds_up_and_parts_multiply():
    chain = Chain({"a": 2.0, "b": 3.0, "c": 4.0}, {"one": 1.0, "two": 0.5}, rest=0.9)
    one = {"a": np.array([0.5]), "b": np.array([-0.2])}
    found = chain.probability({"one": one, "two": {"c": np.array([0.1])}})
    assert found == approx(0.9 * expit(2 * 0.5 - 3 * 0.2 + 1) * expit(4 * 0.1 + 0.5))


def test_what_was_not_measured_neither_helps_nor_harms():
    chain, rows = Chain(), np.array([[0.4], [-0.3], [np.nan], [np.nan]])
    alone = {"fit": {"fit": rows[0]}, "the coordinates": {"zeros": rows[1]}}
    assert chain.probability(parts_from(rows)) == approx(chain.probability(alone))


def simulated(chain, n, seed):
    rng = np.random.default_rng(seed)
    parts = parts_from(rng.uniform(-2, 2, (4, n)))
    return parts, rng.uniform(size=n) < chain.probability(parts)


TRUTH = Chain(
    {"fit": 4.0, "zeros": 2.0, "independence": 5.0, "half": 3.0},
    {"fit": 2.5, "the coordinates": 1.0, "return": 2.0},
    rest=0.95,
)


def test_calibration_recovers_the_chain_that_made_the_data():
    found = calibrate(*simulated(TRUTH, 8000, 0))
    fresh, right = simulated(TRUTH, 8000, 1)
    stated, true = found.probability(fresh), TRUTH.probability(fresh)
    assert np.abs(stated - true).mean() < 0.015
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        here = (stated >= low) & (stated < low + 0.2)
        assert right[here].mean() == approx(stated[here].mean(), abs=4 * np.sqrt(0.25 / here.sum()))
    assert found.slopes["independence"] > found.slopes["zeros"]
    for name, slope in TRUTH.slopes.items():
        assert found.slopes[name] == approx(slope, rel=0.25)
    assert found.rest == approx(TRUTH.rest, abs=0.02)


def test_without_data_the_chain_is_that_from_before():
    none = {"fit": {"fit": np.empty(0)}}
    found, at = calibrate(none, np.empty(0, bool)), {"fit": {"fit": np.linspace(-3, 3, 7)}}
    np.testing.assert_allclose(found.probability(at), Chain().probability(at), rtol=1e-6)


def test_units_of_no_weight_do_not_count_and_a_weight_of_two_is_two_units():
    parts, right = simulated(TRUTH, 300, 2)
    half = np.arange(300) < 150
    of_half = {part: {k: v[half] for k, v in links.items()} for part, links in parts.items()}
    twice = {part: {k: np.tile(v[half], 2) for k, v in links.items()} for part, links in parts.items()}
    alone, weighed = (
        calibrate(of_half, right[half]),
        calibrate(parts, np.where(half, right, ~right), 1.0 * half),
    )
    assert weighed.probability(parts) == approx(alone.probability(parts), abs=1e-3)
    doubled = calibrate(of_half, right[half], np.full(150, 2.0))
    again = calibrate(twice, np.tile(right[half], 2))
    assert doubled.probability(parts) == approx(again.probability(parts), abs=1e-3)
    assert np.abs(doubled.probability(parts) - alone.probability(parts)).max() > 1e-3


def test_evidence_that_misleads_is_given_no_say_but_never_a_negative_one():
    rng = np.random.default_rng(3)
    strength = rng.uniform(-2, 2, 2000)
    found = calibrate({"a": {"a": strength}}, rng.uniform(size=2000) < expit(-2 * strength))
    assert found.slopes["a"] == approx(0.3)  # the least that is allowed


def test_a_chain_is_kept_as_plain_numbers():
    plain = json.loads(json.dumps(TRUTH.to_dict()))
    again, at = Chain(plain["slopes"], plain["offsets"], plain["rest"]), parts_from(np.eye(4))
    np.testing.assert_allclose(again.probability(at), TRUTH.probability(at), atol=1e-3)


def test_the_stored_chains_have_a_threshold_and_every_effort():
    assert 0.5 < threshold() < 1 and {"obtained", "chains"} <= stored().keys()
    for kind, efforts in stored()["chains"].items():
        assert set(efforts) == set(EFFORTS)
        for effort in efforts:
            assert all(slope >= 0.3 for slope in chain_for(kind, effort).slopes.values())
    assert chain_for("of no kind", "full") == Chain()


@given(st.lists(st.one_of(STRENGTH, st.just(np.nan)), min_size=1, max_size=6), st.booleans())
def test_words_of_a_verdict_follow_the_numbers(strengths, missing):
    """Yes above the threshold; no where something measured speaks against it or nothing is left to check."""
    measured = link("a", strengths, 0.0, strengths, [""] * len(strengths))
    more = unchecked("b", len(strengths), "full") if missing else link("b", 0, 0, 3.0, [""] * len(strengths))
    found = verdict(*strengths, evidence=(measured, more))
    held = found.chain.factors(found.parts)["a"]
    open_ = any(not each.checked for each in found.evidence)
    for word, probability, factor in zip(found.verdicts, found.probability, held, strict=True):
        if probability >= found.threshold:
            assert word == "yes"
        else:
            assert word == ("not checked" if open_ and factor >= 0.5 else "no")


def test_where_nothing_was_measured_nothing_is_trusted():
    found = verdict(0.0, 0.0, evidence=(unchecked("a", 2, "quick"), unchecked("b", 2, "full")))
    assert found.verdicts == ("not checked",) * 2 and not found
    assert 'which takes effort "quick"' in found.reasons[0]


def test_an_unchecked_link_belongs_to_its_part_and_is_not_called_the_weakest():
    zeros, other, _ = SPARSE_PARTS["the coordinates"]
    found = verdict(-1, -1, evidence=(unchecked(other, 2, "full"), link(zeros, -1, 0, -1, ["low"] * 2)))
    assert found.parts.keys() == {"the coordinates"} and found.parts["the coordinates"].keys() == {
        zeros,
        other,
    }
    assert found.verdicts == ("no", "no") and {weak.name for weak in found.weakest} == {zeros}


@pytest.mark.parametrize("value", [7.0, np.inf])
def test_no_link_is_surer_than_three(value):
    assert link("a", 0, 0, value, ["", ""]).strength.tolist() == [3, 3]
    assert link("a", np.inf, np.nan, 0, [""]).to_dict()["measured"] == [None]
