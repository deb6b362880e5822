"""Distances between sets of images: laws, and a noise ladder on which both rise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import sqrtm

from unmix.metrics import content_distance, frechet_distance, kernel_distance


def drawn(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_frechet_distance_is_its_formula():
    x, y = drawn(60, 4) @ drawn(4, 4, 1), drawn(50, 4, 2) + 1
    first, second = np.cov(x.T), np.cov(y.T)
    gap = np.square(x.mean(0) - y.mean(0)).sum()
    expected = gap + np.trace(first + second - 2 * sqrtm(first @ second).real)
    assert frechet_distance(x, y) == pytest.approx(expected)
    assert frechet_distance(x[:, :1], y[:, :1]) == pytest.approx(
        (x[:, 0].mean() - y[:, 0].mean()) ** 2 + (x[:, 0].std(ddof=1) - y[:, 0].std(ddof=1)) ** 2
    )


def test_kernel_distance_is_the_mean_over_different_pairs():
    x, y = drawn(7, 3), drawn(5, 3, 1)

    def k(a, b):
        return (a @ b / 3 + 1) ** 3

    own = [np.mean([k(a, b) for i, a in enumerate(s) for j, b in enumerate(s) if i != j]) for s in (x, y)]
    assert kernel_distance(x, y) == pytest.approx(sum(own) - 2 * np.mean([k(a, b) for a in x for b in y]))


@given(st.integers(0, 1000))
def test_distances_are_symmetric_and_ignore_the_order_of_samples_and_features(seed):
    x, y = drawn(12, 3, seed), drawn(9, 3, seed + 1) + 0.5
    rows, columns = np.random.default_rng(seed).permutation(12), np.random.default_rng(seed).permutation(3)
    for distance in (frechet_distance, kernel_distance):
        assert distance(x, y) == pytest.approx(distance(y, x), abs=1e-9)
        assert distance(x, y) == pytest.approx(distance(x[rows][:, columns], y[:, columns]), abs=1e-9)
    assert frechet_distance(x, x) == pytest.approx(0, abs=1e-9) and frechet_distance(x, y) >= 0


def test_kernel_distance_of_equal_laws_is_zero_on_average():
    found = [kernel_distance(drawn(20, 3, 2 * seed), drawn(20, 3, 2 * seed + 1)) for seed in range(300)]
    assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(300) and np.min(found) < 0


def ladder(features, levels=(0, 0.1, 0.2, 0.4)):
    """Return both distances between images and images with more and more noise."""
    from unmix.data import two_colours

    images = two_colours(300, size=16, random_state=0).images / 255.0
    real, rest, rng = features(images[:150]), images[150:], np.random.default_rng(0)
    steps = [features(np.clip(rest + s * rng.normal(size=rest.shape), 0, 1)) for s in levels]
    return np.array([[d(real, step) for step in steps] for d in (frechet_distance, kernel_distance)])


def test_both_distances_rise_with_noise():
    mix = drawn(16 * 16 * 3, 20) / 16
    found = ladder(lambda images: np.maximum(images.reshape(len(images), -1) @ mix, 0))
    assert (np.diff(found, axis=1) > 0).all() and (found[:, -1] > 5 * found[:, 0]).all()


@pytest.mark.slow
def test_both_distances_rise_with_noise_in_features_of_photographs():
    pytest.importorskip("efficientnet_lite_pytorch")
    import torch

    from unmix.nn import efficientnet_lite0

    network = efficientnet_lite0(size=64)
    found = ladder(lambda images: network(torch.tensor(images)).numpy(), (0, 0.03, 0.06, 0.12))
    assert (np.diff(found, axis=1) > 0).all()


@pytest.mark.parametrize("distance", [frechet_distance, kernel_distance])
def test_what_is_no_features_is_refused(distance):
    x = drawn(5, 3)
    for bad in (x[:1], x[0], x[None], np.full((5, 3), np.nan), x[:, :2]):
        with pytest.raises(ValueError, match="`made` must"):
            distance(x, bad)
    with pytest.raises(ValueError, match="`real` must"):
        distance(x[:1], x)


@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_content_is_kept_where_partners_are_alike_up_to_the_domain(shift):
    x = np.random.default_rng(0).normal(size=(300, 6))
    assert content_distance(x, x + shift) == pytest.approx(0, abs=1e-9)
    half = content_distance(x, x + shift + np.random.default_rng(1).normal(size=x.shape))
    assert 0.4 < half < 0.9
    assert content_distance(x, x[::-1] + shift) == pytest.approx(1, abs=0.1)


def test_partners_must_be_as_many():
    with pytest.raises(ValueError, match="`second` must have a partner for each of the 5 rows, got 4"):
        content_distance(np.ones((5, 2)), np.ones((4, 2)))
