"""Laws of structures: a Boolean algebra on edges, and sets that do not care about names."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unmix.structure import Structure


@st.composite
def structures(draw, count=1):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 5)))
    bits = st.lists(st.booleans(), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    drawn = tuple(Structure(np.reshape(draw(bits), shape)) for _ in range(count))
    return drawn if count > 1 else drawn[0]


@given(structures(count=3))
def test_edges_form_a_boolean_algebra(abc):
    a, b, c = abc
    assert a & (b | c) == (a & b) | (a & c)
    assert a | (b & c) == (a | b) & (a | c)
    assert ~(a & b) == ~a | ~b and ~(a | b) == ~a & ~b
    assert a - b == a & ~b and a ^ b == (a | b) - (a & b) == (a - b) | (b - a)
    assert ~~a == a and (a & a) == (a | a) == a
    assert (a ^ b) ^ b == a


@given(structures(count=2))
def test_containment_of_edges_is_a_partial_order_that_fits_the_operators(ab):
    a, b = ab
    assert a & b <= a <= a | b
    assert (a <= b) == (a & b == a) == (a | b == b)
    assert (a <= b and b <= a) == (a == b)
    assert a != b or hash(a) == hash(b)


@given(structures(count=2), st.randoms())
def test_index_sets_of_unions_of_rows(ab, random):
    s, _ = ab
    rows = [i for i in range(s.n_observed) if random.random() < 0.5]
    others = [i for i in range(s.n_observed) if random.random() < 0.5]
    assert s.latents(rows + others) == s.latents(rows) | s.latents(others)
    assert s.common_parents(rows + others) == s.common_parents(rows) & s.common_parents(others)


@given(structures(), st.randoms())
def test_relabelling_latents_relabels_every_answer(s, random):
    order = random.sample(range(s.n_latents), s.n_latents)
    t = s.permute(order)
    assert [t.influence(j) for j in range(s.n_latents)] == [s.influence(k) for k in order]
    assert np.array_equal(t.contained(), s.contained()[np.ix_(order, order)])
    assert {
        children: frozenset(order[j] for j in members) for children, members in t.atoms().items()
    } == s.atoms()
    assert t.is_injective() == s.is_injective()
    assert s.hamming(t) == 0 and t.permute(s.match(t).order) == s


@given(structures(), st.randoms())
def test_the_order_of_observed_variables_does_not_matter(s, random):
    order = random.sample(range(s.n_observed), s.n_observed)
    t = s.permute_rows(order)
    assert np.array_equal(t.contained(), s.contained())
    assert sorted(map(sorted, t.atoms().values())) == sorted(map(sorted, s.atoms().values()))
    assert t.is_injective() == s.is_injective()


@given(structures(count=3))
def test_hamming_distance_up_to_relabelling_is_a_metric_on_classes(abc):
    a, b, c = abc
    assert a.hamming(b) == b.hamming(a) <= (a ^ b).n_edges
    assert a.hamming(c) <= a.hamming(b) + b.hamming(c)
    order = b.match(a).order
    assert (b ^ a.permute(order)).n_edges == b.hamming(a)


@given(structures())
def test_containment_is_a_preorder_whose_classes_are_the_atoms(s):
    below = s.contained()
    assert below.diagonal().all()
    assert not ((below.astype(int) @ below.astype(int) > 0) & ~below).any()
    same = below & below.T
    assert all(
        set(np.flatnonzero(same[j])) == set(members) for members in s.atoms().values() for j in members
    )


@given(structures())
def test_groups_of_one_change_nothing_and_one_group_joins_all(s):
    assert s.group([[i] for i in range(s.n_observed)]) == s
    assert s.group([range(s.n_observed)]).parents(0) == s.latents(range(s.n_observed))


@given(structures(), st.floats(0.05, 20), st.randoms())
def test_the_sign_and_size_of_derivatives_do_not_matter(s, unit, random):
    signs = np.array([[random.choice([-1, 1]) for _ in row] for row in s.support])
    assert Structure.from_jacobian(s.support * signs * unit) == s
