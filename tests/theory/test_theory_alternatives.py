"""Alternatives against brute force: every set of latents, every order, every choice of observed variables.

Weights are floats here and residues in the library; nothing but `contained` is shared. A model is z = T ẑ
with the decoder W T: it counts if it has fewer edges than the truth, or mixes what the structure separates.
"""

import itertools

import numpy as np
import pytest

from brute_force import random_supports, representatives
from unmix.structure import Structure, dense, diverse, ring
from unmix.theory import certify, triangular_alternative
from unmix.theory.sparsity import _replacements
from unmix.theory.sparsity._modular import PRIME, determinants
from unmix.theory.sparsity._triangular import FAITHFUL, GENERIC

NESTED = Structure([[1, 1], [1, 0]])
CONNECTED = Structure([[1, 1, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 0, 1], [0, 1, 1, 1]])
DEPENDENT = Structure([[0, 1, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 0, 1]])


def weights_of(structure, seed=1):
    rng = np.random.default_rng(seed)
    return structure.support * rng.uniform(0.5, 2, structure.shape) * rng.choice([-1, 1], structure.shape)


def edges_of(decoder):
    return int((np.abs(decoder) > 1e-8).sum())


def counts(mixing, edges, structure):
    """Whether a model is sparser than the truth, or mixes more than the theorems leave open."""
    return edges < structure.n_edges or mixes(mixing, edges, structure)


def mixes(mixing, edges, structure):
    """Whether no relabelling fits z = T ẑ into what may be mixed."""
    allowed, n = structure.contained(), structure.n_latents
    support = np.abs(mixing) > 1e-8
    return not any(
        support[range(n), order].all() and not (support & ~allowed[:, np.argsort(order)]).any()
        for order in map(list, itertools.permutations(range(n)))
    )


def triangular_models(weights, smallest=1):
    """T for each set S of latents and each order of as many observed variables: S turned, the rest as is."""
    x, n = weights.shape
    for size in range(smallest, n + 1):
        for latents in itertools.combinations(range(n), size):
            for rows in itertools.permutations(range(x), size):
                chosen = weights[np.ix_(rows, latents)]
                if np.linalg.matrix_rank(chosen, tol=1e-8) == size:
                    mixing = np.eye(n)
                    mixing[np.ix_(latents, latents)] = np.linalg.qr(chosen.T)[0]
                    yield mixing


def copying_models(weights):
    """T for each set S of latents and as many observed variables in their place."""
    x, n = weights.shape
    for size in range(1, n + 1):
        for latents in itertools.combinations(range(n), size):
            for rows in itertools.combinations(range(x), size):
                inverse = np.eye(n)  # ẑ = inverse z
                inverse[list(latents)] = weights[list(rows)]
                if np.linalg.matrix_rank(inverse, tol=1e-8) == n:
                    yield np.linalg.inv(inverse)


def linear_models(weights, seed=2):
    """T of all independent directions, of each kind of direction that some set of rows is orthogonal to."""
    (x, n), rng, kinds = weights.shape, np.random.default_rng(seed), {}
    for size in range(x + 1):
        for rows in itertools.combinations(range(x), size):
            _, sizes, right = np.linalg.svd(weights[list(rows)])
            free = right[int((sizes > 1e-8).sum()) :]
            if len(free):
                direction = rng.normal(size=len(free)) @ free
                kinds[(np.abs(weights @ direction) > 1e-8).tobytes()] = direction
    chosen = np.array(list(itertools.combinations(range(len(kinds)), n)))
    mixings = np.array(list(kinds.values()))[chosen].transpose(0, 2, 1)
    return mixings[np.abs(np.linalg.det(mixings)) > 1e-8]


def fewest(models, structure, counts=counts):
    """The edges of the sparsest model that counts, or None."""
    weights, best = weights_of(structure), np.inf
    for mixing in models(weights):
        edges = edges_of(weights @ mixing)
        if edges < best and counts(mixing, edges, structure):
            best = edges
    return None if np.isinf(best) else best


def check(support):
    structure = Structure(support)
    found = triangular_alternative(structure)
    assert found.exact and found.complete
    assert found.edges == fewest(triangular_models, structure)
    assert found.copy_edges == fewest(copying_models, structure)


def injective(supports):
    return [support for support in supports if Structure(support).is_injective()]


def test_counts_equal_a_search_over_all_sets_and_orders():
    for support in injective(random_supports(100, (2, 6), (1, 5), seed=3)):
        check(support)


def all_at_once(weights):
    return triangular_models(weights, smallest=weights.shape[1])


def test_turning_a_block_is_no_other_model_but_saves_edges_for_one():
    """Of a connected structure, all latents together count in any case, some of them if they mix."""
    rng, blocks = np.random.default_rng(0), 0
    sparse = [1 - np.eye(3, dtype=int)[rng.integers(3, size=6)] for _ in range(12)]  # two parents of three
    supports = injective(np.column_stack([support, support[:, -1]]) for support in sparse)
    for structure in map(Structure, supports):
        found, mixed = triangular_alternative(structure), fewest(triangular_models, structure, mixes)
        known = [count for count in (mixed, fewest(all_at_once, structure)) if count is not None]
        assert found.mixing_edges == min(known, default=None)
        blocks += found.edges is not None and found.mixing_edges != found.edges
    assert blocks > 3


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(x, n) for x in range(1, 6) for n in range(1, min(x, 4) + 1)], ids=str)
def test_counts_equal_a_search_for_every_structure_up_to_5_x_4(shape):
    for support in injective(support for support, _ in representatives(*shape)):
        check(support)


