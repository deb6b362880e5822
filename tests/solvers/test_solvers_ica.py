"""The parts of FastICA against their definitions."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.stats import norm

from unmix.rows import array_rows
from unmix.solvers.ica import shape_of_codes
from unmix.solvers.ica._blocks import Prepare, sample_stride
from unmix.solvers.ica._reliability import gaussian_like
from unmix.solvers.ica._rotations import polar
from unmix.solvers.ica._sums import CONTRASTS, contrast_sums, shape_sums, spread_sums

DOUBLE = Prepare(None, torch.float64, "cpu")


def number(function, y):
    return float(function(torch.tensor(float(y), dtype=torch.float64)))


@pytest.mark.parametrize("name", CONTRASTS)
def test_contrasts_are_derivatives_and_know_the_gaussian(name):
    value, derivatives, gaussian, spread = CONTRASTS[name]
    for y in (-2.5, -0.3, 0.7, 4.0):
        g, slope = (number(lambda t, k=k: derivatives(t)[k], y) for k in (0, 1))
        assert g == pytest.approx((number(value, y + 1e-6) - number(value, y - 1e-6)) / 2e-6, abs=1e-7)
        steps = [number(lambda t: derivatives(t)[0], y + h) for h in (1e-6, -1e-6)]
        assert slope == pytest.approx((steps[0] - steps[1]) / 2e-6, abs=1e-6)

    def expected(function):
        return quad(lambda y: function(y) * norm.pdf(y), -10, 10, limit=200)[0]

    def q(y):
        g, slope = derivatives(torch.tensor(y, dtype=torch.float64))
        return float(slope - g * y)

    assert gaussian == pytest.approx(expected(lambda y: number(value, y)), abs=1e-8)
    assert expected(q) == pytest.approx(0, abs=1e-8)
    along = expected(lambda y: q(y) * (y**2 - 1)) / 2
    assert spread == pytest.approx(expected(lambda y: (q(y) - along * (y**2 - 1)) ** 2) ** 0.5, abs=1e-6)


@given(st.integers(2, 40), st.integers(1, 45), st.sampled_from(list(CONTRASTS)), st.integers(0, 99))
def test_sums_over_blocks_are_sums_over_rows(n, block, fun, seed):
    rng = np.random.default_rng(seed)
    x, weights = rng.normal(size=(n, 3)), torch.from_numpy(rng.normal(size=(2, 3)))
    whole = torch.from_numpy(x)
    for sums, arguments in (
        (contrast_sums, (weights, fun)),
        (shape_sums, (weights, fun)),
        (spread_sums, (whole[0],)),
    ):
        parts = array_rows(x, block).total(sums, DOUBLE, *arguments)
        for part, expected in zip(parts, sums(whole, *arguments), strict=True):
            torch.testing.assert_close(part, expected, rtol=1e-9, atol=1e-9)
    y = x @ weights.numpy().T
    g = CONTRASTS[fun].derivatives(torch.from_numpy(y))[0].numpy()
    np.testing.assert_allclose(contrast_sums(whole, weights, fun)[0], g.T @ y, atol=1e-9)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 9))
def test_a_stride_takes_the_same_rows_however_they_are_grouped(n, block, stride):
    x = np.arange(2.0 * n).reshape(n, 2)
    np.testing.assert_array_equal(np.concatenate(list(array_rows(x, block).every(stride))), x[::stride])


@given(arrays(float, (3, 3), elements=st.floats(-5, 5, width=32)))
def test_polar_is_the_orthogonal_factor(matrix):
    values = np.linalg.svd(matrix, compute_uv=False)
    if values[-1] < 1e-3 * max(values[0], 1e-3):
        matrix = matrix + 20 * np.eye(3)
    left, _, right = np.linalg.svd(matrix)
    np.testing.assert_allclose(polar(torch.from_numpy(matrix)), left @ right, atol=1e-9)


def test_polar_of_a_singular_matrix_is_orthogonal_still():
    turned = polar(torch.diag(torch.tensor([1.0, 1e-14, 0.0], dtype=torch.float64)))
    torch.testing.assert_close(turned @ turned.T, torch.eye(3, dtype=torch.float64))


@given(arrays(float, st.integers(1, 7), elements=st.floats(0, 12)))
def test_gaussian_ones_are_the_largest_set_below_its_bound(scores):
    def fits(k):
        return np.all(np.sort(scores)[:k] < 3 + 1.8 * (k**0.5 - 1))

    largest = max((k for k in range(len(scores) + 1) if k == 0 or fits(k)), default=0)
    marked = gaussian_like(scores)
    assert marked.sum() == largest
    assert not marked.any() or marked.all() or scores[marked].max() <= scores[~marked].min()


def test_samples_are_taken_only_where_they_save_time():
    assert sample_stride(1000, 3) == 1 and sample_stride(29_999, 3) == 1
    assert sample_stride(200_000, 64) == 12 and sample_stride(10**6, 256) == 3
    assert (10**7 // sample_stride(10**7, 2048)) * 2048 <= 2**26 * 1.01


@pytest.mark.parametrize("fun", CONTRASTS)
def test_independent_components_show_no_dependence_beyond_chance(fun):
    shown = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = np.column_stack([rng.laplace(size=(1000, 3)), rng.uniform(size=(1000, 3))])
        shown.append(shape_of_codes(y, fun).dependence.max())
    assert np.mean(np.array(shown) > 0.05) <= 0.1


def test_dependence_is_one_where_the_contrast_is_flat_and_symmetric():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(5000, 3)) / np.sqrt(rng.chisquare(6, (5000, 1)))
    found = shape_of_codes(np.column_stack([y, rng.laplace(size=5000)]), "logcosh").dependence
    np.testing.assert_array_equal(found, found.T)
    assert (found[:3, :3] + np.eye(3) == 1).all() and found[3, :3].max() < 0.1 and not found.diagonal().any()
