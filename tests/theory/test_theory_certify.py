"""`certify` against the definitions, written out over all sets A, B of observed variables."""

import itertools
import json
from collections import Counter
from math import factorial, prod
from pathlib import Path

import numpy as np
import pytest

from brute_force import Defined, every_support, pairs_of, random_supports
from unmix.structure import Structure, complement_identity, dense, diverse, ring, triangular
from unmix.theory import certify, explain
from unmix.theory.sparsity._theorems import FAITHFUL, MODEL, NONLINEAR

EXAMPLE_5 = Structure([[1, 0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 1, 1], [0, 0, 1, 0, 1, 1, 1]])


def structures(n_observed, n_latents):
    """All structures in which every latent has a child."""
    return map(Structure, every_support(n_observed, n_latents))


def random_structures(count, seed=0):
    return map(Structure, random_supports(count, (1, 6), (1, 6), seed=seed))


SMALL = [*structures(1, 3), *structures(2, 2), *structures(2, 3), *structures(3, 2), *structures(3, 3)]
SAMPLE = [*structures(2, 2), *structures(3, 2), *random_structures(60)]


def test_clauses_equal_a_search_over_all_sets_of_observed_variables():
    for structure in [*SMALL, *random_structures(150), EXAMPLE_5]:
        true = Defined(structure.support)
        assert certify(structure).clauses == tuple(map(true.clauses, range(true.n)))


def test_every_witness_is_one():
    for structure in [*SMALL[::2], *random_structures(100, seed=1), EXAMPLE_5]:
        certificate, true = certify(structure), Defined(structure.support)
        for i, found in enumerate(certificate.witnesses):
            assert found.keys() == certificate.clauses[i]
            assert all(true.meets(i, a, clause) for clause, a in found.items())


@pytest.mark.parametrize("structure", SAMPLE, ids=lambda s: str(s.support.astype(int).tolist()))
def test_the_relation_of_the_paper_equals_definition_5_over_all_pairs_of_sets(structure):
    found = Defined(structure.support).cases
    certificate = certify(structure)
    assert pairs_of(certificate.separated_in_paper) == found["i"] | found["ii"] | found["iii"]
    assert pairs_of(~certificate.may_depend) == found["i"]  # case (i) is exactly what can be proved
    assert found["iii"] <= found["i"] and found["ii"] == {(j, i) for i, j in found["i"]}


def test_blocks_are_the_atoms_and_independence_frees_single_ones_only():
    for structure in SMALL:
        certificate, independent = certify(structure), certify(structure, independent_latents=True)
        assert set(certificate.blocks) == set(structure.atoms().values())
        for block in certificate.blocks:
            for i in block:
                expected = {i} if len(block) == 1 else set(np.flatnonzero(structure.contained()[i]))
                assert set(np.flatnonzero(independent.may_depend[i])) == expected


def test_levels_follow_from_the_relations():
    for structure in SMALL:
        for independent in [False, True]:
            certificate = certify(structure, independent_latents=independent)
            for i, level in enumerate(certificate.levels):
                unique = (~certificate.separated_in_paper[i]).sum() == 1
                alone = certificate.may_depend[i].sum() == 1
                assert level == ("element" if alone else "element if independent" if unique else "block")
                assert (3 in certificate.clauses[i]) <= (level == "element")
            assert bool(certificate) == all(level == "element" for level in certificate.levels)


def test_example_5_of_the_paper():
    certificate = certify(EXAMPLE_5)
    ups = [{0, 3, 4, 6}, {1, 3, 5, 6}, {2, 4, 5, 6}, {3, 6}, {4, 6}, {5, 6}, {6}]
    found = Defined(EXAMPLE_5.support).cases
    assert [set(np.flatnonzero(row)) for row in certificate.may_depend] == ups
    assert certificate.clauses == tuple(map(frozenset, [{1}, {1}, {1}, {2}, {2}, {2}, {3}]))
    assert len(certificate.blocks) == 7 and certificate.separated_in_paper.sum() == 42
    assert (~certificate.may_depend).sum() == 30
    assert [len(found[case]) for case in ("i", "ii", "iii")] == [30, 30, 18]
    assert [certificate.witnesses[i][2] for i in (3, 4, 5)] == [{0, 1, 2}] * 3
    assert certificate.levels == ("element if independent",) * 6 + ("element",)
    assert not certificate and certify(EXAMPLE_5, independent_latents=True)
    assert any("groups" in reason for reason in certificate.reasons)  # 7 latents need more than 3 numbers


@pytest.mark.parametrize(("n", "expected"), [(3, (247, 192, 192, 12)), (4, (37_823, 28_824, 27_960, 600))])
def test_counts_of_square_structures_with_a_perfect_matching(n, expected):
    """Columns may be reordered freely, so count multisets of columns with their number of orders."""
    columns = [c for c in itertools.product([0, 1], repeat=n) if any(c)]
    counts = np.zeros(4, dtype=int)
    for chosen in itertools.combinations_with_replacement(columns, n):
        structure = Structure(np.array(chosen).T)
        if not structure.is_injective():
            continue
        orders = factorial(n) // prod(factorial(k) for k in Counter(chosen).values())
        certificate = certify(structure)
        distinct = len(certificate.blocks) == n
        diverse_enough = all(certificate.clauses)
        sparse = all(3 in met for met in certificate.clauses)
        counts += orders * np.array([True, distinct, diverse_enough, sparse])
    assert tuple(counts.tolist()) == expected


