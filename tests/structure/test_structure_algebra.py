"""Structure as a value and as a set of edges, against sets of pairs written out."""

import copy
import itertools
import pickle

import numpy as np
import pytest

from unmix.structure import Structure, ring, triangular


def all_structures(n_observed, n_latents):
    for bits in itertools.product([0, 1], repeat=n_observed * n_latents):
        yield Structure(np.reshape(bits, (n_observed, n_latents)))


def edges(structure):
    return {(i, j) for i, row in enumerate(structure.support.tolist()) for j, edge in enumerate(row) if edge}


@pytest.mark.parametrize(
    "support", [[[1, 0]], [[True, False]], [[1.0, 0.0]], np.array([[1, 0]], dtype=np.int8)]
)
def test_booleans_and_zero_one_numbers_are_the_same_structure(support):
    assert Structure(support) == Structure(np.array([[True, False]]))
    assert Structure(support).support.dtype == bool


def test_the_support_is_a_read_only_copy():
    source = np.ones((2, 2), dtype=bool)
    structure = Structure(source)
    source[0, 0] = False
    assert structure.support.all()
    with pytest.raises(ValueError, match="read-only"):
        structure.support[0, 0] = False
    with pytest.raises(AttributeError):
        structure.support = source


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copies_stay_equal_read_only_and_keep_the_margin(duplicate):
    structure = Structure([[1, 0], [1, 1]], margin=3.0)
    other = duplicate(structure)
    assert other == structure and other.margin == 3.0
    assert not other.support.flags.writeable


def test_the_margin_is_carried_but_not_compared():
    plain, measured = Structure([[1, 0]]), Structure([[1, 0]], margin=7.0)
    assert plain == measured and hash(plain) == hash(measured)
    assert plain.margin is None and measured.permute([1, 0]).margin == 7.0


def test_shape_takes_part_in_equality_and_hash():
    wide, tall = Structure([[1, 0, 0, 1]]), Structure([[1], [0], [0], [1]])
    assert wide != tall and hash(wide) != hash(tall)
    assert wide != [[1, 0, 0, 1]]


@pytest.mark.parametrize(
    ("support", "error", "words"),
    [
        ([1, 0], ValueError, "shape"),
        ([[[1]]], ValueError, "shape"),
        ([[]], ValueError, "shape"),
        (np.zeros((0, 3)), ValueError, "shape"),
        ([[1, 0], [1]], ValueError, "unequal length"),
        ([[0, 2]], ValueError, "got 2 at row 0, column 1"),
        ([[0, 0.5]], ValueError, "got 0.5"),
        ([[0, -1]], ValueError, "got -1"),
        ([[0, np.nan]], ValueError, "got nan"),
        ([[0, np.inf]], ValueError, "got inf"),
        ([["a", "b"]], TypeError, "booleans or numbers"),
        ([[1j, 0]], TypeError, "booleans or numbers"),
    ],
)
def test_bad_supports_are_named(support, error, words):
    with pytest.raises(error, match=words):
        Structure(support)


def test_operators_are_set_operations_on_edges():
    structures = list(all_structures(2, 2))
    everything = edges(~Structure(np.zeros((2, 2))))
    for a, b in itertools.product(structures, structures):
        assert edges(a & b) == edges(a) & edges(b)
        assert edges(a | b) == edges(a) | edges(b)
        assert edges(a - b) == edges(a) - edges(b)
        assert edges(a ^ b) == edges(a) ^ edges(b)
        assert edges(~a) == everything - edges(a)
        assert (a <= b, a < b, a >= b, a > b) == (
            edges(a) <= edges(b),
            edges(a) < edges(b),
            edges(a) >= edges(b),
            edges(a) > edges(b),
        )


@pytest.mark.parametrize("operator", ["&", "|", "-", "^", "<=", "<", ">=", ">"])
def test_operators_refuse_other_shapes_and_other_types(operator):
    a = Structure([[1, 0]])  # noqa: F841 - used by eval
    with pytest.raises(ValueError, match=r"must have shape \(1, 2\)|must have shape \(2, 1\)"):
        eval(f"a {operator} Structure([[1], [0]])")
    with pytest.raises(TypeError):
        eval(f"a {operator} 3")


def test_index_sets_follow_their_definitions():
    for s in all_structures(2, 3):
        found = edges(s)
        for i in range(2):
            assert s.parents(i) == {j for j in range(3) if (i, j) in found}
        for j in range(3):
            assert s.influence(j) == {i for i in range(2) if (i, j) in found}
        for rows in [[], [0], [1], [0, 1]]:
            assert s.latents(rows) == {j for j in range(3) if any((i, j) in found for i in rows)}
            assert s.common_parents(rows) == {j for j in range(3) if all((i, j) in found for i in rows)}


def test_containment_follows_its_definition():
    for s in all_structures(3, 3):
        children = [s.influence(j) for j in range(3)]
        assert s.contained().tolist() == [[a <= b for b in children] for a in children]


def test_containment_is_exact_for_many_observed_variables():
    support = np.ones((70_000, 2), dtype=bool)
    support[12_345, 1] = False
    assert Structure(support).contained().tolist() == [[True, False], [True, True]]


def test_atoms_are_the_groups_of_equal_columns():
    for s in all_structures(3, 3):
        atoms = s.atoms()
        assert sorted(j for members in atoms.values() for j in members) == [0, 1, 2]
        for children, members in atoms.items():
            assert members == {j for j in range(3) if s.influence(j) == children}


def test_indices_may_be_numpy_integers_but_must_be_in_range():
    s = ring(3)
    assert s.parents(np.int64(2)) == {0, 2} and all(type(j) is int for j in s.parents(np.int64(2)))
    for call in [lambda: s.parents(3), lambda: s.influence(-1), lambda: s.latents([0, 5])]:
        with pytest.raises(ValueError, match="must lie between 0 and 2"):
            call()


def test_permute_moves_columns_and_rows():
    s = triangular(3, 2)
    assert s.permute([1, 0]).support.tolist() == s.support[:, [1, 0]].tolist()
    assert s.permute_rows([2, 0, 1]).support.tolist() == s.support[[2, 0, 1]].tolist()
    for order in [[0], [0, 0], [0, 2], [0, 1, 1]]:
        with pytest.raises(ValueError, match="permutation"):
            s.permute(order)
    with pytest.raises(ValueError, match="permutation"):
        s.permute_rows([0, 1])


def test_group_takes_the_union_of_rows():
    s = ring(4)
    grouped = s.group([[0, 2], [3], [1]])
    assert [grouped.parents(k) for k in range(3)] == [s.latents([0, 2]), s.parents(3), s.parents(1)]


@pytest.mark.parametrize("groups", [[[0, 1], [1, 2]], [[0, 1]], [[0, 1, 2], []], [[0, 1], [2, 3]], []])
def test_groups_must_be_a_partition(groups):
    with pytest.raises(ValueError, match="`groups`"):
        ring(3).group(groups)


def test_repr_draws_small_structures_and_counts_large_ones():
    assert repr(Structure([[1, 0], [1, 1]])).splitlines()[1:] == ["#.", "##"]
    assert repr(Structure(np.ones((100, 3)))) == "Structure(100 observed x 3 latents, 300 edges)"
