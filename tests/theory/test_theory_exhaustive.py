"""Every verdict against the definitions: all structures up to 4 x 4, random ones up to 8 x 6, all sets A, B.

`certify` is compared on every structure. Questions about two sets are asked for every pair of sets of one
structure for each way of relabelling (their sizes add up to all structures), and for one pair of sets, drawn
at random, of every structure: so no verdict hangs on the labels either. What takes minutes is marked slow.
"""

import itertools

import numpy as np
import pytest

from brute_force import SHAPES, Defined, every_support, pairs_of, random_supports, representatives
from unmix.structure import Structure
from unmix.theory import between, certify, identify

EXPRESSIONS = {
    "A & B": frozenset.__and__,
    "A | B": frozenset.__or__,
    "A ^ B": frozenset.__xor__,
    "A - B": frozenset.__sub__,
}
INDEPENDENT = pytest.mark.parametrize("independent", [False, True])


def check_certificate(support, independent):
    said, true = certify(Structure(support), independent_latents=independent), Defined(support)
    latents = range(true.n)
    assert pairs_of(said.separated_in_paper) == true.stated
    assert pairs_of(~said.may_depend) == true.proved(independent)
    assert set(said.blocks) == {true.region(i) for i in latents} and sum(map(len, said.blocks)) == true.n
    levels = [true.level(i, independent) for i in latents]
    assert list(said.levels) == levels
    assert said.unidentified == {
        i
        for i in latents
        if levels[i] == "block" and not any((i, j) in true.proved(independent) for j in latents)
    }
    assert list(said.clauses) == [true.clauses(i) for i in latents]
    for i, found in enumerate(said.witnesses):
        assert found.keys() == said.clauses[i]
        assert all(true.meets(i, a, clause) for clause, a in found.items())
    holding = [
        True,
        True,
        true.stated <= true.proved(independent),
        all(said.clauses),
        set(levels) == {"element"},
    ]
    assert [bool(theorem) for theorem in said.certificates] == holding and bool(said) == holding[-1]


def check_two_sets(structure, true, a, b, independent):
    said = between(structure, a, b, independent_latents=independent)
    i_a, i_b = true.union(a), true.union(b)
    assert (said.a, said.b, said.latents_a, said.latents_b) == (a, b, i_a, i_b)
    assert (said.intersection, said.union, said.symmetric_difference) == (i_a & i_b, i_a | i_b, i_a ^ i_b)
    assert (said.only_a, said.only_b, said.neither) == (i_a - i_b, i_b - i_a, true.latents - i_a - i_b)
    assert said.atomic_regions == true.atoms(a, b)
    proved = true.proved(independent)
    kept = [all(pair in proved for pair in itertools.product(*claim)) for claim in true.guarantees(a, b)]
    assert [bool(guarantee) for guarantee in said.guarantees] == kept and bool(said) == all(kept)


def check_region(structure, true, expression, region, independent, **sets):
    said = identify(structure, expression, independent_latents=independent, **sets)
    mixed = true.mixed(region, independent)
    assert said.latents == region and bool(said) == (not mixed)
    assert said.witness in mixed if mixed else said.witness is None


def check_regions(structure, true, a, b, independent):
    """Unions of atomic regions; what does not change when A and B are swapped is asked once."""
    i_a, i_b = true.union(a), true.union(b)
    for expression, meaning in EXPRESSIONS.items():
        if expression == "A - B" or sorted(a) <= sorted(b):
            check_region(structure, true, expression, meaning(i_a, i_b), independent, A=a, B=b)
    if a == b:
        check_region(structure, true, "A", i_a, independent, A=a)
        check_region(structure, true, "~A", true.latents - i_a, independent, A=a)


def check_all_sets(support, independent, part=0, parts=1):
    structure, true = Structure(support), Defined(support)
    for a, b in itertools.product(true.sets[part::parts], true.sets):
        check_two_sets(structure, true, a, b, independent)
        check_regions(structure, true, a, b, independent)
    for rows in itertools.product(range(min(true.n_observed, 4)), repeat=3):
        i_a, i_b, i_c = (true.parents[row] for row in rows)
        sets = {name: [row] for name, row in zip("ABC", rows, strict=True)}
        check_region(structure, true, "(A & B) - C", (i_a & i_b) - i_c, independent, **sets)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_relabelling_leaves_426_structures_of_57_164(shape):
    """Classes are disjoint and together all structures; each is met by the check of every verdict."""
    found = list(representatives(*shape))
    assert sum(size for _, size in found) == (2 ** shape[0] - 1) ** shape[1]
    for support, _ in found:
        for independent in (False, True):
            check_certificate(support, independent)


def test_random_structures_up_to_8_x_6():
    for support in random_supports(40):
        for independent in (False, True):
            check_certificate(support, independent)


@INDEPENDENT
def test_all_sets_of_structures_up_to_3_x_3_and_of_some_larger_ones(independent):
    small = [s for shape in itertools.product((1, 2, 3), repeat=2) for s, _ in representatives(*shape)]
    larger = [s for s, _ in representatives(4, 4)]
    for support in [*small, larger[80], larger[160]]:
        check_all_sets(support, independent)


def in_parts(parts, shapes):
    """Split the shapes that take minutes, so that each test has a share of their structures or sets."""
    shares = [(shape, part, parts.get(shape, 1)) for shape in shapes for part in range(parts.get(shape, 1))]
    return pytest.mark.parametrize(("shape", "part", "parts"), shares, ids=str)


@pytest.mark.slow
@INDEPENDENT
@in_parts({(4, 4): 8}, [shape for shape in SHAPES if 4 in shape])
def test_all_sets_of_every_structure_up_to_4_x_4(shape, part, parts, independent):
    for support, _ in itertools.islice(representatives(*shape), part, None, parts):
        check_all_sets(support, independent)


@pytest.mark.slow
@in_parts({(4, 4): 15, (4, 3): 2}, SHAPES)
def test_every_structure_as_it_is_labelled(shape, part, parts):
    rng = np.random.default_rng(part)
    for support in itertools.islice(every_support(*shape), part, None, parts):
        structure, true = Structure(support), Defined(support)
        a, b = (true.sets[k] for k in rng.integers(len(true.sets), size=2))
        for independent in (False, True):
            check_certificate(support, independent)
            check_two_sets(structure, true, a, b, independent)
            check_regions(structure, true, a, b, independent)


@pytest.mark.slow
@INDEPENDENT
@in_parts({(8, 6): 8, (7, 6): 2}, [(8, 6), (7, 6), (6, 6), (6, 5), (5, 6)])
def test_all_sets_of_random_structures_up_to_8_x_6(shape, part, parts, independent):
    """The largest has 65,025 pairs of sets."""
    drawn = [support for support in random_supports(400, seed=5) if support.shape == shape]
    for support in drawn[: 1 if shape[0] > 6 else 2]:
        check_all_sets(support, independent, part, parts)
