"""Structure recovery against the definition of F1 under every relabelling."""

import itertools

import numpy as np
import pytest

from unmix.metrics import structure_f1, structure_recovery
from unmix.structure import Structure


def f1(true, estimated):
    common = (true & estimated).n_edges
    if not common:
        return 0.0
    precision, recall = common / estimated.n_edges, common / true.n_edges
    return 2 * precision * recall / (precision + recall)


def test_equals_the_best_f1_over_all_relabellings():
    rng = np.random.default_rng(0)
    for _ in range(60):
        true, estimated = (Structure(rng.random((4, 3)) < density) for density in (0.4, 0.6))
        if true.n_edges + estimated.n_edges:
            best = max(f1(true, estimated.permute(order)) for order in itertools.permutations(range(3)))
            assert structure_f1(true, estimated) == pytest.approx(best)


def test_nothing_found_and_nothing_to_find():
    empty, full = Structure(np.zeros((2, 2))), Structure(np.ones((2, 2)))
    assert structure_f1(empty, empty) == 1 and structure_f1(full, empty) == 0


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="must have shape"):
        structure_f1(Structure([[1, 0]]), Structure([[1]]))


def test_recovery_counts_edges_after_the_best_relabelling():
    rng = np.random.default_rng(0)
    for _ in range(40):
        true, estimated = (Structure(rng.random((4, 3)) < density) for density in (0.5, 0.6))
        found = structure_recovery(true, estimated)
        aligned = estimated.permute(found.order)
        common = int((true.support & aligned.support).sum())
        assert found.hamming == int((true.support != aligned.support).sum()) == true.hamming(estimated)
        assert found.precision * estimated.n_edges == pytest.approx(common)
        assert found.recall * true.n_edges == pytest.approx(common)
        assert found.f1 == pytest.approx(f1(true, aligned)) and found.exact == (true == aligned)


def test_recovery_of_the_truth_and_of_nothing():
    truth, empty = Structure([[1, 0, 1], [0, 1, 1]]), Structure(np.zeros((2, 3)))
    perfect = structure_recovery(truth, truth.permute([2, 0, 1]))
    assert perfect.exact and perfect.f1 == perfect.precision == perfect.recall == 1
    nothing = structure_recovery(truth, empty)
    assert (nothing.precision, nothing.recall, nothing.f1, nothing.hamming) == (1, 0, 0, 4)
    assert structure_recovery(empty, truth).recall == 1 and structure_recovery(empty, empty).exact
