"""Regions written as set expressions: their members, their verdicts, the parser's manners."""

import itertools
import json

import numpy as np
import pytest

from unmix.structure import Structure, ring
from unmix.theory import certify, identify

EXAMPLE_5 = Structure([[1, 0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 1, 1], [0, 0, 1, 0, 1, 1, 1]])
EXPRESSIONS = {
    "A": lambda a, b, c: a,
    "(A & B) - C": lambda a, b, c: (a & b) - c,
    "A & B & C": lambda a, b, c: a & b & c,
    "A - B - C": lambda a, b, c: a - b - c,
    "A ^ B ^ C": lambda a, b, c: a ^ b ^ c,
    "~(A | B)": lambda a, b, c: frozenset(range(7)) - (a | b),
    "~~A": lambda a, b, c: a,
    "A | B & C": lambda a, b, c: a | (b & c),
    "A - B | C": lambda a, b, c: (a - b) | c,
    "A & B ^ C": lambda a, b, c: (a & b) ^ c,
}


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_members_and_verdict_of_example_5(expression, independent):
    sets = {name: [k] for k, name in enumerate("ABC") if name in expression}
    found = identify(EXAMPLE_5, expression, independent_latents=independent, **sets)
    index_sets = [frozenset(np.flatnonzero(row).tolist()) for row in EXAMPLE_5.support]
    assert found.latents == EXPRESSIONS[expression](*index_sets)
    may_depend = certify(EXAMPLE_5, independent_latents=independent).may_depend
    mixed = [(i, j) for i in found.latents for j in set(range(7)) - found.latents if may_depend[i, j]]
    assert bool(found) == (not mixed) and (found.witness in mixed or found.witness is None)
    assert (found.witness is None) == bool(found) and bool(found.missing) == bool(mixed)


def test_every_expression_without_difference_is_identified():
    """Index sets, intersections and unions are closed upwards, whatever the structure."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        structure = Structure((rng.random((4, 5)) < 0.4) | (np.arange(5) % 4 == np.arange(4)[:, None]))
        for expression in ("A", "A & B", "A | B", "(A & B) | C", "A & (B | C)"):
            sets = {name: [k, 3] for k, name in enumerate("ABC") if name in expression}
            found = identify(structure, expression, **sets)
            assert found and "case i)" in found.argument


def test_every_atomic_region_of_three_sets_is_judged_as_its_latents_are():
    for signs in itertools.product([False, True], repeat=3):
        expression = " & ".join(name if sign else f"~{name}" for name, sign in zip("ABC", signs, strict=True))
        found = identify(EXAMPLE_5, expression, independent_latents=True, A=[0], B=[1], C=[2])
        assert found and len(found.latents) == (1 if any(signs) else 0)
        plain = identify(EXAMPLE_5, expression, A=[0], B=[1], C=[2])
        assert bool(plain) == (not any(signs) or all(signs))


def test_arguments_are_told_apart():
    s = Structure([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
    sets = {"A": [0], "B": [1]}
    assert "case i)" in identify(s, "A & B", **sets).argument
    assert "cases i and iii" in identify(s, "B - C", B=[1], C=[2]).argument  # z1 alone is covered by none
    assert "monotone" in identify(s, "A - B", independent_latents=True, **sets).argument
    failing = identify(s, "A - B", **sets)
    assert "multiple of z1 may be added to z0" in failing.argument and failing.witness == (0, 1)
    assert "independent latents" in failing.missing[0] and "z0 moves and z1 does not" in failing.missing[1]
    assert "empty" in identify(s, "A - A", A=[0]).argument


def test_a_block_of_two_is_not_freed_by_independence():
    s = Structure([[1, 1, 1], [1, 1, 1], [0, 0, 1]])
    found = identify(s, "A - B", A=[0], B=[2], independent_latents=True)
    assert found.latents == {0, 1} and not found and "rotated" in found.argument
    assert not any("independent" in what for what in found.missing)


def test_groups_count_as_one():
    s = ring(4)
    groups = [[0, 1], [2, 3]]
    found = identify(s, "A & B", A=[0], B=[1], groups=groups)
    assert found.latents == s.group(groups).latents([0]) & s.group(groups).latents([1])
    assert found.to_dict() == identify(s.group(groups), "A & B", A=[0], B=[1]).to_dict() | {
        "certificates": found.to_dict()["certificates"]
    }


def test_text_and_dict_say_the_same():
    found = identify(EXAMPLE_5, "(A & B) - C", A=[0], B=[1], C=[2])
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["latents"] == [3] and document["holds"] is False and document["witness"] == [3, 6]
    assert document["sets"] == {"A": [0], "B": [1], "C": [2]}
    assert "A = {x0}; B = {x1}; C = {x2}" in str(found) and found.argument in str(found)
    assert found.identifies.startswith("{z3} is not identified")
    assert found.certificates[0].assumes and not found.certificates[0]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("A & D", "got `D`"),
        ("A + B", "got `A \\+ B`"),
        ("A and B", "got `A and B`"),
        ("A &", "must be a set expression"),
        ("", "must be a set expression"),
        ("__import__('os').system('true')", "must hold only"),
        ("A.latents", "must hold only"),
        ("A[0]", "must hold only"),
        ("-A", "must hold only"),
        ("(lambda: A)()", "must hold only"),
        ("A & 3", "must hold only"),
        ("A = B", "must be a set expression"),
        ("~" * 2000 + "A", "at most 1000 characters"),
        ("(" * 400 + "A" + ")" * 400, "must be a set expression"),
        ("A", "B unused"),
        (3, "must be text"),
    ],
)
def test_bad_expressions_are_refused(expression, words):
    with pytest.raises(ValueError, match=words):
        identify(ring(4), expression, A=[0], B=[1])


def test_bad_rows_are_refused():
    with pytest.raises(ValueError, match="between 0"):
        identify(ring(4), "A", A=[7])
    with pytest.raises(ValueError, match="`A` must name at least one"):
        identify(ring(4), "A", A=[])
