"""All structures up to 4 x 4, and random ones up to 8 x 6, against the definitions over all sets A and B.

Latents may be relabelled freely (a law of its own), so that structures are taken up to the order of columns.
Sets of latents and of observed variables are written as bits.
"""

import itertools

import numpy as np
import pytest

from unmix.structure import Structure
from unmix.theory import between, certify

SHAPES = [(x, n) for x in range(1, 5) for n in range(1, 5)]
CLAUSES = (1, 2, 3)


def every_structure(x, n):
    columns = [c for c in itertools.product([0, 1], repeat=x) if any(c)]
    for chosen in itertools.combinations_with_replacement(columns, n):
        yield Structure(np.array(chosen).T)


def random_structures(count, seed=0):
    rng = np.random.default_rng(seed)
    while count:
        support = rng.random((rng.integers(4, 9), rng.integers(3, 7))) < rng.uniform(0.2, 0.8)
        if support.any(0).all():
            count -= 1
            yield Structure(support)


def bits(members):
    return sum(1 << int(k) for k in members)


def index_sets(structure):
    """I_A as bits, for every set A of observed variables as bits."""
    parents = [bits(np.flatnonzero(row)) for row in structure.support]
    found = np.zeros(1 << len(parents), int)
    for a in range(1, len(found)):
        lowest = (a & -a).bit_length() - 1
        found[a] = found[a & (a - 1)] | parents[lowest]
    return found


def separated(structure):
    """Definition 5 as printed, for all pairs of sets at once: which (i, j) some A, B separates, by case."""
    distinct = np.unique(index_sets(structure)[1:])
    i_a, i_b = (grid.ravel() for grid in np.meshgrid(distinct, distinct))
    n = structure.n_latents

    def pairs(targets, sources):
        i, j = ((sets[:, None] >> np.arange(n)) & 1 for sets in (targets, sources))
        return i.T @ j > 0

    return {
        "i": pairs(i_a & i_b, i_a ^ i_b),
        "ii": pairs(i_a ^ i_b, i_a & i_b),
        "iii": pairs(i_a & ~i_b, i_b & ~i_a),
    }


def clauses(structure):
    """Assumption 2 as printed, over all sets A and members k of A."""
    parents = [bits(np.flatnonzero(row)) for row in structure.support]
    unions, full = index_sets(structure), (1 << structure.n_latents) - 1
    meets = np.full(len(unions), full)
    for a in range(1, len(meets)):
        meets[a] = meets[a & (a - 1)] & parents[(a & -a).bit_length() - 1]
    found = [set() for _ in range(structure.n_latents)]

    def single(members, clause):
        if members and members & (members - 1) == 0:
            found[int(members).bit_length() - 1].add(clause)

    for a in range(1, len(unions)):
        single(meets[a], 3)
        if unions[a] == full:
            for k in (k for k in range(len(parents)) if a >> k & 1):
                single(parents[k] & ~unions[a ^ 1 << k], 1)
                single(meets[a ^ 1 << k] & ~parents[k], 2)
    return tuple(map(frozenset, found))


def check(structure):
    cases, n = separated(structure), structure.n_latents
    plain = certify(structure)
    independent = certify(structure, independent_latents=True)
    any_case = cases["i"] | cases["ii"] | cases["iii"]
    np.testing.assert_array_equal(plain.separated_in_paper, any_case)
    np.testing.assert_array_equal(~plain.may_depend, cases["i"])
    assert not (cases["iii"] & ~cases["i"]).any() and (cases["ii"] == cases["i"].T).all()
    unique = any_case.sum(1) == n - 1
    np.testing.assert_array_equal(
        independent.may_depend, np.where(unique[:, None], np.eye(n, dtype=bool), plain.may_depend)
    )
    assert plain.clauses == clauses(structure)
    for certificate in (plain, independent):
        assert [level != "block" for level in certificate.levels] == unique.tolist()
        assert [level == "element" for level in certificate.levels] == (
            certificate.may_depend.sum(1) == 1
        ).tolist()
        nothing = ~unique & certificate.may_depend.all(1)
        assert certificate.unidentified == set(np.flatnonzero(nothing))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_structure_up_to_4_x_4(shape):
    for structure in every_structure(*shape):
        check(structure)


def test_random_structures_up_to_8_x_6():
    for structure in random_structures(60):
        check(structure)


@pytest.mark.parametrize("independent", [False, True])
def test_guarantees_for_all_pairs_of_sets(independent):
    """Each guarantee of two sets is the absence of mixed pairs, written out; regions are a partition."""
    rng = np.random.default_rng(0)
    larger = [*every_structure(4, 4)]
    small, chosen = (
        [*every_structure(3, 3)][::3],
        [larger[k] for k in rng.choice(len(larger), 5, replace=False)],
    )
    for structure in [*every_structure(2, 3), *small, *chosen, *random_structures(3, seed=1)]:
        x = structure.n_observed
        sets = [a for size in range(1, x + 1) for a in itertools.combinations(range(x), size)]
        may_depend = certify(structure, independent_latents=independent).may_depend
        pairs = list(itertools.product(sets, sets))
        some = pairs if len(pairs) <= 225 else [pairs[k] for k in rng.choice(len(pairs), 200, replace=False)]
        for a, b in some:
            found = between(structure, a, b, independent_latents=independent)
            i_a, i_b = structure.latents(a), structure.latents(b)
            claims = [(i_a & i_b, i_a ^ i_b), (i_a ^ i_b, i_a & i_b), (i_a - i_b, i_b - i_a)]
            claims += [(i_b - i_a, i_a - i_b), (i_a, i_b - i_a), (i_b, i_a - i_b)]
            claims += [(i_a - i_b, i_b), (i_b - i_a, i_a)]
            expected = [not may_depend[np.ix_(sorted(t), sorted(s))].any() for t, s in claims]
            assert [bool(guarantee) for guarantee in found.guarantees] == expected
            assert bool(found) == all(expected)
            assert sorted(j for region in found.atomic_regions.values() for j in region) == list(
                range(structure.n_latents)
            )