@pytest.mark.parametrize("n", [3, 4, 6])
def test_complement_identity_meets_every_clause(n):
    certificate = certify(complement_identity(n))
    assert certificate.clauses == (frozenset({1, 2, 3}),) * n and certificate


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_chain_of_columns(n):
    """Columns of the triangular structure shrink from the first, which is the largest, to the last."""
    certificate = certify(triangular(n, n))
    for i in range(n):
        assert set(np.flatnonzero(certificate.may_depend[i])) == set(range(i + 1))
        assert (3 in certificate.clauses[i]) == (i == 0)
        assert (1 in certificate.clauses[i]) == (i == n - 1)
        assert (2 in certificate.clauses[i]) == (i > 0)


@pytest.mark.parametrize("n", [2, 4])
def test_a_dense_structure_is_one_block_and_nothing_passes(n):
    certificate = certify(dense(n, n), independent_latents=True)
    assert certificate.blocks == (frozenset(range(n)),) and certificate.may_depend.all()
    assert certificate.clauses == (frozenset(),) * n and certificate.levels == ("block",) * n
    assert not certificate and not certificate.separated_in_paper.any()


def test_distinct_columns_do_not_imply_sufficient_diversity():
    structure = Structure(np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 0, 1]]).T)
    certificate = certify(structure)
    assert len(certificate.blocks) == 4 and certificate.clauses[1] == frozenset()
    assert certify(structure, independent_latents=True)  # and yet independence identifies every latent


def test_one_latent_is_always_alone():
    assert certify(Structure([[1], [0]])).levels == ("element",)


@pytest.mark.parametrize(
    ("structure", "sparser", "warned", "warned_if_independent"),
    [
        (ring(3), False, True, True),
        (ring(4), True, True, False),  # x itself, as four dependent latents, needs 4 edges only
        (diverse(6, 3, random_state=0), True, True, False),
        (diverse(10, 5, random_state=0), True, False, False),
        (Structure(np.kron(np.eye(2, dtype=int), ring(3).support)), False, True, True),
        (dense(5, 5), False, True, True),
        (diverse(20, 5, random_state=0), True, True, True),  # too many orderings to exclude it
        (EXAMPLE_5, False, True, True),
    ],
)
def test_faithfulness_is_assumed_and_explained_unless_no_other_model_is_as_sparse(
    structure, sparser, warned, warned_if_independent
):
    for independent, told in [(False, warned), (True, warned_if_independent)]:
        certificate = certify(structure, independent_latents=independent)
        assert certificate.sparser_than_triangular is sparser
        assert any("faithfulness" in reason for reason in certificate.reasons) is told
        resting = [
            c for c in certificate.certificates if c.theorem != "DDL Assumption 2 (sufficient diversity)"
        ]
        assert len(resting) == 4 and all({FAITHFUL, MODEL, NONLINEAR} <= set(c.assumes) for c in resting)


def test_what_is_identified_and_what_is_missing():
    structure = Structure([[1, 1, 0, 0], [0, 1, 1, 1], [0, 1, 1, 1], [0, 1, 0, 0]])
    certificate = certify(structure)
    assert certificate.identifies == (
        "z1 is identified alone, up to order and an invertible function of each; z0, z2, z3 are identified "
        "up to a mixing with those latents that move all that they move."
    )
    assert (
        certificate.missing[0].endswith("would identify z0 alone") and "independent" in certificate.missing[0]
    )
    assert certificate.missing[2].startswith("observed variables that z2 moves, and z1, z3 do not")
    freed = certify(structure, independent_latents=True)
    assert "z0, z1 are identified alone" in freed.identifies
    assert not any("independent" in what for what in freed.missing)


@pytest.mark.parametrize("independent", [False, True])
def test_more_observed_variables_do_what_is_said(independent):
    """Add the variables that `missing` asks for: one that z_i moves and the latents mixed with it do not."""
    for structure in SMALL[::5]:
        before = certify(structure, independent_latents=independent)
        for i in (i for i, level in enumerate(before.levels) if level != "element"):
            mixed = np.flatnonzero(before.may_depend[i]).tolist()
            added = [j == i or j not in mixed for j in range(structure.n_latents)]
            after = certify(Structure([*structure.support, added]), independent_latents=independent)
            assert after.levels[i] == "element"


def test_every_latent_alone_leaves_nothing_to_ask_for():
    certificate = certify(diverse(10, 5, random_state=0))
    assert certificate and certificate.identifies.startswith("Every latent is identified alone")
    assert certificate.missing == () and certificate.unidentified == frozenset()


