"""Laws of certificates: verdicts do not depend on names, order or repetition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag

from unmix.structure import Structure
from unmix.theory import between, certify, identify, stability, triangular_alternative


@st.composite
def structures(draw):
    n_observed, n_latents = draw(st.integers(1, 7)), draw(st.integers(1, 6))
    bits = draw(st.lists(st.booleans(), min_size=n_observed * n_latents, max_size=n_observed * n_latents))
    support = np.reshape(bits, (n_observed, n_latents))
    support[0] |= ~support.any(0)  # every latent has a child
    return Structure(support)


@st.composite
def sparse_structures(draw):
    """At most three parents for each of up to 9 variables: other models are excluded for a good share."""
    n_latents = draw(st.integers(1, 5))
    parents = st.sets(st.integers(0, n_latents - 1), min_size=1, max_size=3)
    rows = draw(st.lists(parents, min_size=n_latents, max_size=9))
    support = np.array([[j in row for j in range(n_latents)] for row in rows])
    return Structure(support[:, support.any(0)])


@given(structures(), st.randoms(), st.booleans())
def test_relabelling_latents_relabels_the_verdicts(structure, random, independent):
    order = random.sample(range(structure.n_latents), structure.n_latents)
    before = certify(structure, independent_latents=independent)
    after = certify(structure.permute(order), independent_latents=independent)
    assert np.array_equal(after.may_depend, before.may_depend[np.ix_(order, order)])
    assert np.array_equal(after.separated_in_paper, before.separated_in_paper[np.ix_(order, order)])
    assert list(after.levels) == [before.levels[j] for j in order]
    assert list(after.clauses) == [before.clauses[j] for j in order]
    assert {frozenset(order[j] for j in block) for block in after.blocks} == set(before.blocks)


@given(structures(), st.randoms(), st.booleans())
def test_the_order_of_observed_variables_does_not_matter(structure, random, independent):
    order = random.sample(range(structure.n_observed), structure.n_observed)
    before = certify(structure, independent_latents=independent)
    after = certify(structure.permute_rows(order), independent_latents=independent)
    assert np.array_equal(after.may_depend, before.may_depend)
    assert (after.levels, after.clauses, after.blocks) == (before.levels, before.clauses, before.blocks)


@given(structures(), st.randoms())
def test_repeating_observed_variables_changes_no_verdict(structure, random):
    extra = [random.randrange(structure.n_observed) for _ in range(3)]
    repeated = Structure(np.vstack([structure.support, structure.support[extra]]))
    before, after = certify(structure), certify(repeated)
    assert np.array_equal(after.may_depend, before.may_depend)
    assert (after.levels, after.clauses, after.blocks) == (before.levels, before.clauses, before.blocks)


@given(structures())
def test_grouping_observed_variables_never_separates_more(structure):
    half = structure.n_observed // 2
    groups = (
        [list(range(half)), list(range(half, structure.n_observed))]
        if half
        else [[*range(structure.n_observed)]]
    )
    assert (certify(structure).may_depend <= certify(structure.group(groups)).may_depend).all()


@given(structures())
def test_what_is_proved_is_part_of_what_the_paper_states_and_independence_only_helps(structure):
    plain, independent = certify(structure), certify(structure, independent_latents=True)
    assert (~plain.may_depend <= plain.separated_in_paper).all()
    assert (independent.may_depend <= plain.may_depend).all()
    assert (~independent.may_depend <= independent.separated_in_paper).all()
    assert plain.may_depend.diagonal().all() and not plain.separated_in_paper.diagonal().any()
    assert np.array_equal(plain.separated_in_paper, plain.separated_in_paper.T)


@given(structures())
def test_what_may_depend_is_a_preorder(structure):
    related = certify(structure).may_depend.astype(int)
    assert not ((related @ related > 0) & (related == 0)).any()


@given(structures(), st.randoms())
def test_index_sets_their_intersections_and_unions_are_closed_upwards(structure, random):
    a, b = ([i for i in range(structure.n_observed) if random.random() < 0.6] or [0] for _ in range(2))
    found = between(structure, a, b)
    may_depend = certify(structure).may_depend
    for block in [found.latents_a, found.latents_b, found.intersection, found.union]:
        outside = sorted(set(range(structure.n_latents)) - block)
        assert not may_depend[np.ix_(sorted(block), outside)].any()


@given(structures(), st.randoms(), st.booleans())
def test_new_variables_that_repeat_a_pattern_change_no_answer_about_sets(structure, random, independent):
    extra = [random.randrange(structure.n_observed) for _ in range(2)]
    repeated = Structure(np.vstack([structure.support, structure.support[extra]]))
    a, b = ([random.randrange(structure.n_observed)] for _ in range(2))
    for ask in (between, lambda s, a, b, **how: identify(s, "A - B", A=a, B=b, **how)):
        before, after = (ask(s, a, b, independent_latents=independent) for s in (structure, repeated))
        assert [bool(found) for found in before.certificates] == [bool(found) for found in after.certificates]
        joined = ask(
            repeated, [*a, *(structure.n_observed + k for k, row in enumerate(extra) if row in a)], b
        )
        assert bool(joined) == bool(ask(structure, a, b))


@given(structures(), st.randoms(), st.booleans())
def test_relabelling_leaves_the_triangular_alternative(structure, random, independent):
    order = random.sample(range(structure.n_latents), structure.n_latents)
    rows = random.sample(range(structure.n_observed), structure.n_observed)
    moved = structure.permute(order).permute_rows(rows)
    before, after = (triangular_alternative(s, independent_latents=independent) for s in (structure, moved))
    assert (before.edges, before.copy_edges, before.exact) == (after.edges, after.copy_edges, after.exact)


def excluded(support, independent):
    return bool(triangular_alternative(Structure(support), independent_latents=independent))


@given(sparse_structures(), sparse_structures(), st.booleans())
def test_other_models_of_a_joined_structure_are_excluded_iff_those_of_each_part_are(a, b, independent):
    both = block_diag(a.support, b.support)
    parts = [excluded(part.support, independent) for part in (a, b)]
    assert excluded(both, independent) == all(parts)


@given(sparse_structures(), st.randoms(), st.booleans())
def test_what_is_not_excluded_for_some_latents_is_not_for_all(structure, random, independent):
    """Also if the others are connected with these: they stay as they are."""
    some = random.sample(range(structure.n_latents), random.randint(1, structure.n_latents))
    assert excluded(structure.support, independent) <= excluded(structure.support[:, some], independent)


@given(sparse_structures(), st.randoms(), st.booleans())
def test_a_child_of_one_latent_alone_never_hurts(structure, random, independent):
    child = np.arange(structure.n_latents) == random.randrange(structure.n_latents)
    more = np.vstack([structure.support, child])
    assert excluded(structure.support, independent) <= excluded(more, independent)


@given(structures(), st.randoms(), st.booleans())
def test_a_region_and_its_verdict_follow_the_labels(structure, random, independent):
    order = random.sample(range(structure.n_latents), structure.n_latents)
    a, b = ([i for i in range(structure.n_observed) if random.random() < 0.5] or [0] for _ in range(2))
    for expression in ("A & B", "A - B", "~A ^ B"):
        before, after = (
            identify(s, expression, A=a, B=b, independent_latents=independent)
            for s in (structure, structure.permute(order))
        )
        assert {order[j] for j in after.latents} == before.latents and bool(after) == bool(before)


@given(structures(), st.randoms(), st.booleans())
def test_relabelled_copies_of_one_structure_are_perfectly_stable(structure, random, independent):
    copies = [
        structure.permute(random.sample(range(structure.n_latents), structure.n_latents)) for _ in range(3)
    ]
    found = stability([structure, *copies], reference=structure, independent_latents=independent)
    certificate = certify(structure, independent_latents=independent)
    assert np.array_equal(found.frequencies, structure.support) and found
    assert np.array_equal(found.separated, ~certificate.may_depend) and set(found.support) == {1.0}
