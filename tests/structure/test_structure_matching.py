"""Matching against a search over all permutations; injectivity against the rank of generic matrices."""

import itertools

import numpy as np
import pytest

from unmix.structure import Structure


def random_supports(shape, count, seed, density=0.5):
    return np.random.default_rng(seed).random((count, *shape)) < density


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (4, 4), (5, 4)])
def test_match_equals_the_best_of_all_permutations(shape):
    a_all, b_all = random_supports(shape, 20, 0), random_supports(shape, 20, 1)
    for a, b in zip(map(Structure, a_all), map(Structure, b_all), strict=True):
        best = min((a ^ b.permute(order)).n_edges for order in itertools.permutations(range(shape[1])))
        match = a.match(b)
        assert match.distance == best == a.hamming(b)
        assert (a ^ b.permute(match.order)).n_edges == best


def test_match_refuses_other_shapes():
    with pytest.raises(ValueError, match="must have shape"):
        Structure([[1, 0]]).match(Structure([[1, 0, 1]]))


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (4, 3), (2, 3)])
def test_injective_iff_a_generic_matrix_with_this_support_has_full_column_rank(shape):
    rng = np.random.default_rng(0)
    for support in random_supports(shape, 60, 2):
        generic = support * rng.normal(size=shape)
        assert Structure(support).is_injective() == (np.linalg.matrix_rank(generic) == shape[1])


def test_an_empty_column_or_too_few_rows_are_not_injective():
    assert not Structure([[1, 0], [1, 0]]).is_injective()
    assert not Structure([[1, 1]]).is_injective()
    assert Structure([[0, 1], [1, 0], [0, 0]]).is_injective()
