"""Structural Hamming distance and classes of graphs, against enumeration of all small graphs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmix.metrics import cpdag, shd

CHAIN, FORK = [[0, 1, 0], [0, 0, 1], [0, 0, 0]], [[0, 0, 0], [1, 0, 1], [0, 0, 0]]
COLLIDER = [[0, 1, 0], [0, 0, 0], [0, 1, 0]]


def acyclic(edges):
    return not np.trace(sum(np.linalg.matrix_power(edges, k) for k in range(1, len(edges) + 1)))


def all_dags(n):
    pairs = list(itertools.combinations(range(n), 2))
    for marks in itertools.product(range(3), repeat=len(pairs)):
        edges = np.zeros((n, n), dtype=int)
        for (i, j), mark in zip(pairs, marks, strict=True):
            edges[i, j], edges[j, i] = mark == 1, mark == 2
        if acyclic(edges):
            yield edges


def signature(edges):
    """The skeleton and the v-structures, which make a Markov class (Verma and Pearl)."""
    skeleton = edges | edges.T
    n = len(edges)
    colliders = {
        (frozenset((a, b)), c)
        for a, b, c in itertools.permutations(range(n), 3)
        if edges[a, c] and edges[b, c] and not skeleton[a, b]
    }
    return skeleton.tobytes(), frozenset(colliders)


def test_there_are_543_graphs_of_four_nodes_and_each_class_is_the_union_of_its_members():
    classes, n_dags = {}, 0
    for edges in all_dags(4):
        classes.setdefault(signature(edges), []).append(edges)
        n_dags += 1
    assert n_dags == 543 and len(classes) == 185
    for members in classes.values():
        union = np.bitwise_or.reduce(members)
        for edges in members:
            np.testing.assert_array_equal(cpdag(edges), union)


def test_the_third_rule_is_needed():
    dag = np.zeros((4, 4), dtype=int)  # b -> d <- c a collider, a joined to all: a -> d is compelled
    dag[1, 3] = dag[2, 3] = dag[0, 3] = dag[0, 1] = dag[0, 2] = 1
    found = cpdag(dag)
    assert found[0, 3] == 1 and found[3, 0] == 0 and found[0, 1] == found[1, 0] == 1


def by_pairs(a, b, reversal):
    total = 0
    for i, j in itertools.combinations(range(len(a)), 2):
        one, other = (a[i, j], a[j, i]), (b[i, j], b[j, i])
        turned = {one, other} == {(0, 1), (1, 0)}
        total += 0 if one == other else reversal if turned else 1
    return total


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2]), st.integers(1, 6))
def test_pairs_of_nodes_are_counted_as_said(seed, reversal, n):
    rng = np.random.default_rng(seed)
    a, b = (relabelled_dag(n, rng) for _ in range(2))
    assert shd(a, b, reversal=reversal) == by_pairs(a, b, reversal)
    classes = cpdag(a), cpdag(b)
    assert shd(a, b, compare="cpdag", reversal=reversal) == by_pairs(*classes, reversal)
    assert shd(*classes, reversal=reversal) == by_pairs(*classes, reversal)


@given(st.integers(0, 2**32 - 1))
def test_it_is_a_distance(seed):
    rng = np.random.default_rng(seed)
    a, b, c = (relabelled_dag(4, rng) for _ in range(3))
    assert shd(a, a) == 0 and shd(a, b) == shd(b, a) and shd(a, c) <= shd(a, b) + shd(b, c)
    order = rng.permutation(4)
    assert shd(a[np.ix_(order, order)], b[np.ix_(order, order)]) == shd(a, b)


def relabelled_dag(n, rng):
    order = rng.permutation(n)
    return np.triu(rng.random((n, n)) < 0.5, 1).astype(int)[np.ix_(order, order)]


def test_graphs_of_one_class_are_at_distance_zero_as_classes():
    assert shd(CHAIN, FORK) == 1 and shd(CHAIN, FORK, reversal=2) == 2
    assert shd(CHAIN, FORK, compare="cpdag") == 0
    assert shd(CHAIN, COLLIDER, compare="cpdag") == 2
    assert shd(cpdag(CHAIN), CHAIN) == 2 and shd(cpdag(CHAIN), CHAIN, compare="cpdag") == 0
    assert type(shd(CHAIN, FORK)) is float


@pytest.mark.parametrize(
    ("true", "estimated", "change", "words"),
    [
        (CHAIN, [[0, 1], [0, 0]], {}, "`estimated` must have 3 nodes"),
        ([[0, 1, 0]], CHAIN, {}, "`true` must be a square matrix"),
        (CHAIN, [[0, 0.5, 0], [0, 0, 0], [0, 0, 0]], {}, "zeros and ones"),
        (CHAIN, np.eye(3), {}, "no loop"),
        ([[0, 1, 0], [0, 0, 1], [1, 0, 0]], CHAIN, {}, "no directed cycle"),
        (CHAIN, CHAIN, {"compare": "skeleton"}, "`compare` must be"),
        (CHAIN, CHAIN, {"reversal": 3}, "`reversal`"),
    ],
)
def test_bad_graphs_are_named(true, estimated, change, words):
    with pytest.raises(ValueError, match=words):
        shd(true, estimated, **change)


def test_the_class_of_a_class_is_refused():
    with pytest.raises(ValueError, match="directed edges only"):
        cpdag(cpdag(CHAIN))
