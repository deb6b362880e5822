"""Intersections and shared bases against lattices written out."""

import itertools

import numpy as np
import pytest
from scipy.linalg import null_space, orth
from scipy.stats import ortho_group

from unmix.theory.mixtures._subspaces import Flat, common, is_in, meet, shared_basis

ANGLE = 1e-4


def projector(basis):
    return basis @ basis.T


def same(a, b):
    return a.shape == b.shape and np.allclose(projector(a), projector(b), atol=1e-6)


def cut(a, b):
    """The intersection as the kernel of both complements."""
    outside = np.vstack([np.eye(len(a)) - projector(a), np.eye(len(b)) - projector(b)])
    _, strengths, right = np.linalg.svd(outside)
    return right[strengths <= 1e-6].T


def joined(a, b):
    left, strengths, _ = np.linalg.svd(np.hstack([a, b]), full_matrices=False)
    return left[:, strengths > 1e-6]


def closure(spaces, most):
    """All sums and intersections, or None if there are more than `most`."""
    found = []
    queue = list(spaces)
    while queue:
        space = queue.pop()
        if any(same(space, other) for other in found):
            continue
        found.append(space)
        if len(found) > most:
            return None
        queue += [op(space, other) for other in found for op in (cut, joined)]
    return found


def have_shared_basis(spaces):
    """Subspaces have a shared basis iff their lattice is distributive; then it has at most 2^n members."""
    n = len(spaces[0])
    lattice = closure(spaces, 2**n)
    return lattice is not None and all(
        same(cut(a, joined(b, c)), joined(cut(a, b), cut(a, c)))
        for a, b, c in itertools.product(lattice, repeat=3)
    )


def random_spaces(rng, n, count):
    """Subspaces spanned by few, often repeated, directions."""
    directions = np.vstack([np.eye(n), [[1, 1, *[0] * (n - 2)]], rng.integers(-1, 2, size=(1, n))])
    spaces = []
    while len(spaces) < count:
        chosen = (
            directions[rng.choice(len(directions), rng.integers(1, n + 1), replace=False)].astype(float).T
        )
        if np.abs(chosen).any():
            spaces.append(orth(chosen, rcond=1e-6))
    return spaces


@pytest.mark.parametrize("n", [2, 3])
def test_shared_bases_exist_exactly_for_distributive_lattices(n):
    rng = np.random.default_rng(n)
    verdicts = set()
    for _ in range(60):
        spaces = random_spaces(rng, n, rng.integers(1, 5))
        found = shared_basis(spaces, ANGLE)
        assert (found is not None) == have_shared_basis(spaces)
        verdicts.add(found is not None)
    assert verdicts == {True, False}


def test_a_shared_basis_spans_each_subspace_by_a_part():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(6, 6))
    parts = [np.flatnonzero(rng.random(6) < 0.5) for _ in range(12)]
    spaces = [orth(truth[:, part]) for part in parts if len(part)]
    basis = shared_basis(spaces, ANGLE)
    assert np.linalg.matrix_rank(basis) == 6
    for space in spaces:
        inside = [is_in(basis[:, [k]], space, ANGLE) for k in range(6)]
        assert same(orth(basis[:, inside]), space)


def test_three_lines_in_a_plane_share_no_basis_but_two_do():
    lines = [np.array([[np.cos(a)], [np.sin(a)]]) for a in (0.0, 0.5, 1.0)]
    assert shared_basis(lines, ANGLE) is None
    for pair in itertools.combinations(lines, 2):
        assert shared_basis(pair, ANGLE) is not None


def test_distributive_triples_do_not_suffice():
    """Four generic planes through no common line: any three have a shared basis, all four have none."""
    planes = [null_space(np.array([normal], dtype=float)) for normal in [*np.eye(3), [1, 1, 1]]]
    assert shared_basis(planes[:3], ANGLE) is not None
    assert shared_basis(planes, ANGLE) is None


def test_flats_meet_where_both_equations_hold():
    rotation = ortho_group.rvs(4, random_state=1)
    first = Flat(np.array([1.0, 2, 3, 4]), rotation[:, :3])
    second = Flat(np.array([-1.0, 0, 2, 1]), rotation[:, 1:])
    found = meet([first, second], ANGLE)
    assert same(found.basis, rotation[:, 1:3])
    for flat in (first, second):
        assert np.allclose((np.eye(4) - projector(flat.basis)) @ (found.point - flat.point), 0)


def test_parallel_lines_do_not_meet():
    line = np.array([[1.0], [0.0]])
    assert meet([Flat(np.zeros(2), line), Flat(np.array([0.0, 1.0]), line)], ANGLE) is None


def test_subspaces_that_share_only_zero_have_an_empty_basis_in_common():
    assert common(np.eye(3)[:, :1], np.eye(3)[:, 1:2], ANGLE).shape == (3, 0)