def check_all_linear_models(support):
    structure = Structure(support)
    other = fewest(linear_models, structure)
    as_sparse = other is not None and other <= structure.n_edges
    assert triangular_alternative(structure).as_sparse == as_sparse
    if as_sparse:
        assert triangular_alternative(structure).copy_edges == other


def test_no_linear_model_is_as_sparse_unless_it_was_counted():
    for support in injective(random_supports(60, (2, 6), (2, 4), densest=0.7, seed=4)):
        check_all_linear_models(support)


@pytest.mark.slow
def test_no_linear_model_of_four_latents_is_as_sparse_unless_it_was_counted():
    for support in injective(random_supports(60, (4, 6), (4, 5), densest=0.7, seed=5)):
        check_all_linear_models(support)


@pytest.mark.parametrize(
    ("structure", "independent", "edges"), [(CONNECTED, True, 13), (DEPENDENT, False, 10), (NESTED, True, 3)]
)
def test_some_latents_replaced_are_as_sparse(structure, independent, edges):
    """In these all latents together can't be replaced as sparsely, or a part alone can."""
    found = triangular_alternative(structure, independent_latents=independent)
    assert found.fewest == edges == structure.n_edges and found.as_sparse and not found
    reasons = certify(structure, independent_latents=independent).reasons
    assert any("faithfulness" in reason for reason in reasons)


def test_the_order_and_the_latents_replaced_make_the_model_counted():
    for structure in (CONNECTED, NESTED, ring(4), diverse(8, 4, random_state=0)):
        found, weights = triangular_alternative(structure, independent_latents=True), weights_of(structure)
        mixing, at = np.eye(structure.n_latents), np.ix_(found.replaced, found.replaced)
        mixing[at] = np.linalg.qr(weights[np.ix_(found.order, found.replaced)].T)[0]
        assert edges_of(weights @ mixing) == found.edges and counts(mixing, found.edges, structure)


def beside(*structures):
    """Join structures without a common variable, block by block."""
    shape = np.sum([structure.shape for structure in structures], axis=0)
    support, at = np.zeros(shape, int), np.zeros(2, int)
    for structure in structures:
        support[at[0] : at[0] + structure.n_observed, at[1] : at[1] + structure.n_latents] = structure.support
        at += structure.shape
    return Structure(support)


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize(
    "other", [diverse(10, 5, random_state=0), diverse(20, 5, random_state=0), dense(2, 1)]
)
def test_a_nested_pair_stays_what_it_is_beside_any_block(other, independent):
    joined = certify(beside(NESTED, other), independent_latents=independent)
    assert joined.alternative.as_sparse and not joined.sparser_than_triangular
    assert joined.alternative.replaced == (0, 1)


def test_two_latents_are_enough_to_know_of_a_large_part():
    """More than 12 connected variables: a bound, but for two latents whose children differ by one."""
    structure = diverse(20, 5, random_state=0)
    nested = Structure(np.column_stack([structure.support, structure.support[:, 0]]))
    smaller = nested.support.copy()
    smaller[np.flatnonzero(smaller[:, -1])[0], -1] = False
    for support, edges in ((nested.support, -1), (smaller, 0)):
        found = triangular_alternative(Structure(support), independent_latents=True)
        assert found.edges == support.sum() + edges and found.as_sparse and not found.exact
    assert triangular_alternative(structure, independent_latents=True).as_sparse is None


def test_groups_are_counted_part_by_part():
    alone = triangular_alternative(NESTED, groups=[[0], [1]])
    joined = triangular_alternative(beside(NESTED, dense(3, 1)), groups=[[0], [1], [2, 3], [4]])
    assert alone.as_sparse and joined.as_sparse


def test_without_time_for_all_sets_the_count_is_a_bound(monkeypatch):
    structure = diverse(10, 5, random_state=0)
    exact = triangular_alternative(structure, independent_latents=True)
    monkeypatch.setattr(_replacements, "BUDGET", 1)
    bound = triangular_alternative(structure, independent_latents=True)
    assert exact.exact and not bound.exact and bound.edges >= exact.edges
    assert bound and bound.as_sparse is False  # all linear models were compared, and none is as sparse
    unsettled = triangular_alternative(ring(8), independent_latents=True)
    assert unsettled.as_sparse is None and "all sets of latents" in str(unsettled)


def test_what_cannot_be_counted_is_assumed():
    """Of independent latents only triangular models are counted, unless no model at all is as sparse."""
    for structure, independent, assumes in (
        (diverse(10, 5, random_state=0), False, (GENERIC,)),
        (diverse(10, 5, random_state=0), True, (GENERIC,)),
        (ring(4), True, (GENERIC, FAITHFUL)),
        (ring(4), False, (GENERIC, FAITHFUL)),
    ):
        (said,) = triangular_alternative(structure, independent_latents=independent).certificates
        assert said.assumes == assumes
    assert triangular_alternative(ring(4), independent_latents=True)  # and yet x itself has 4 edges


def test_determinants_are_those_of_whole_numbers():
    matrices = np.random.default_rng(0).integers(-9, 10, (50, 4, 4))
    matrices[:, 0, 0] = 0  # so that a pivot has to be looked for
    exact = np.rint(np.linalg.det(matrices)).astype(int)
    assert (determinants(matrices % PRIME) == exact % PRIME).all()
