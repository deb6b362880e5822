"""`certify_domains` against counts from the definitions, and against certificates for one domain."""

import itertools
import json

import numpy as np
import pytest

from brute_force import random_supports
from unmix.structure import Structure, dense, diverse, triangular
from unmix.theory import certify, certify_domains, sufficient_changes

SPARSE = Structure([[1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])  # z_i moves x_i and x_i+1
PARTIAL = Structure([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
NESTED = Structure(np.triu(np.ones((4, 4))))  # z_i moves x_1 to x_i
DENSE = dense(4, 4)
TWINS = Structure([[1, 1, 1], [0, 0, 1]])


def children(structure):
    return [structure.influence(i) for i in range(structure.n_latents)]


DRAWN = map(Structure, random_supports(30, (1, 6), (1, 6), densest=0.9))
RANDOM = [*DRAWN, SPARSE, PARTIAL, NESTED, DENSE, TWINS, diverse(5, 3)]


@pytest.mark.parametrize(
    ("structure", "neighbours", "first", "second"),
    [
        (SPARSE, [set(), set(), set(), set()], 2, 1),
        (PARTIAL, [{1}, set(), set(), {2}], 2, 3),
        (NESTED, [{1, 2, 3}, {2, 3}, {3}, set()], 4, 7),
        (DENSE, [{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}], 4, 9),
    ],
)
def test_counts_of_named_graphs(structure, neighbours, first, second):
    certificate = certify_domains(structure, 2)
    assert [plan.neighbours for plan in certificate.plan] == neighbours
    assert (certificate.first_order, certificate.second_order) == (first, second)


def test_counts_are_those_of_the_definitions():
    for structure in RANDOM:
        ch, n = children(structure), structure.n_latents
        certificate = certify_domains(structure, 3)
        shared = [
            sum(ch[i] <= ch[j] & ch[k] for i in range(n)) for j, k in itertools.combinations(range(n), 2)
        ]
        assert certificate.second_order == 1 + 2 * max(shared, default=0)
        assert certificate.first_order == max(len(structure.parents(k)) for k in range(structure.n_observed))
        for plan in certificate.plan:
            i = plan.latent
            assert plan.neighbours == {k for k in range(n) if k != i and ch[i] <= ch[k]}
            assert plan.block == {k for k in range(n) if ch[i] == ch[k]}
            size = len(plan.neighbours) + 1
            assert plan.needed_in_paper == (1 if size == 1 else 2 * size + 1)
            assert plan.needed <= plan.needed_in_paper


def test_one_domain_identifies_what_independence_does():
    for structure in RANDOM:
        alone = certify(structure, independent_latents=True)
        certificate = certify_domains(structure, 1)
        assert [level == "component" for level in certificate.levels] == [
            x == "element" for x in alone.levels
        ]
        assert np.array_equal(certificate.may_depend, alone.may_depend)


def test_needed_domains_are_just_enough():
    for structure in RANDOM:
        for plan in certify_domains(structure, 1).plan:
            i = plan.latent
            assert certify_domains(structure, plan.needed).levels[i] == "component"
            assert certify_domains(structure, plan.needed_in_paper).plan[i].level_in_paper == "component"
            if plan.needed > 1:
                short = certify_domains(structure, plan.needed - 1).plan[i]
                assert (short.level, short.more) == ("subspace", 1)
            if plan.needed_in_paper > 1:
                before = certify_domains(structure, plan.needed_in_paper - 1).plan[i]
                assert before.level_in_paper == "subspace"


def test_more_domains_make_every_latent_a_component():
    for structure in RANDOM:
        few = certify_domains(structure, 2)
        enough = certify_domains(structure, 2 + few.more_domains)
        assert enough and enough.more_domains == 0
        assert enough.identifies.startswith("Every latent is identified alone")


def test_dense_mixing_needs_the_classical_number():
    assert not certify_domains(DENSE, 8) and certify_domains(DENSE, 9)
    assert certify_domains(DENSE, 8).missing == ("1 more domain for {z0, z1, z2, z3}",)


def test_known_changes_replace_the_count():
    rng = np.random.default_rng(0)
    means = rng.uniform(-4, 4, (9, 4))
    still = sufficient_changes(DENSE, means=means, variances=np.ones((9, 4)))
    certificate = certify_domains(DENSE, changes=still)
    assert certificate.levels == ("subspace",) * 4
    assert certificate.more_domains == 4  # nine domains, but only four directions of eight
    moving = sufficient_changes(DENSE, means=means, variances=rng.uniform(0.2, 2, (9, 4)))
    assert certify_domains(DENSE, changes=moving)
    assert certify_domains(DENSE, changes=moving).certificates[:2] == moving.certificates


def test_only_the_block_has_to_change():
    """z_0 and z_1 change in all directions, z_2 not at all: the count of the paper fails, blocks do."""
    rng = np.random.default_rng(0)
    means, variances = rng.uniform(-4, 4, (6, 3)), rng.uniform(0.2, 2, (6, 3))
    means[:, 2], variances[:, 2] = 0, 1
    certificate = certify_domains(TWINS, changes=sufficient_changes(TWINS, means=means, variances=variances))
    assert certificate.levels == ("component",) * 3
    assert [plan.level_in_paper for plan in certificate.plan] == ["subspace", "subspace", "component"]


def test_marginal_of_a_subspace_leaves_only_the_block_in_the_second_order_equations():
    """I_jl within the subspace of i, for j in the block of i, is that block: what `needed` counts."""
    for structure in RANDOM:
        ch, n = children(structure), structure.n_latents
        for plan in certify_domains(structure, 1).plan:
            subspace = plan.neighbours | {plan.latent}
            for j, k in itertools.product(plan.block, subspace):
                if j != k:
                    assert {i for i in range(n) if ch[i] <= ch[j] & ch[k]} & subspace == plan.block


def test_latents_in_words():
    first, second, third = certify_domains(TWINS, 3).reasons
    assert first == (
        "z0 is identified only within {z0, z1}, which have the same children, mixed with z2 too: "
        "2 more domains would do."
    )
    assert second.startswith("z1 is identified only within")
    assert third == "z2 is identified alone by sparse mixing: no other latent moves all that it moves."
    assert "Theorem 2 counts 5 domains" in certify_domains(PARTIAL, 2).reasons[0]


def test_what_is_believed_is_said():
    theorem = certify_domains(DENSE, 9).certificates[2]
    assert any("independent within each domain" in believed for believed in theorem.assumes)
    assert any("nonlinearity" in believed for believed in theorem.assumes)
    assert any("faithfulness" in believed for believed in theorem.assumes)  # a triangular model is sparser
    counted = certify_domains(DENSE, 9).certificates[1]
    assert any("as many directions as their number allows" in believed for believed in counted.assumes)


def test_what_changes_are_believed_to_do_is_said_where_a_latent_needs_them():
    words = "as many directions as their number allows"

    def believed(structure, n_domains):
        found = certify_domains(structure, n_domains).certificates[2:]
        return [any(words in each for each in theorem.assumes) for theorem in found]

    assert believed(SPARSE, 1) == [False, False, False]  # sparse mixing does it all
    assert believed(NESTED, 1) == [False, True, False]  # by blocks, independence does the rest
    assert believed(TWINS, 5) == [False, True, True] and certify_domains(TWINS, 5)
    u = np.repeat(np.arange(6), 400)
    z = np.random.default_rng(0).normal(size=(len(u), 3)) * (1 + u % 3)[:, None] + u[:, None]
    fitted = certify_domains(TWINS, changes=sufficient_changes(TWINS, z=z, u=u)).certificates[-1]
    assert any("Gaussian latents within each domain" in word for word in fitted.assumes)
    assert any("one decoder for all domains" in word for word in fitted.assumes)


def test_reports_are_readable_and_plain():
    certificate = certify_domains(TWINS, 3)
    plain = json.loads(json.dumps(certificate.to_dict(), allow_nan=False))
    assert plain["plan"][0] == {
        "latent": 0,
        "level": "subspace",
        "level_in_paper": "subspace",
        "neighbours": [1, 2],
        "block": [0, 1],
        "needed": 5,
        "needed_in_paper": 7,
        "more": 2,
    }
    assert str(certificate).startswith("3 latents, 2 observed variables, 3 domains.")


CHANGES = sufficient_changes(dense(2, 2), means=np.zeros((3, 2)), variances=np.ones((3, 2)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"structure": TWINS}, "`n_domains` must be at least 1, got None"),
        ({"structure": TWINS, "n_domains": 0}, "`n_domains` must be at least 1, got 0"),
        ({"structure": Structure([[1, 0]]), "n_domains": 2}, "every latent a child, got none for z1"),
        ({"structure": TWINS, "changes": CHANGES}, "`changes` must be of the 3 latents"),
        (
            {"structure": dense(2, 2), "changes": CHANGES, "n_domains": 4},
            "`n_domains` must agree with `changes`",
        ),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        certify_domains(**arguments)


@pytest.mark.parametrize("wrong", [2.5, "3", True])
def test_half_a_domain_is_refused(wrong):
    with pytest.raises(TypeError, match="`n_domains` must hold whole numbers"):
        certify_domains(TWINS, wrong)


def test_triangular_mixing_counts_more_in_the_paper_than_it_needs():
    certificate = certify_domains(triangular(4, 4), 1)
    assert certificate
    assert sorted(plan.needed_in_paper for plan in certificate.plan) == [1, 5, 7, 9]
