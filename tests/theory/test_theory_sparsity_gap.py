"""Sparsity gaps against all bases on a grid, bounds against the search, and the cases worked out by hand."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from unmix.theory import finest_partition, sparsity_gap


def directions(d, size):
    """All integer directions up to a multiple, within a cube."""
    axis = np.arange(-size, size + 1)
    grid = np.stack(np.meshgrid(*[axis] * d), -1).reshape(-1, d)
    first = grid[np.arange(len(grid)), (grid != 0).argmax(1)]
    grid = grid[first > 0]
    return grid[np.gcd.reduce(grid, axis=1) == 1]


def gap_by_definition(jacobian, slots, size):
    """min ||J U||_0 over bases with a direction across slots, less the minimum over the others."""
    u = directions(jacobian.shape[1], size)
    weights = (jacobian @ u.T != 0).sum(0)
    touched = np.stack([(u[:, sorted(slot)] != 0).any(1) for slot in slots], 1).sum(1)
    chosen = np.array(list(combinations(range(len(u)), jacobian.shape[1])))
    chosen = chosen[np.abs(np.linalg.det(u[chosen])) > 0.5]
    total, aligned = weights[chosen].sum(1), (touched[chosen] == 1).all(1)
    return int(total[~aligned].min() - total[aligned].min()), int(total[aligned].min())


@st.composite
def small_jacobians(draw, d, rows):
    entries = draw(st.lists(st.sampled_from([-1, 0, 0, 1]), min_size=rows * d, max_size=rows * d))
    jacobian = np.array(entries, dtype=float).reshape(rows, d)
    assume(np.linalg.matrix_rank(jacobian) == d)
    return jacobian


@given(small_jacobians(2, 6))
def test_two_latents_against_all_bases(jacobian):
    gap = sparsity_gap(jacobian, 2)
    assert gap.exact and (gap.lower, gap.aligned) == gap_by_definition(jacobian, [{0}, {1}], 4)


@given(small_jacobians(3, 5), st.sampled_from([[{0}, {1}, {2}], [{0, 1}, {2}], [{1}, {0, 2}]]))
def test_three_latents_against_all_bases(jacobian, slots):
    gap = sparsity_gap(jacobian, slots)
    assert gap.exact and gap.method == "search"
    assert (gap.lower, gap.aligned) == gap_by_definition(jacobian, slots, 2)


@given(small_jacobians(3, 6), st.sampled_from([[{0}, {1}, {2}], [{0, 1}, {2}], [{0, 1, 2}]]), st.booleans())
def test_bounds_hold_what_the_search_finds(jacobian, slots, normal):
    if normal:
        jacobian = jacobian * np.random.default_rng(0).normal(size=jacobian.shape)
        assume(np.linalg.svd(jacobian, compute_uv=False)[-1] > 1e-3)
    exact, bounds = sparsity_gap(jacobian, slots), sparsity_gap(jacobian, slots, search=0)
    if len(slots) == 1:
        assert exact.lower is None and bounds.lower is None and exact and bounds
    else:
        assert bounds.lower <= exact.lower <= bounds.upper
        assert not bounds.decided or bool(bounds) == bool(exact)


@pytest.mark.parametrize("seed", range(6))
def test_generic_bounds_hold_for_generic_entries(seed):
    rng = np.random.default_rng(seed)
    slots, first = [{0, 1}, {2}, {3}], rng.integers(0, 6, size=3)
    jacobian = np.zeros((13, 4))
    for slot, start in zip(slots, first, strict=True):
        jacobian[start : start + 7, sorted(slot)] = rng.normal(size=(7, len(slot)))
    exact, bounds = sparsity_gap(jacobian, slots), sparsity_gap(jacobian, slots, search=0, generic=True)
    assert exact.exact and bounds.method == "bounds, generic entries"
    assert bounds.lower <= exact.lower <= bounds.upper
    assert bounds.lower >= sparsity_gap(jacobian, slots, search=0).lower


def two_columns(overlap, cancelling, size=6):
    rng = np.random.default_rng(overlap)
    jacobian = np.zeros((2 * size - overlap, 2))
    jacobian[:size, 0] = 1 if cancelling else rng.normal(size=size)
    jacobian[size - overlap :, 1] = 1 if cancelling else rng.normal(size=size)
    return jacobian


@pytest.mark.parametrize("overlap", range(6))
def test_generic_columns_of_six_rows_tolerate_four_common_ones(overlap):
    gap = sparsity_gap(two_columns(overlap, cancelling=False), 2)
    assert gap.aligned == 12 and bool(gap) == (overlap <= 4)
    assert gap.lower == 6 - overlap - (overlap > 0)  # one common row can be cancelled


@pytest.mark.parametrize("overlap", range(6))
def test_cancelling_columns_tolerate_less_than_half(overlap):
    gap = sparsity_gap(two_columns(overlap, cancelling=True), 2)
    assert gap.lower == 6 - 2 * overlap and bool(gap) == (2 * overlap < 6)
    assert bool(sparsity_gap(two_columns(overlap, True), 2, search=0)) == (2 * overlap < 6)


def test_bounds_hold_for_cancelling_entries_where_generic_ones_would_not():
    jacobian = two_columns(4, cancelling=True)
    assert sparsity_gap(jacobian, 2, search=0, generic=True).lower == 1  # wrong here, as the assumption is
    assert not sparsity_gap(jacobian, 2, search=0) and sparsity_gap(jacobian, 2).lower == -2


def test_the_smallest_gap_over_points_counts():
    points = np.zeros((3, 12, 2))
    for point, overlap in enumerate((1, 3, 0)):
        points[point, : 12 - overlap] = two_columns(overlap, cancelling=False)
    gap = sparsity_gap(points, 2)
    assert (gap.lower, gap.point, gap.share) == (2, 1, 1.0)
    points[2] = 1.0
    worse = sparsity_gap(points, 2)
    assert worse.upper == 0 and not worse.exact and worse.point == 2 and worse.share == pytest.approx(1 / 3)


def test_a_latent_that_moves_nothing_leaves_no_gap():
    gap = sparsity_gap([[1.0, 0.0], [1.0, 0.0]], 2)
    assert not gap and gap.decided and gap.upper == 0


@given(small_jacobians(3, 6), st.permutations(range(6)), st.permutations(range(3)))
def test_relabelling_and_scaling_change_nothing(jacobian, rows, columns):
    columns = list(columns)
    slots = [{0, 1}, {2}]
    moved = [{columns.index(latent) for latent in slot} for slot in slots]
    other = (jacobian * [5.0, 0.2, -30.0])[list(rows)][:, columns]
    for search in (20_000, 0):
        here, there = sparsity_gap(jacobian, slots, search=search), sparsity_gap(other, moved, search=search)
        assert (here.lower, here.upper, here.aligned) == (there.lower, there.upper, there.aligned)


@given(small_jacobians(3, 6))
def test_a_basis_within_slots_does_not_matter_to_the_search(jacobian):
    mixed = jacobian @ np.array([[1.0, 2.0, 0.0], [-1.0, 3.0, 0.0], [0.0, 0.0, 1.0]])
    here, there = sparsity_gap(jacobian, [{0, 1}, {2}]), sparsity_gap(mixed, [{0, 1}, {2}])
    assert (here.lower, here.aligned) == (there.lower, there.aligned)


def test_beyond_the_search_the_finest_partition_says_so():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(40, 5))
    assert finest_partition(dense, "S", search=10) == finest_partition(dense, "D").__class__(
        (frozenset(range(5)),), "S", False
    )
    banded = np.zeros((2, 60, 5))
    for k in range(5):
        banded[:, 12 * k : 12 * k + 14, k] = rng.normal(size=banded[:, 12 * k : 12 * k + 14, k].shape)
    found = finest_partition(banded, "S", search=0)
    assert found.exact and len(found) == 5  # bounds suffice
