"""Mutual information against scikit-learn and against the definition, sample by sample."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score

from samples import rng
from unmix.metrics._information import entropy, nearest_neighbours, plug_in

seeds = st.integers(0, 2**32 - 1)


def by_definition(labels, values, k):
    """Ross (2014), equation (2), one sample at a time."""
    kept = [t for t in range(len(labels)) if (labels == labels[t]).sum() > 1]
    terms = []
    for t in kept:
        same = [s for s in kept if labels[s] == labels[t] and s != t]
        k_t = min(k, len(same))
        radius = sorted(abs(values[s] - values[t]) for s in same)[k_t - 1]
        nearer = sum(abs(values[s] - values[t]) < radius for s in kept)
        terms.append(digamma(k_t) - digamma(len(same) + 1) - digamma(nearer))
    return max(0.0, digamma(len(kept)) + np.mean(terms))


@given(seeds, st.integers(1, 6))
def test_neighbours_equal_the_definition(seed, k):
    labels = rng(seed).integers(0, 4, 40)
    labels[0] = 9  # seen once, so left out
    values = labels * rng(seed).uniform(0, 2) + rng(seed + 1).normal(size=40)
    values = (values - values[1:].mean()) / values[1:].std()
    assert nearest_neighbours(labels, values, k, rng()) == pytest.approx(by_definition(labels, values, k))


@pytest.mark.parametrize("k", [3, 10])
def test_neighbours_equal_scikit_learn(k):
    labels = rng().integers(0, 7, 2000)
    values = labels + rng(1).normal(size=2000)
    theirs = mutual_info_classif(values[:, None], labels, n_neighbors=k, random_state=0)[0]
    assert nearest_neighbours(labels, values, k, rng()) == pytest.approx(theirs, abs=1e-9)


def test_tied_values_are_told_apart_by_seeded_noise():
    labels = np.repeat([0, 1], 200)
    values = np.concatenate([np.zeros(200), np.ones(200)])
    found = nearest_neighbours(labels, values, 3, rng())
    assert found == nearest_neighbours(labels, values, 3, rng())
    assert found == pytest.approx(digamma(400) - digamma(200))  # nearly log 2: labels are told exactly
    assert nearest_neighbours(labels, np.tile([0.0, 1.0], 200), 3, rng()) < 0.02


def test_neighbours_find_nothing_in_a_constant_or_among_unique_labels():
    assert nearest_neighbours(np.arange(5), rng().normal(size=5), 3, rng()) == 0
    assert nearest_neighbours(rng().integers(0, 2, 500), np.full(500, 0.1), 3, rng()) < 0.05


@given(seeds)
def test_plug_in_equals_scikit_learn_and_is_symmetric(seed):
    a = rng(seed).integers(0, 5, 60)
    b = np.where(rng(seed + 1).random(60) < 0.5, a, rng(seed + 2).integers(0, 3, 60))
    assert plug_in(a, b) == pytest.approx(mutual_info_score(a, b), abs=1e-12)
    assert plug_in(a, b) == pytest.approx(plug_in(b, a), abs=1e-12)
    assert plug_in(a, a) == pytest.approx(entropy(a))


def test_entropy_of_even_labels_is_the_logarithm_of_their_number():
    assert entropy(np.repeat(np.arange(5), 3)) == pytest.approx(np.log(5))
