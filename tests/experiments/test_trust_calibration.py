"""Calibration and judgement: a family left out is left out, counts are counts, and one cheap family runs."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy.stats import binomtest

from unmix.data import LatentDataset
from unmix.estimators import FastICA
from unmix.evidence import EFFORTS, Case, Chain, argument_for, trust
from unmix.evidence._argument import SPARSE_PARTS
from unmix.experiments import load_experiment
from unmix.experiments.papers.trust import calibration, judgement
from unmix.experiments.papers.trust._family import right_latents
from unmix.experiments.papers.trust.calibration import CELLS, FAMILIES, RIGHT, UNITS
from unmix.experiments.papers.trust.judgement import (
    Units,
    coefficients,
    fresh,
    line,
    lines,
    read,
    reliability,
    wilson,
)

GOOD = ("sparse: waves and products", "sparse: networks", "sparse: noise")
NULL = "null: noise"
TRUTH = Chain({"zeros": 3.0, "half": 2.0}, {"zeros": 1.0, "half": 1.0}, rest=0.97)


def drawn(families=(*GOOD, NULL), *, n_worlds=12, n_units=4, seed=0):
    """Draw strengths, and whether units are right by a known chain; null families have none that is."""
    rng = np.random.default_rng(seed)
    family = np.repeat(families, n_worlds * n_units)
    world = np.repeat(np.arange(len(families) * n_worlds), n_units)
    links = {("none", "zeros"): rng.uniform(-2, 2, len(world))}
    links["full", "half"] = rng.uniform(-2, 2, len(world))
    units = Units("sparse", family, world, np.ones(len(world), bool), links)
    chance = TRUTH.probability(units.parts("full", np.ones(len(world), bool)))
    right = (rng.uniform(size=len(world)) < chance) & (family != NULL)
    return Units("sparse", family, world, right, links)


def inverted(units, name):
    return Units(units.kind, units.family, units.world, units.right ^ (units.family == name), units.links)


def recorded(units):
    """Write units as runs are stored, one record for each world."""
    records = []
    for world in np.unique(units.world):
        here = np.flatnonzero(units.world == world)
        values = {f"right|{k}": float(units.right[i]) for k, i in enumerate(here)}
        for place, strength in units.links.items():
            values |= {f"{'|'.join(place)}|{k}": float(strength[i]) for k, i in enumerate(here)}
        settings = {"family": str(units.family[here[0]])}
        records.append(
            {"settings": settings, "seed": 0, "error": None, "values": values | {RIGHT: 0.5, UNITS: 4.0}}
        )
    return records


@pytest.fixture(scope="module")
def units():
    return drawn()


def test_what_is_left_out_is_left_out(units):
    """Turning the truth of a family over moves the probabilities of the others and never its own."""
    before, after = units.left_out("full"), inverted(units, GOOD[0]).left_out("full")
    own = units.family == GOOD[0]
    np.testing.assert_array_equal(before[own], after[own])
    assert np.abs(before - after)[~own].max() > 0.05


def test_an_effort_sees_its_links_and_no_others(units):
    everything = np.ones(len(units.right), bool)
    assert list(units.parts("none", everything)) == list(units.parts("quick", everything)) == ["zeros"]
    assert list(units.parts("full", everything)) == ["zeros", "half"]
    links = units.links | {("full", "half"): -units.links["full", "half"]}
    other = Units(units.kind, units.family, units.world, units.right, links)
    np.testing.assert_array_equal(other.left_out("quick"), units.left_out("quick"))


def test_links_that_add_up_are_one_part_as_in_a_verdict(units):
    strength = units.links["none", "zeros"]
    links = {("none", name): strength for name in (*SPARSE_PARTS["the coordinates"], "another")}
    parts = replace(units, links=links).parts("none", np.arange(3))
    assert {part: set(names) for part, names in parts.items()} == {
        "the coordinates": set(SPARSE_PARTS["the coordinates"]),
        "another": {"another"},
    }


def test_every_family_weighs_alike_whatever_its_size():
    few, many = drawn(GOOD[:1], n_worlds=5), drawn(GOOD[1:2], n_worlds=50)
    both = [np.concatenate(pair) for pair in ((few.family, many.family), (few.right, many.right))]
    units = Units("sparse", both[0], np.arange(len(both[0])), both[1], {})
    weights = [units.weight[units.family == name].sum() for name in GOOD[:2]]
    assert weights[0] == approx(weights[1]) and sum(weights) == approx(0.5 * len(both[0]))


def test_what_was_stored_is_read_back(units):
    found = read(recorded(units))["sparse"]
    np.testing.assert_array_equal(found.right, units.right)
    np.testing.assert_array_equal(found.family, units.family)
    np.testing.assert_array_equal(found.world, units.world)
    assert found.links.keys() == units.links.keys()
    for place, strength in units.links.items():
        np.testing.assert_array_equal(found.links[place], strength)


def test_runs_that_failed_or_of_no_family_are_not_read_and_what_was_not_measured_is_nan(units):
    records = recorded(units)[:3]
    records[0]["error"] = "it stopped"
    records[1]["settings"] = {"family": "of no one"}
    records[2]["values"]["full|half|1"] = None
    found = read(records)["sparse"]
    assert len(found.right) == 4 and set(found.world) == {2}
    assert np.isnan(found.links["full", "half"]).tolist() == [False, True, False, False]
    assert set(read(recorded(units) + recorded(units))["sparse"].world) == set(range(2 * 48))


def test_a_line_counts():
    world, right = np.array([0, 0, 1, 1, 2]), np.array([True, False, True, True, False])
    found = line("a", world, right, np.array([True, True, False, True, False]))
    assert (found.n_worlds, found.n_units, found.right, found.trusted, found.both) == (3, 5, 3, 3, 2)
    assert found.clean == 1 and found.precision == approx(2 / 3) and found.recall == approx(2 / 3)
    nothing = line("b", world, ~right & right, ~right & right)
    assert nothing.clean == 3 and np.isnan([nothing.precision, nothing.recall]).all()


SUMS = ("sparse, all", "sparse, null", "every kind alike, all", "every kind alike, null")


def test_kinds_count_alike_however_many_data_sets_they_have(units):
    alone = {each.name: each for each in lines({"sparse": units}, "full")}
    every, own = alone["every kind alike, all"], alone["sparse, all"]
    assert every.n_worlds == 100 and every.precision == approx(own.precision, abs=0.02)


@pytest.mark.parametrize("effort", EFFORTS)
def test_lines_judge_each_family_all_and_the_null_ones(units, effort):
    found = {each.name: each for each in lines({"sparse": units}, effort)}
    assert list(found) == [*GOOD, NULL, *SUMS]
    trusted = units.left_out(effort) >= judgement.THRESHOLD
    for name in (*GOOD, NULL):
        here = units.family == name
        assert (found[name].trusted, found[name].right) == (trusted[here].sum(), units.right[here].sum())
    for count in ("n_worlds", "n_units", "right", "trusted", "both", "clean"):
        assert getattr(found["sparse, all"], count) == sum(getattr(found[n], count) for n in (*GOOD, NULL))
        assert getattr(found["sparse, null"], count) == getattr(found[NULL], count)


def test_fresh_seeds_are_judged_by_earlier_ones_and_change_no_chain(units, monkeypatch):
    monkeypatch.setattr(judgement, "ENOUGH", 16)
    seeds = np.where(units.world % 3 == 0, judgement.FRESH, 1000)
    both = {"sparse": replace(units, seed=seeds)}
    found = {each.name: each for each in fresh(both, "full")}
    old, new = (
        both["sparse"].taken(chosen) for chosen in (seeds < judgement.FRESH, seeds >= judgement.FRESH)
    )
    for name in (*GOOD, NULL):
        here = new.family == name
        stated = old.chain("full", without=name).probability(new.parts("full", here))
        assert found[name].trusted == (stated >= judgement.THRESHOLD).sum()
        assert found[name].n_worlds == 4
    wrong = replace(both["sparse"], right=np.where(seeds < judgement.FRESH, units.right, ~units.right))
    assert [each.trusted for each in fresh({"sparse": wrong}, "full")] == [
        each.trusted for each in found.values()
    ]
    assert not fresh({"sparse": old}, "full")
    monkeypatch.setattr(judgement, "ENOUGH", 17)
    assert not fresh(both, "full")


def test_a_higher_threshold_trusts_no_more(units):
    counts = [lines({"sparse": units}, "full", at)[-4].trusted for at in (0.0, 0.5, 0.8, 0.9, 0.99, 1.1)]
    assert counts[0] == len(units.right) and counts[-1] == 0 and counts == sorted(counts, reverse=True)


@given(st.integers(1, 200), st.floats(0, 1))
def test_wilson_is_that_of_scipy(n, share):
    right = np.arange(n) < round(share * n)
    theirs = binomtest(int(right.sum()), n).proportion_ci(method="wilson")
    assert wilson(right) == approx((theirs.low, theirs.high), abs=1e-4)


def test_bins_hold_every_unit_once_and_lie_between_their_ends(units):
    p = units.left_out("full")
    rows = reliability({"sparse": units}, "full")
    assert sum(count for *_, count in rows) == len(p)
    assert sum(mean * count for mean, *_, count in rows) == approx(p.sum())
    assert sum(share * count for _, share, *_, count in rows) == approx(units.right.sum())
    assert all(low <= share <= high for _, share, low, high, _ in rows)
    assert all(first[0] < second[0] for first, second in pairwise(rows))


def test_probabilities_of_families_left_out_are_calibrated():
    units = drawn(GOOD, n_worlds=150)
    for mean, _, low, high, count in reliability({"sparse": units}, "full"):
        reach = 0.5 * (high - low)
        assert low - reach <= mean <= high + reach, count


def test_what_the_package_stores_says_how_it_was_obtained(units):
    document = coefficients({"sparse": units}, [3, 1, 1])
    plain = json.loads(json.dumps(document, allow_nan=False))
    assert plain == document and 0.5 < plain["threshold"] < 1
    told = plain["obtained"]
    assert told["by"].startswith("unmix reproduce trust.calibration") and told["seeds"] == [1, 3]
    assert told["families"] == {"sparse": sorted((*GOOD, NULL))} and told["units"] == {"sparse": 192}
    chains = plain["chains"]["sparse"]
    assert set(chains) == set(EFFORTS) and set(chains["full"]["slopes"]) == {"zeros", "half"}
    assert set(chains["quick"]["slopes"]) == {"zeros"}


def test_families_are_many_and_of_every_kind():
    kinds = {family.kind for family in FAMILIES.values()}
    assert kinds >= {"sparse", "mixture", "domains", "slots", "linear"}
    for kind in kinds:
        assert sum(family.null for family in FAMILIES.values() if family.kind == kind) >= 2, kind
    assert len(FAMILIES) >= 12 and {cell.settings["family"] for cell in CELLS} == set(FAMILIES)
    assert load_experiment(judgement.EXPERIMENT) is calibration


def test_families_draw_worlds_of_their_own():
    seeds = {calibration._seed(family, seed) for family in FAMILIES.values() for seed in range(3)}
    assert len(seeds) == 3 * len(FAMILIES)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_cheap_family_runs_and_its_run_is_read():
    name = next(family.name for family in FAMILIES.values() if family.kind == "linear" and not family.null)
    cell = next(cell for cell in CELLS if cell.settings["family"] == name)
    values = calibration.run(cell, 0, "smoke")
    assert values == calibration.run(cell, 0, "smoke") != calibration.run(cell, 1, "smoke")
    found = read([{"settings": cell.settings, "seed": 0, "error": None, "values": values}])["linear"]
    assert len(found.right) == values[UNITS] and found.right.mean() == approx(values[RIGHT])
    assert {effort for effort, _ in found.links} == set(EFFORTS)


def test_strengths_that_are_stored_are_those_that_trust_sees():
    family = next(each for each in FAMILIES.values() if each.kind == "linear" and not each.null)
    data = family.draw(400, 0)
    values = calibration.measured(family, data, FastICA(data.z.shape[1], random_state=0), 5)
    model = FastICA(data.z.shape[1], random_state=0).fit(data.x)
    found = trust(model, data.x, effort="full", random_state=5, verbose=False)
    for each in argument_for(model).links(Case(model, data.x, effort="full", random_state=5)):
        stored = [values[f"{each.effort}|{each.name}|{k}"] for k in range(len(each.strength))]
        np.testing.assert_array_equal(stored, found.strengths[each.name])


def test_a_latent_is_right_once_up_to_order_sign_and_a_monotone_function():
    z = np.random.default_rng(0).normal(size=(300, 3))
    world, units = LatentDataset(z @ np.ones((3, 4)), z), ((0,), (1,), (2,))
    assert right_latents(world, np.column_stack([-np.exp(z[:, 2]), z[:, 0] ** 3, z[:, 1]]), units).all()
    assert right_latents(world, z[:, [0, 0, 1]], units).sum() == 2
    assert not right_latents(world, z @ np.linalg.qr(np.ones((3, 3)) + np.eye(3))[0], units).any()
    assert right_latents(world, z[:, :1], units[:1]).tolist() == [True]
    assert right_latents(LatentDataset(z, z[:, :1]), z[:, :1], units[:1]).tolist() == [True]
