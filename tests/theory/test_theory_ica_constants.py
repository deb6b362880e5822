"""Whitening and ICA constants: printed values, closed forms, finite differences, measured gaps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from unmix._ica import components, look_gaussian, whitening
from unmix.rows import array_rows
from unmix.theory import ica_constant, ica_curvature, whitening_constants

seeds = st.integers(0, 2**32 - 1)
CONTRASTS = {
    "logcosh": lambda y: np.log(np.cosh(y)),
    "exp": lambda y: -np.exp(-(y**2) / 2),
    "cube": lambda y: y**4 / 4,
}


def fixed_sequence():
    """Three sources without chance: uniform, Laplace and two-humped, mixed."""
    i = np.arange(1, 2001)
    u = [(a * i**2) % 1 for a in np.sqrt([2, 3, 5, 7])]
    v = u[1] - 0.5
    s = np.column_stack(
        [
            (u[0] - 0.5) * np.sqrt(12),
            -np.sign(v) * np.log(1 - 2 * np.abs(v)) / np.sqrt(2),
            np.where(u[2] >= 0.5, 1, -1) * (0.8 + 0.4 * u[3]),
        ]
    )
    x = s @ np.array([[2, 1, 0.5], [1, 1, -1], [0, 0.5, 1]]).T
    return s, x - x.mean(0)


def white(y):
    centred = y - y.mean(0)
    return centred @ whitening(array_rows(centred, len(centred))).white


def test_the_fixed_sequence_has_the_printed_values():
    s, x = fixed_sequence()
    found = components(x, 0)
    y = x @ found.unmix
    correlation = np.abs(np.corrcoef(s.T, y.T)[:3, 3:])
    np.testing.assert_allclose(correlation.max(1), [0.99930, 0.99991, 0.99995], atol=1e-5)
    curvature = ica_curvature(y)
    np.testing.assert_allclose(np.sort(curvature.reliability), [-0.32719, -0.12124, 0.18086], atol=1e-5)
    assert curvature.gamma == pytest.approx(0.14184, abs=1e-5)
    assert np.nanmax(curvature.planes) == pytest.approx(0.25387, abs=1e-5)
    assert curvature.gradient < 1e-6 and found.settled
    np.testing.assert_allclose(y @ found.mix, x, atol=1e-9)


def test_laplace_has_the_curvature_of_its_integrals():
    def mean(f):
        return quad(lambda y: f(y) * np.exp(-np.sqrt(2) * abs(y)) / np.sqrt(2), -40, 40, points=[0])[0]

    a = mean(lambda y: 1 - np.tanh(y) ** 2) - mean(lambda y: np.tanh(y) * y)
    y = np.random.default_rng(0).laplace(size=(400_000, 2)) / np.sqrt(2)
    found = ica_curvature(y)
    np.testing.assert_allclose(found.reliability, a, atol=5 * found.standard_error.max())
    assert found.planes[0, 1] == pytest.approx(a, abs=0.01)  # independent: (|a_1| + |a_2|) / 2


def test_only_the_plane_of_two_gaussians_is_flat():
    rng = np.random.default_rng(0)
    y = np.column_stack([rng.normal(size=(200_000, 2)), rng.laplace(size=200_000) / np.sqrt(2)])
    y = y / y.std(0)
    found = ica_curvature(y)
    assert abs(found.planes[0, 1]) < 0.01 < 0.05 < min(found.planes[0, 2], found.planes[1, 2])
    assert (
        found.gaussian.tolist()
        == [True, True, False]
        == look_gaussian(array_rows(y, 1000), np.eye(3)).tolist()
    )


@pytest.mark.parametrize("contrast", CONTRASTS)
@given(seed=seeds)
def test_curvature_is_half_the_second_derivative_in_the_angle(contrast, seed):
    y = white(np.random.default_rng(seed).laplace(size=(500, 3)) ** 3)
    found, potential, h = ica_curvature(y, contrast=contrast), CONTRASTS[contrast], 1e-4
    sign = np.where(found.reliability < 0, -1, 1)

    def objective(angle, i, j):
        turned = y.copy()
        turned[:, i] = np.cos(angle) * y[:, i] + np.sin(angle) * y[:, j]
        turned[:, j] = np.cos(angle) * y[:, j] - np.sin(angle) * y[:, i]
        return (sign * potential(turned).mean(0)).sum()

    for i, j in ((0, 1), (0, 2), (1, 2)):
        values = [objective(angle, i, j) for angle in (-h, 0.0, h)]
        second = (values[0] - 2 * values[1] + values[2]) / h**2
        assert found.planes[i, j] == pytest.approx(second / 2, rel=1e-3, abs=1e-4)


def test_one_component_cannot_be_rotated():
    y = white(np.random.default_rng(0).laplace(size=(100, 1)))
    assert ica_curvature(y).gamma == np.inf and ica_curvature(y).to_dict()["gamma"] is None


def test_the_printed_whitening_constants():
    k, k2 = whitening_constants(2.0, 0.5)
    assert k * 0.01 + k2 * 0.01**2 == pytest.approx(0.127562, abs=1e-6)
    assert ica_constant(3.0, 0.5, 9) == pytest.approx(1 + 3 / 0.5 * (3 + 3))


@given(seed=seeds, size=st.floats(1e-4, 0.3), d=st.integers(1, 4))
def test_whitened_vectors_differ_by_no_more_than_the_lemma_allows(seed, size, d):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (300, d)) @ rng.normal(size=(d, d))
    y = x + size * rng.uniform(-1, 1, x.shape)
    x, y = x - x.mean(0), y - y.mean(0)
    roots, smallest = zip(*map(inverse_root, (x, y)), strict=True)
    eps = np.linalg.norm(x - y, axis=1).max()
    gap = np.linalg.norm(x @ roots[0] - y @ roots[1], axis=1).max()
    k, k2 = whitening_constants(np.linalg.norm(x, axis=1).max(), min(smallest))
    assert gap <= k * eps + k2 * eps**2


def inverse_root(x):
    values, vectors = np.linalg.eigh(x.T @ x / len(x))
    return (vectors / np.sqrt(values)) @ vectors.T, values[0]


@given(seed=seeds)
def test_a_small_move_of_white_data_moves_ica_by_no_more_than_its_constant(seed):
    rng = np.random.default_rng(seed)
    x = white(rng.uniform(-1, 1, (2000, 3)))
    moved = white(x + 1e-4 * np.sin(5 * x[:, ::-1]))
    root = np.linalg.svd(moved.T @ x)
    moved = moved @ root[0] @ root[2]  # the rotation that whitening is free to make
    eps = np.linalg.norm(moved - x, axis=1).max()
    y1, y2 = (z @ components(z, 0).unmix for z in (x, moved))
    cross = y1.T @ y2
    order = np.abs(cross).argmax(0)
    matched = y1[:, order] * np.sign(cross[order, range(3)])
    gap = np.linalg.norm(matched - y2, axis=1).max()
    k = ica_constant(np.linalg.norm(x, axis=1).max(), ica_curvature(y1).gamma, 3)
    assert 0 < gap <= k * eps


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: whitening_constants(1.0, 0.0), "`smallest` positive"),
        (lambda: ica_constant(1.0, -0.1, 3), "`curvature` positive"),
        (lambda: ica_curvature(np.ones(4)), "`y` must be a finite table"),
        (lambda: ica_curvature(5 * np.eye(4)), "unit variance"),
        (lambda: ica_curvature(np.ones((4, 1)), contrast="tanh"), "`contrast` must be one of"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
