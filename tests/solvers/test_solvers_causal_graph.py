"""Causal graphs of latents: against known classes, with and without inactive latents."""

import sys

import numpy as np
import pytest

from unmix.data import degenerate_mixture
from unmix.estimators import causal_graph
from unmix.metrics import cpdag, match_components, shd
from unmix.solvers._causal_graph import _adjacency, _correlations, pairwise_p_value


def linear_gaussian(dag, n_samples=4000, seed=0):
    """Sample a linear causal model whose nodes are in topological order."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n_samples, len(dag)))
    for child, parents in enumerate(np.asarray(dag).T):
        z[:, child] += z[:, parents.astype(bool)].sum(1)
    return z


CHAIN = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
FIVE = np.zeros((5, 5), dtype=int)
FIVE[[0, 1, 2, 2], [2, 2, 3, 4]] = 1


@pytest.mark.parametrize("dag", [CHAIN, FIVE, np.zeros((3, 3), dtype=int)], ids=["chain", "five", "empty"])
def test_the_class_of_a_linear_gaussian_model_is_found(dag):
    np.testing.assert_array_equal(causal_graph(linear_gaussian(dag), alpha=0.001), cpdag(dag))


def test_order_of_latents_is_that_of_the_columns():
    order = [3, 0, 4, 2, 1]
    z = linear_gaussian(FIVE)
    expected = causal_graph(z, alpha=0.001)[np.ix_(order, order)]
    np.testing.assert_array_equal(causal_graph(z[:, order], alpha=0.001), expected)


def test_level_and_size_of_conditioning_sets_matter():
    z = linear_gaussian(CHAIN)
    assert causal_graph(z, max_parents=0).sum() == 6  # ends of a chain are correlated
    assert causal_graph(z[:60], alpha=1e-12).sum() <= causal_graph(z[:60], alpha=0.2).sum()


def test_inactive_latents_are_left_out_of_the_tests():
    data = degenerate_mixture(10_000, n_latents=6, profile="linear", graph_degree=1, random_state=0)
    true, active = cpdag(data.graph.astype(int)), data.masks[data.labels]
    best = shd(true, causal_graph(data.world.scms[0].sample(10_000, np.random.default_rng(0))))
    found = shd(true, causal_graph(data.z, active=active))
    assert found <= best + 1 and found < shd(true, causal_graph(data.z))


def test_correlations_of_pairs_are_those_where_both_vary():
    rng = np.random.default_rng(0)
    z, active = rng.normal(size=(300, 3)) + 5, rng.random((300, 3)) < 0.6
    both = active[:, 0] & active[:, 2]
    found = _correlations(z, active)
    assert found[0, 2] == pytest.approx(np.corrcoef(z[both, 0], z[both, 2])[0, 1])
    np.testing.assert_allclose(np.diag(found), 1)


def test_a_pair_is_tested_with_its_own_number_of_samples():
    correlations = np.array([[1, 0.2, 0.5], [0.2, 1, 0.4], [0.5, 0.4, 1]])
    partial = (0.2 - 0.5 * 0.4) / np.sqrt((1 - 0.25) * (1 - 0.16))
    assert partial == pytest.approx(0) and pairwise_p_value(correlations, 1000.0) == pytest.approx(1)
    pair = correlations[:2, :2]
    assert pairwise_p_value(pair, 1000.0) < 1e-8 < 0.2 < pairwise_p_value(pair, 40.0)
    assert pairwise_p_value(pair, 29.0) == 1 and pairwise_p_value(correlations, 29.0) == 0


def test_pairs_that_never_meet_are_left_unjoined_and_named():
    z = linear_gaussian(CHAIN)
    active = np.ones(z.shape, dtype=bool)
    active[::2, 0], active[1::2, 1] = False, False
    with pytest.warns(UserWarning, match="1 pairs of latents vary together in fewer than 30"):
        found = causal_graph(z, active=active)
    assert found[0, 1] == found[1, 0] == 0 and (found | found.T)[1, 2]


def test_recovered_latents_are_compared_after_matching():
    data = degenerate_mixture(6000, n_latents=5, profile="linear", random_state=1)
    turned = -3 * data.z[:, [4, 2, 0, 1, 3]]
    order = list(match_components(data.z, turned).order)
    np.testing.assert_array_equal(causal_graph(turned[:, order]), causal_graph(data.z))


def test_conflicts_become_undirected_edges():
    cycle = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    np.testing.assert_array_equal(_adjacency(cycle), 1 - np.eye(3, dtype=int))
    np.testing.assert_array_equal(_adjacency(np.array([[0, 1], [1, 0]])), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(_adjacency(np.array([[0, -1], [1, 0]])), [[0, 1], [0, 0]])


def test_a_single_latent_has_no_edges():
    np.testing.assert_array_equal(causal_graph(np.arange(9.0)[:, None]), [[0]])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"alpha": 0.0}, "`alpha` must be"),
        ({"max_parents": -1}, "`max_parents` must be"),
        ({"z": np.ones((50, 2))}, "constant columns"),
        ({"z": np.arange(100.0)[:, None] * [1, 2]}, "repeats others"),
        ({"active": np.ones((2, 2))}, "`active` must be zeros and ones of shape"),
        ({"active": np.arange(4000)[:, None] % 3 == np.arange(3)}, "got no such pair"),
        ({"z": np.full((50, 2), np.nan)}, "NaN"),
    ],
)
def test_bad_input(change, words):
    with pytest.raises(ValueError, match=words):
        causal_graph(**{"z": linear_gaussian(CHAIN)} | change)


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "causallearn.search.ConstraintBased.PC", None)
    with pytest.raises(ImportError, match=r"unmix\[causal\]"):
        causal_graph(linear_gaussian(CHAIN))