def test_not_identified_at_all():
    certificate = certify(Structure([[1, 1, 1], [1, 1, 1], [0, 0, 1]]), independent_latents=True)
    assert certificate.unidentified == {0, 1} and certificate.levels == ("block", "block", "element")
    assert certificate.reasons[0] == "z0 is not identified at all: every latent moves all that it moves."
    assert "z0, z1 are not identified at all" in certificate.identifies
    assert "2 not identified at all" in str(certificate) and "part of a block" not in str(certificate)
    assert certify(dense(2, 2)).identifies == "z0, z1 are not identified at all."


def test_groups_of_observed_variables_count_as_one():
    structure, groups = diverse(8, 4, random_state=0), ([0, 1, 2], [3, 4], [5], [6, 7])
    found, by_hand = certify(structure, groups=groups), certify(structure.group(groups))
    assert found.structure == by_hand.structure and found.groups == tuple(map(tuple, groups))
    assert np.array_equal(found.may_depend, by_hand.may_depend) and found.levels == by_hand.levels
    assert found.clauses == by_hand.clauses and found.to_dict()["groups"] == [list(group) for group in groups]
    assert any("between latents and groups" in word for word in found.certificates[0].assumes)
    assert not any("groups" in word for word in by_hand.certificates[0].assumes)
    with pytest.raises(ValueError, match="`groups` must hold each observed variable"):
        certify(structure, groups=[[0, 1], [2]])


def test_the_first_words_say_that_it_is_a_statement_about_a_structure():
    for structure in (ring(3), EXAMPLE_5, dense(2, 2), Structure([[1], [1]])):
        for answer in (certify(structure), explain(structure)):
            assert str(answer).startswith("If this structure is right, ")


def test_reasons_name_latents_and_children():
    certificate = certify(Structure([[1, 1, 0, 0], [0, 1, 1, 1], [0, 1, 1, 1]]))
    assert "z1 (moving all that it moves)" in certificate.reasons[0]
    assert "no other latent moves all of x0, x1, x2" in certificate.reasons[1]
    assert "within {z2, z3}" in certificate.reasons[2] and "z1" in certificate.reasons[2]


@pytest.mark.parametrize(("small", "mentioned"), [(0.35, True), (0.05, False)])
def test_a_narrow_margin_is_mentioned(small, mentioned):
    certificate = certify(Structure.from_jacobian([[1.0, small], [0.6, 1.0]], 0.4))
    assert certificate.structure.n_edges == 3
    assert any(f"margin of {0.6 / small:.2f}" in reason for reason in certificate.reasons) is mentioned


def test_certificates_agree_with_levels_and_clauses():
    for structure in SMALL[::7]:
        for independent in [False, True]:
            certificate = certify(structure, independent_latents=independent)
            by_name = {c.theorem.split(" (")[0]: c for c in certificate.certificates}
            assert by_name["DDL Theorem 2"] and by_name["DDL Theorem 1, cases"]
            assert bool(by_name["DDL Theorem 3"]) == bool(certificate)
            assert bool(by_name["DDL Assumption 2"]) == all(certificate.clauses)
            proved = not (certificate.separated_in_paper & certificate.may_depend).any()
            assert bool(by_name["DDL Theorem 1, case"]) == proved


def test_a_childless_latent_is_refused():
    with pytest.raises(ValueError, match="got none for z1, z2"):
        certify(Structure([[1, 0, 0], [1, 0, 0]]))


def test_matrices_are_read_only():
    certificate = certify(ring(3))
    for matrix in [certificate.may_depend, certificate.separated_in_paper]:
        assert matrix.dtype == bool and matrix.shape == (3, 3)
        with pytest.raises(ValueError, match="read-only"):
            matrix[0, 0] = False


def test_dict_and_text_hold_the_same_answers():
    certificate = certify(EXAMPLE_5)
    document = json.loads(json.dumps(certificate.to_dict()))
    assert document["blocks"] == [[j] for j in range(7)] and document["levels"] == list(certificate.levels)
    assert document["may_depend"] == certificate.may_depend.tolist()
    assert document["clauses"][3] == [2] and document["witnesses"][3] == {"2": [0, 1, 2]}
    assert document["certificates"][3]["holds"] is True
    text = str(certificate)
    assert all(reason in text for reason in certificate.reasons) and "1 identified alone" in text


def test_stored_timings_meet_their_goals_and_are_the_ones_shown():
    root = Path(__file__).parents[2]
    stored = json.loads((root / "benchmarks/results/certify.json").read_text(encoding="utf-8"))
    assert all(goal["met"] and goal["measured"] < goal["goal"] for goal in stored["goals"].values())
    page = (root / "docs/results.md").read_text(encoding="utf-8").partition("<!-- certify -->")[2]
    for row in (row for row in stored["rows"] if (row["d_x"], row["d_z"]) == (10_000, 1_000)):
        shown = f"| {row['milliseconds']:.0f} ms | {row['processor_milliseconds']:.0f} ms | 2 s |"
        assert shown in page
    assert f"{stored['peak_gigabytes']:.2f} GB" in page


def test_large_structures_take_seconds_at_most():
    rng = np.random.default_rng(0)
    support = rng.random((2000, 400)) < 0.02
    certificate = certify(Structure(support | (np.arange(2000)[:, None] % 400 == np.arange(400))))
    assert len(certificate.levels) == 400 and len(certificate.reasons) >= 400
