"""The parts of the row search: cost and gradient, starts, greedy choice, spikes."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unmix.solvers.sparse_rows._descent import _cost_and_gradient, descend
from unmix.solvers.sparse_rows._lagrangian import image, lagrangian_rows
from unmix.solvers.sparse_rows._search import _best_independent, share_off, sparsest_rows
from unmix.solvers.sparse_rows._spikes import contrast, fit_spikes
from unmix.solvers.sparse_rows._starts import hyperplanes, modes, neighbour_differences, random_units
from unmix.solvers.sparse_rows._supports import normal_projections, support_intersections


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def sparse(n, z, share=0.5, seed=0):
    g = generator(seed)
    values = torch.randn(n, z, generator=g, dtype=torch.float64)
    return values * (torch.rand(n, z, generator=g, dtype=torch.float64) < share)


@given(seed=st.integers(0, 1000), width=st.floats(0.05, 2))
def test_cost_is_its_definition_and_gradient_its_derivative(seed, width):
    y = torch.randn(40, 3, generator=generator(seed), dtype=torch.float64)
    points = torch.randn(2, 4, generator=generator(seed + 1), dtype=torch.float64, requires_grad=True)
    cost = torch.stack(
        [torch.log(1 + ((y @ p[:3] / p[:3].norm() + p[3]) / width) ** 2).mean() for p in points]
    )
    (expected,) = torch.autograd.grad(cost.sum(), points)
    costs, slopes = _cost_and_gradient(y, points.detach(), width, True)
    torch.testing.assert_close(costs, cost.detach())
    torch.testing.assert_close(slopes, expected)


def test_descent_never_rises_keeps_unit_rows_and_finds_the_axes():
    y = sparse(2000, 3)
    starts = random_units(20, y[:0], generator())
    offsets = torch.zeros(20, dtype=torch.float64)
    before = _cost_and_gradient(y, torch.cat([starts, offsets[:, None]], 1), 0.1, True)[0]
    rows, offsets, costs = descend(y, starts, offsets, width=0.1, n_steps=80)
    assert (costs <= before).all()
    torch.testing.assert_close(rows.norm(dim=1), torch.ones(20, dtype=torch.float64))
    assert (rows.abs().amax(1) > 0.99).float().mean() > 0.8
    fixed = descend(y, starts, torch.full((20,), 0.3).double(), width=0.5, n_steps=5, free_offsets=False)[1]
    torch.testing.assert_close(fixed, torch.full((20,), 0.3).double())


def test_modes_lie_within_half_a_bin_of_the_spike():
    values = torch.cat([torch.full((2, 60), 1.234), torch.linspace(-3, 3, 100).expand(2, 100)], dim=1)
    assert (modes(values) - 1.234).abs().max() <= 0.025


def test_random_units_avoid_what_they_should():
    avoid = torch.randn(2, 5, generator=generator(), dtype=torch.float64)
    drawn = random_units(7, avoid, generator(1))
    torch.testing.assert_close(drawn @ avoid.T, torch.zeros(7, 2, dtype=torch.float64))
    torch.testing.assert_close(drawn.norm(dim=1), torch.ones(7, dtype=torch.float64))


def test_differences_of_neighbours_drop_offsets_and_duplicates():
    far = torch.tensor([100.0, 0.0, 0.0])
    line = torch.linspace(0, 1, 30)[:, None] * torch.tensor([0.0, 1.0, 2.0])
    differences = neighbour_differences(torch.cat([line, line + far]), generator())
    assert (differences[:, 0] == 0).all() and len(differences) == 60
    assert len(neighbour_differences(torch.ones(50, 2), generator())) == 0


def test_hyperplanes_through_samples_find_the_fullest_ones():
    y = sparse(1000, 3).float() + torch.tensor([0.0, 2.0, 0.0])
    rows, offsets = hyperplanes(y, 2000, 3, generator())
    assert (rows.abs().amax(1) > 0.999).all() and len(set(rows.abs().argmax(1).tolist())) == 3
    assert ((y @ rows.T + offsets).abs() < 0.03).float().mean(0).min() > 0.4


def test_supports_are_flat_where_neighbours_share_them_and_intersect_in_rows():
    g = generator()
    y = torch.randn(1200, 3, generator=g)
    y[:400, 0], y[400:800, 1], y[800:, 2] = 5.0, 5.0, 5.0
    projections, centres = normal_projections(y, 60, g)
    torch.testing.assert_close(projections.diagonal(dim1=1, dim2=2).sum(1), torch.ones(len(projections)))
    assert len(centres) > 40
    rows, offsets = support_intersections(y, 40, g)
    exact = rows.abs().amax(1) > 0.9999
    assert exact.float().mean() > 0.8
    torch.testing.assert_close(offsets[exact], -5 * rows[exact].sum(1), atol=0.05, rtol=0)
    assert len(support_intersections(torch.randn(300, 3, generator=g), 10, g)[0]) <= 10


@given(seed=st.integers(0, 1000))
def test_greedy_choice_is_the_best_independent_set(seed):
    g = generator(seed)
    rows = torch.randint(-1, 2, (6, 3), generator=g).double()
    rows = rows[rows.abs().sum(1) > 0]
    rows = rows / rows.norm(dim=1, keepdim=True)
    shares = torch.rand(len(rows), generator=g, dtype=torch.float64)
    chosen = _best_independent(rows, shares, shares).tolist()
    rank = int(torch.linalg.matrix_rank(rows)) if len(rows) else 0
    independent = [
        set(picked)
        for picked in combinations(range(len(rows)), rank)
        if rank and int(torch.linalg.matrix_rank(rows[list(picked)])) == rank
    ]
    assert len(chosen) == rank
    if rank:
        assert set(chosen) == min(independent, key=lambda picked: float(shares[list(picked)].sum()))


def test_share_off_counts_samples_off_the_hyperplane():
    y = sparse(4000, 2, share=0.3)
    off = share_off(y, torch.eye(2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64), 1e-6)
    torch.testing.assert_close(off, (y != 0).double().mean(0), atol=1e-4, rtol=0)


@pytest.mark.parametrize("mean", [0.0, 3.0])
def test_spikes_are_found_with_their_noise(mean):
    g = generator()
    z = mean + torch.randn(20_000, 1, generator=g, dtype=torch.float64)
    z[:8000] = 0.05 * torch.randn(8000, 1, generator=g, dtype=torch.float64)
    spikes = fit_spikes(z)
    assert float(spikes.mass) == pytest.approx(0.4, abs=0.02)
    assert float(spikes.width) == pytest.approx(0.05, abs=0.005)
    assert float(spikes.mean) == pytest.approx(mean, abs=0.1)
    active = spikes.active(z)[:, 0]
    assert active[8000:].double().mean() > 0.9 and active[:8000].double().mean() < 0.05


def test_contrast_tells_spikes_from_smooth_densities():
    rng = np.random.default_rng(0)
    smooth = np.column_stack(
        [rng.normal(size=50_000), rng.uniform(-1.7, 1.7, 50_000), rng.logistic(size=50_000) / 1.8]
    )
    values = contrast(torch.as_tensor(smooth))
    assert (values < 1.7).all() and float(values[1]) == pytest.approx(1, abs=0.1)
    assert float(contrast(sparse(50_000, 1))) > 10


def test_search_returns_a_whole_basis_and_says_which_rows_it_only_completed():
    y = torch.randn(50, 3, generator=generator(), dtype=torch.float64)
    found = sparsest_rows(y, generator(), n_starts=1)
    assert found.rows.shape == (3, 3) and found.smallest_singular_value > 0.01
    assert int(found.searched.sum()) <= 3 and math.isfinite(float(found.shares.sum()))


@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_last_digits_of_a_code_do_not_turn_its_rows_over(shift):
    """Several starts end at one hyperplane, from both sides of it: as good but for rounding."""
    z = torch.where((z := sparse(400, 2)) == 0, z, z + shift)
    y = (z - z.mean(0)) @ torch.linalg.inv(torch.linalg.cholesky(torch.cov(z.T))).T
    noise = generator(1)
    ways = [
        sparsest_rows(y * (1 + 1e-7 * torch.randn(y.shape, generator=noise)), generator(), n_starts=10)
        for _ in range(5)
    ]
    for found in ways[1:]:
        torch.testing.assert_close(found.rows, ways[0].rows, rtol=0, atol=1e-3)
        torch.testing.assert_close(found.offsets, ways[0].offsets, rtol=0, atol=1e-3)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_search_finds_the_same_basis_on_the_gpu():
    z = sparse(3000, 4)
    y = (z - z.mean(0)) / z.std(0)
    there = sparsest_rows(y.cuda(), generator()).cpu()
    assert (there.rows.abs().amax(1) > 0.99).all()


@given(seed=st.integers(0, 1000), widths=st.lists(st.integers(1, 6), min_size=1, max_size=3))
def test_linear_layers_are_one_affine_map(seed, widths):
    torch.manual_seed(seed)
    sizes = [3, *widths, 3]
    layers = [torch.nn.Linear(*pair) for pair in pairwise(sizes)]
    linear = torch.nn.Sequential(*layers).double()
    y = torch.randn(5, 3, generator=generator(seed), dtype=torch.float64)
    torch.testing.assert_close(image(linear, y), linear(y))


def test_a_bound_above_the_mean_of_a_normal_code_never_binds():
    y = sparse(300, 3)
    y = (y - y.mean(0)) / y.std(0)
    loose, looser, tight = (
        lagrangian_rows(y, generator(), max_iter=30, epsilon=epsilon, lr=1e-2).rows
        for epsilon in (1.0, 1000.0, 0.01)
    )
    assert torch.equal(loose, looser) and not torch.equal(loose, tight)
