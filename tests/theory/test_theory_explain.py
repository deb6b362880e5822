"""One answer: what it says is what its parts say, given what they have checked for each other."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models import LinearModel
from pages import Page
from unmix.structure import Structure, ring
from unmix.theory import (
    Explanation,
    Reading,
    between,
    certify,
    certify_components,
    certify_decoder,
    certify_domains,
    certify_mechanisms,
    certify_mixture,
    certify_pair,
    certify_supports,
    counterexample,
    explain,
    finest_partition,
    identify,
    nonlinearity,
    resampled_structures,
    softmax_diversity,
    stability,
    sufficient_changes,
    triangular_alternative,
)
from unmix.theory.sparsity._theorems import INDEPENDENT, NONLINEAR, POSITIVE, SPARSE

NESTED = Structure([[1, 1, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]])


def bent(structure, n=80, seed=0):
    """Jacobians in general position along a structure."""
    return np.random.default_rng(seed).normal(size=(n, *structure.shape)) * structure.support


@st.composite
def structures(draw):
    x, z = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    support = draw(st.lists(st.lists(st.booleans(), min_size=z, max_size=z), min_size=x, max_size=x))
    return Structure(np.array(support) | (np.arange(x)[:, None] == np.arange(z) % x))


@given(structures(), st.booleans(), st.integers(1, 8), st.data())
def test_what_it_says_equals_its_parts(structure, independent, n_domains, data):
    rows = st.sets(st.integers(0, structure.n_observed - 1), min_size=1)
    a, b = data.draw(rows), data.draw(rows)
    found = explain(
        structure,
        a=a,
        b=b,
        ask="A - B",
        sets={"A": a, "B": b},
        domains=n_domains,
        independent_latents=independent,
    )
    expected = {
        "structure": certify(structure, independent_latents=independent),
        "sets": between(structure, a, b, independent_latents=independent),
        "region": identify(structure, "A - B", A=a, B=b, independent_latents=independent),
        "domains": certify_domains(structure, n_domains),
    }
    assert list(found.parts) == list(expected)
    for name, part in expected.items():
        assert found.parts[name].to_dict() == part.to_dict()
        assert found.conclusions[name] == part.identifies
    assert bool(found) == bool(expected["structure"] or expected["domains"])
    assert [row["structure"] for row in found.latents] == list(expected["structure"].levels)
    assert [row["domains"] for row in found.latents] == list(expected["domains"].levels)
    wishes = [wish for part in expected.values() for wish in part.missing]
    assert found.missing == tuple(dict.fromkeys(wishes))
    document = found.to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    own = {"identifies", "missing"}
    fields = expected["structure"].to_dict()
    assert {name: document[name] for name in fields.keys() - own} == {
        name: fields[name] for name in fields.keys() - own
    }


@given(structures(), st.booleans())
def test_of_a_structure_alone_it_is_the_certificate(structure, independent):
    found = explain(structure, independent_latents=independent)
    certificate = certify(structure, independent_latents=independent)
    assert str(found) == str(certificate) and bool(found) == bool(certificate)
    assert found.to_dict().items() >= certificate.to_dict().items()
    assert set(found.assumed) == {word for c in certificate.certificates if c for word in c.assumes}
    assert (INDEPENDENT in found.assumed) == independent
    assert found.holding + found.failing and len(found.certificates) == len(certificate.certificates)


def test_a_checked_assumption_is_no_longer_assumed():
    assert NONLINEAR in explain(NESTED).assumed
    found = explain(NESTED, jacobians=bent(NESTED))
    assert found.parts["nonlinearity"] and not found.suspended
    assert NONLINEAR not in found.assumed and SPARSE in found.assumed
    assert found.parts["decoder"].k_max == certify_decoder(bent(NESTED), scale="free").k_max
    assert NONLINEAR not in str(found) and found.latents == explain(NESTED).latents


def test_a_failed_assumption_suspends_every_theorem_that_rests_on_it():
    flat = np.repeat(bent(NESTED, 1), 60, axis=0)
    assert not nonlinearity(flat, NESTED)
    found = explain(NESTED, jacobians=flat, domains=9, a=[0], b=[3], independent_latents=True)
    assert certify(NESTED, independent_latents=True) and not found
    assert set(found.suspended) == {"structure", "sets", "domains"} and found.suspended["sets"] == (
        NONLINEAR,
    )
    assert all(
        row == {"latent": j, "structure": "suspended", "domains": "suspended"}
        for j, row in enumerate(found.latents)
    )
    for name in found.suspended:
        resting = [c for c in found.parts[name].certificates if NONLINEAR in c.assumes]
        settled = {c.theorem: c for c in found.conditions[name]}
        assert resting and not any(settled[c.theorem] for c in resting)
        assert found.conclusions[name].startswith("Nothing, since") and NONLINEAR in found.conclusions[name]
    assert "z0 is identified" not in str(found)
    assert {c.theorem for c in found.holding} >= {"DDL Assumption 2 (sufficient diversity)"}
    assert NONLINEAR not in found.assumed


def test_jacobians_alone_give_a_structure_its_margin_and_mechanisms():
    slots = Structure([[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    samples = bent(slots) + 0.05 * np.abs(bent(~slots))
    found = explain(jacobians=samples, partition="finest", tolerance=0.3)
    read = Structure.from_jacobian(samples)
    assert found.parts["structure"].structure == read == slots
    assert found.parts["reading"].margin == read.margin and read.margin < 40
    assert f"{read.margin:.3g} times the largest dropped" in found
    finest = finest_partition(samples, tolerance=0.3).partition
    assert found.parts["mechanisms"].partition == finest
    exact = explain(jacobians=bent(slots), partition=[[0, 1], [2]])
    expected = certify_mechanisms(bent(slots), [[0, 1], [2]])
    assert exact.parts["mechanisms"].to_dict() == expected.to_dict() and expected["D"] and exact
    assert "decades)" in str(exact)


def test_higher_derivatives_and_topology_reach_the_mechanisms():
    slots = Structure([[1, 0], [1, 0], [0, 1]])
    curved = np.zeros((80, 3, 2, 2))
    curved[:, 0, 0, 0] = curved[:, 2, 1, 1] = 1.0
    given = {"hessians": curved, "convex_support": True}
    found = explain(jacobians=bent(slots), partition=2, **given)
    expected = certify_mechanisms(bent(slots), 2, **given)
    assert found.parts["mechanisms"].to_dict() == expected.to_dict()
    assert expected["H2"] and "globally" in found.conclusions["mechanisms"]


def test_a_head_has_a_part_of_its_own():
    weights = [[1, 0], [0, 1], [-1, -1]]
    found = explain(head=weights)
    assert found and found.parts["head"].to_dict() == softmax_diversity(weights).to_dict()
    assert not explain(head=weights[:2])


def test_one_slot_is_no_success():
    dense = Structure(np.ones((4, 2)))
    found = explain(jacobians=bent(dense), partition="finest")
    assert len(found.parts["mechanisms"].partition) == 1 and found.parts["mechanisms"] and not found


def test_a_model_brings_codes_jacobians_fit_and_restarts():
    rng = np.random.default_rng(0)
    z = rng.laplace(size=(300, 2)) * [1.0, 3.0]
    shaky = Structure([[1, 0], [1, 1], [0, 1]], margin=1.2)
    model = LinearModel([[1, 0], [2, 0.1], [0, 1]], structure_=shaky, restarts_=[1.0, 1.0, 2.0, np.nan])
    x = model.inverse_transform(z)
    u = np.arange(300) % 3
    found = explain(model=model, x=x, domains=u, second_run=z @ [[0, 2], [-2, 0]])
    reading = found.parts["reading"]
    assert (reading.margin, round(reading.explained, 6), reading.restarts) == (1.2, 1.0, (1.0, 1.0, 2.0))
    assert "2 of 3 restarts" in reading.reasons[0] and not reading and "tentative" in reading.identifies
    changes = sufficient_changes(model.structure_, z=z, u=u)
    assert found.parts["changes"].to_dict()["second"][0]["rank"] == changes.second[0].rank
    assert found.parts["domains"].levels == certify_domains(model.structure_, changes=changes).levels
    pair = certify_pair(model.transform(x), z @ [[0, 2], [-2, 0]], scale=True)
    assert found.parts["pair"].to_dict() == pair.to_dict() and pair and found
    assert "structure" in found.suspended  # the model is linear, and x1 has two parents
    theorems = [c.theorem for c in found.certificates]
    assert len(theorems) == len(set(theorems))  # what two parts share is said once


def test_a_model_that_does_not_fit_certifies_nothing():
    model = LinearModel([[1, 0], [0, 1], [0, 1e-9]], structure_=Structure([[1, 0], [0, 1], [0, 1]]))
    x = np.random.default_rng(0).normal(size=(100, 3))
    found = explain(model=model, x=x)
    assert not found and found.suspended["structure"] == (SPARSE,)
    assert found.parts["reading"].explained == pytest.approx(2 / 3, abs=0.15)
    assert any("more training" in wish for wish in found.missing)


def test_latents_that_do_nothing_are_named():
    model = LinearModel([[1, 0], [1, 0]], structure_=Structure([[1, 0], [1, 0]]))
    found = explain(model=model)
    assert found.parts["unused"].latents == (1,) and "structure" not in found.parts and not found
    assert "Nothing of z1" in found
    assert found.to_dict()["parts"]["unused"]["latents"] == [1]
    with pytest.raises(ValueError, match="every latent a child"):
        explain(model.structure_)
    asked = explain(model=model, domains=3)  # which is answered, as by a model of images with dead latents
    assert asked.parts["unused"].latents == (1,) and "domains" not in asked.parts and not asked


def test_mixtures_from_parameters_masks_codes_and_models():
    parameters = ([0.5, 0.5], [[1, 0], [0, 2]], [np.diag([1.0, 0.0]), np.diag([0.0, 1.0])])
    masks = [[1, 0], [0, 1]]
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 200)
    z = (rng.normal(size=(400, 2)) + np.array([1, 2])) * np.eye(2)[labels]
    fitted = SimpleNamespace(
        weights_=parameters[0], means_=parameters[1], covariances_=parameters[2], masks_=masks
    )
    cases = (
        (explain(mixture=parameters), certify_mixture(*parameters)),
        (explain(masks=masks), certify_supports(masks)),
        (explain(z=z, components=labels), certify_components(z, labels)),
        (explain(model=fitted), certify_components(fitted)),
    )
    for found, expected in cases:
        assert found.parts["mixture"].to_dict() == expected.to_dict()
        assert str(found) == str(expected) and bool(found) == bool(expected)
        assert [row["mixture"] for row in found.latents] == ["alone", "alone"] and expected


@pytest.mark.parametrize(
    ("given", "rests"),
    [
        ({"masks": [[1, 1, 1], [1, 0, 1]]}, True),
        ({"masks": [[1, 1, 1]]}, False),
        ({"mixture": ([1.0], np.zeros((1, 3)), [np.eye(3)])}, False),
        ({"mixture": ([0.5, 0.5], np.eye(3)[:2], [np.eye(3), np.diag([1.0, 2.0, 0.0])])}, True),
        ({"mixture": ([0.5, 0.5], np.eye(3)[:2], [np.eye(3), np.ones((3, 3))])}, True),
    ],
)
def test_latents_that_rest_have_no_density(given, rests):
    found = explain(NESTED, domains=3, **given)
    assert set(found.suspended) == ({"structure", "domains"} if rests else set())
    assert (POSITIVE in found.assumed) != rests and found.parts["mixture"].identifies in str(found)


def test_stability_over_refits_and_over_resampled_points():
    other = Structure(NESTED.support | np.eye(4, 3, k=2, dtype=bool))
    refits = [NESTED, NESTED.permute([2, 0, 1]), other, NESTED]
    samples = bent(NESTED) + 0.25 * bent(~NESTED)
    found = explain(NESTED, jacobians=samples, structures=iter(refits), n_resamples=40, random_state=3)
    refit = stability(refits, reference=NESTED)
    drawn = stability(resampled_structures(samples, 40, random_state=3), reference=NESTED)
    assert found.parts["refits"].to_dict() == refit.to_dict()
    assert found.parts["resampling"].to_dict() == drawn.to_dict()
    assert [row["refits"] for row in found.latents] == pytest.approx(list(refit.support))
    assert refit.frequencies[0, 2] == 0.25


def test_frequencies_are_of_the_verdicts_that_are_given_on_groups():
    groups, refits = [[0, 1], [2], [3]], [NESTED, Structure(np.eye(4, 3) + np.eye(4, 3, -1)), NESTED]
    found = explain(NESTED, groups=groups, structures=refits).parts["refits"]
    by_hand = stability([each.group(groups) for each in refits], reference=NESTED.group(groups))
    assert found.to_dict() == by_hand.to_dict() and found.levels == certify(NESTED, groups=groups).levels
    assert found.levels != certify(NESTED).levels
    with pytest.raises(TypeError, match="`structures` must hold Structure objects"):
        explain(NESTED, groups=groups, structures=[np.eye(3)])


def test_resampled_structures_are_those_of_the_resampled_points():
    samples = bent(ring(3), 20) + 0.3 * bent(~ring(3), 20)
    rows = np.repeat(np.arange(20), np.random.default_rng(5).multinomial(20, np.full(20, 0.05), size=2)[0])
    first = resampled_structures(samples, 2, latent_scale=[1, 2, 3], random_state=5)[0]
    again = Structure.from_jacobian(samples[rows], latent_scale=[1, 2, 3])
    assert first == again and first.margin == pytest.approx(again.margin)
    for bad, words in ((samples[0], "to be resampled"), (samples[:0], "to be resampled")):
        with pytest.raises(ValueError, match=words):
            resampled_structures(bad)
    with pytest.raises(ValueError, match="at least 2"):
        resampled_structures(samples, 1)


def test_groups_count_as_one_everywhere():
    groups = [[0, 1], [2], [3]]
    found = explain(NESTED, groups=(iter(group) for group in groups), a=[0], b=[1])
    assert found.parts["structure"].to_dict() == certify(NESTED, groups=groups).to_dict()
    assert found.parts["sets"].to_dict() == between(NESTED, [0], [1], groups=groups).to_dict()


def test_the_page_is_whole_escaped_and_says_everything():
    found = explain(NESTED, jacobians=bent(NESTED), domains=2, n_resamples=5, partition=3)
    page = Page(found.to_html(title="<b>mine & yours</b>"))
    text = " ".join(page.texts)
    assert not page.open and "b" not in page.tags and "script" not in page.tags and "link" not in page.tags
    assert "<b>mine & yours</b>" in text
    for words in (*found.conclusions.values(), *found.missing, *found.assumed):
        assert words in text
    assert page.texts.count("fails") == len(found.failing) and page.texts.count("holds") == len(found.holding)
    assert page.texts.count("element if independent") == found.parts["structure"].levels.count(
        "element if independent"
    )
    asked = explain(NESTED, ask="A - A", sets={"A": [0]})
    assert not Page(asked.to_html()).open


def test_the_reading_of_a_clean_cut():
    clean = Reading(margin=np.inf)
    assert clean and clean.to_dict()["margin"] is None and "exactly zero" in str(clean)
    assert Reading() and Reading().certificates == () and Reading(restarts=(1.0,)).reasons == ()
    assert Reading(margin=1.9).missing == ("a wider margin between edges and zeros",)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({}, ValueError, "something to judge"),
        ({"structure": [[1, 0], [0, 1]]}, TypeError, "Wrap it"),
        ({"structure": LinearModel([[1]], structure_=ring(3))}, TypeError, "Pass `structure_`"),
        ({"x": np.eye(2)}, ValueError, "given with a model"),
        ({"structure": ring(3), "domians": 3}, TypeError, "'domians'"),
        ({"structure": ring(3), "a": [0]}, ValueError, "given together"),
        ({"structure": ring(3), "ask": "A"}, ValueError, "given together"),
        ({"structure": ring(3), "ask": "A", "sets": {"groups": [0]}}, ValueError, "other names"),
        ({"structure": ring(3), "partition": 3}, ValueError, "`partition` must be given with Jacobians"),
        ({"structure": ring(3), "n_resamples": 9}, ValueError, "`n_resamples` must be given with Jacobians"),
        (
            {"structure": ring(3), "second_run": np.eye(4)},
            ValueError,
            "`second_run` must be given with codes",
        ),
        ({"structure": ring(3), "components": [0, 1]}, ValueError, "`components` must be given with codes"),
        ({"masks": [[1]], "domains": 3}, ValueError, "`domains` must be given with a structure"),
        ({"structure": ring(3), "domains": 0}, ValueError, "at least 1"),
        ({"structure": ring(3), "jacobians": np.ones((5, 2, 2))}, ValueError, r"\(n, 3, 3\)"),
        ({"jacobians": np.ones((5, 2, 2)), "partition": [[0]]}, ValueError, "partition"),
        ({"structure": ring(3), "structures": [ring(3)]}, ValueError, "at least two"),
        ({"structure": ring(3), "z": np.full((5, 3), np.nan)}, ValueError, "finite table"),
        ({"masks": [[0, 2]]}, ValueError, "masks"),
        ({"structure": ring(3), "hessians": np.ones((1, 3, 3, 3))}, ValueError, "Name slots"),
        ({"jacobians": np.ones((5, 2, 2)), "partition": "coarsest"}, ValueError, "partition"),
        ({"mixture": ([0.7, 0.7], np.zeros((2, 1)), np.ones((2, 1, 1)))}, ValueError, "weights"),
        ({"mixture": ([1.0], [[0.0]], [[[1.0]]]), "components": [0]}, ValueError, "Drop one"),
    ],
)
def test_bad_input_is_named(arguments, error, words):
    with pytest.raises(error, match=words):
        explain(**arguments)


def test_domains_may_be_counted_or_labelled():
    assert explain(NESTED, domains=np.array(["a", "b", "a"])).parts["domains"].n_domains == 2
    assert isinstance(explain(NESTED, domains=np.int64(4)), Explanation)


@pytest.mark.parametrize(
    "judge",
    [
        certify,
        triangular_alternative,
        lambda matrix: certify_domains(matrix, 3),
        lambda matrix: between(matrix, [0], [1]),
        lambda matrix: identify(matrix, "A", A=[0]),
        lambda matrix: nonlinearity(np.ones((3, 2, 2)), matrix),
        lambda matrix: sufficient_changes(matrix, means=np.ones((2, 2)), variances=np.ones((2, 2))),
        lambda matrix: counterexample(matrix, 0, 1),
    ],
)
def test_a_bare_matrix_is_refused_by_name(judge):
    with pytest.raises(TypeError, match=r"`structure` must be a Structure, got list. Wrap it"):
        judge([[1, 1], [0, 1]])


def test_domains_are_counted_where_a_latent_stands_still_within_one():
    z, u = np.random.default_rng(0).normal(size=(40, NESTED.n_latents)), np.repeat(["a", "b"], 20)
    assert "changes" in explain(NESTED, z=z, domains=u).parts
    z[u == "b", 0] = 1.0
    found = explain(NESTED, z=z, domains=u)
    assert "changes" not in found.parts and found.parts["domains"].n_domains == 2
