"""Two sets of observed variables, and the text that explains them."""

import itertools
import json

import numpy as np
import pytest

from brute_force import Defined
from unmix.structure import Structure, ring
from unmix.theory import between, certify, certify_mechanisms, explain, identify

EXAMPLE_5 = Structure([[1, 0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 1, 1], [0, 0, 1, 0, 1, 1, 1]])
SETS = [a for size in (1, 2, 3) for a in itertools.combinations(range(3), size)]


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize(("a", "b"), list(itertools.product(SETS, SETS)))
def test_guarantees_follow_from_what_may_depend(a, b, independent):
    found = between(EXAMPLE_5, a, b, independent_latents=independent)
    i_a, i_b = EXAMPLE_5.latents(a), EXAMPLE_5.latents(b)
    sets = (found.intersection, found.union, found.only_a, found.only_b, found.symmetric_difference)
    assert sets == (i_a & i_b, i_a | i_b, i_a - i_b, i_b - i_a, i_a ^ i_b)
    may_depend = certify(EXAMPLE_5, independent_latents=independent).may_depend
    claims = Defined(EXAMPLE_5.support).guarantees(a, b)
    expected = [not any(may_depend[pair] for pair in itertools.product(*claim)) for claim in claims]
    assert [bool(guarantee) for guarantee in found.guarantees] == expected
    always = [0, 2, 3, 4, 5]  # intersections, complements, objects: index sets are closed upwards
    assert all(found.guarantees[k] for k in always)


def test_paper_pairs_that_separate_each_region_of_example_5():
    """The pairs (A; B) of Example 5, and the case of Definition 5 that separates region i from region j."""
    table = {
        0: ([((0,), (1,)), ((0,), (2,))], {"iii": {1, 2, 5}, "ii": {3, 4, 6}}),
        1: ([((1,), (0,)), ((1,), (2,))], {"iii": {0, 2, 4}, "ii": {3, 5, 6}}),
        2: ([((2,), (0,)), ((2,), (1,))], {"iii": {0, 1, 3}, "ii": {4, 5, 6}}),
        3: ([((0,), (1,)), ((0, 1), (2,))], {"i": {0, 1, 4, 5}, "iii": {2}, "ii": {6}}),
        4: ([((0,), (2,)), ((0, 2), (1,))], {"i": {0, 2, 3, 5}, "iii": {1}, "ii": {6}}),
        5: ([((1,), (2,)), ((1, 2), (0,))], {"i": {1, 2, 3, 4}, "iii": {0}, "ii": {6}}),
        6: ([((0,), (1,)), ((0, 1), (2,))], {"i": {0, 1, 2, 3, 4, 5}}),
    }
    certificate = certify(EXAMPLE_5)
    for region, (pairs, expected) in table.items():
        found = {"i": set(), "ii": set(), "iii": set()}
        for a, b in pairs:
            sets = between(EXAMPLE_5, a, b)
            if region in sets.intersection:
                found["i"] |= sets.symmetric_difference
            if region in sets.symmetric_difference:
                found["ii"] |= sets.intersection
            if region in sets.only_a:
                found["iii"] |= sets.only_b
            if region in sets.only_b:
                found["iii"] |= sets.only_a
        for case, others in expected.items():
            assert others <= found[case]
        # every entry that needs case (ii) is a strict inclusion, which can't be promised
        assert all(certificate.may_depend[region, j] for j in expected.get("ii", ()))


def test_atomic_regions_groups_and_the_whole():
    found = between(EXAMPLE_5, [0], [1])
    assert found.neither == {2}
    assert found.atomic_regions == {"A & B": {3, 6}, "A - B": {0, 4}, "B - A": {1, 5}, "~(A | B)": {2}}
    assert not found and found.certificates == found.guarantees and "may be mixed" in found.identifies
    assert len(found.reasons) == 3 and "independent latents" in found.missing[0]
    free = between(EXAMPLE_5, [0], [1], independent_latents=True)
    assert free and free.missing == free.reasons == () and "what each has alone" in free.identifies
    grouped = between(ring(4), [0], [1], groups=[[0, 1], [2, 3]])
    assert (grouped.latents_a, grouped.latents_b) == ({0, 1, 2}, {0, 2, 3})


def test_broken_guarantees_name_the_pairs():
    found = between(Structure([[1, 1, 0], [0, 1, 1]]), [0], [1])
    assert "z0 may depend on the estimate of z1" in str(found.guarantees[1])
    assert not found.guarantees[1] and found.guarantees[0]


def test_sets_may_be_equal_or_overlap():
    found = between(ring(4), [0, 1], [1, 0])
    assert found.only_a == found.only_b == frozenset() and all(found.guarantees)
    assert "empty" in found.guarantees[2].reasons[0]


def test_dict_and_text():
    found = between(ring(4), np.array([0]), [1, 2])
    document = json.loads(json.dumps(found.to_dict()))
    assert (
        document["intersection"] == [1] and document["only_b"] == [2, 3] and len(document["guarantees"]) == 8
    )
    assert "A = {x0}, B = {x1, x2}" in str(found) and "only B: z2, z3" in str(found)


@pytest.mark.parametrize(
    ("a", "b", "words"), [([], [0], "`a` must name"), ([0], [], "`b` must"), ([9], [0], "between 0")]
)
def test_bad_sets_are_named(a, b, words):
    with pytest.raises(ValueError, match=words):
        between(ring(4), a, b)


@pytest.mark.parametrize("wrong", [[0.5], "0", 0, [True, False, True, False], np.array([0.0]), [None]])
def test_positions_are_never_guessed(wrong):
    """A fraction, text or a mask is no set of observed variables: nothing is rounded on the way."""
    calls = {
        "a": lambda: between(ring(4), wrong, [1]),
        "B": lambda: identify(ring(4), "A & B", A=[0], B=wrong),
        "groups": lambda: certify(ring(4), groups=[[0, 1], [2, 3], wrong]),
        "partition": lambda: certify_mechanisms(np.ones((2, 4, 4)), [[0, 1, 2, 3], wrong]),
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match=f"`{name}` must hold whole numbers"):
            call()


def test_explain_joins_what_is_given():
    structure = ring(4)
    bent = np.random.default_rng(0).normal(size=(30, 4, 4)) * structure.support
    text = str(explain(structure, a=[0], b=[1], jacobians=bent))
    said = (*certify(structure).reasons, *map(str.strip, certify(structure).missing))
    assert all(line.rstrip(".") in text for line in said)
    assert all(each.verdict in text for each in between(structure, [0], [1]).guarantees)
    assert "sufficient nonlinearity) holds" in text and "sufficient nonlinearity of the mixing" not in text
    assert "independent latents" in explain(structure, independent_latents=True)
    with pytest.raises(ValueError, match="given together"):
        explain(structure, a=[0])
