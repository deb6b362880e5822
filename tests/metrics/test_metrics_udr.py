"""Agreement of runs without ground truth, against the paper's formula written out in loops."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from samples import normal
from unmix.metrics import udr


def pair_by_loops(a, b):
    R = np.array([[abs(spearmanr(x, y).statistic) for y in b.T] for x in a.T])
    total = sum(R[:, j].max() ** 2 / R[:, j].sum() for j in range(b.shape[1]))
    total += sum(R[i].max() ** 2 / R[i].sum() for i in range(a.shape[1]))
    return total / (a.shape[1] + b.shape[1])


def test_equals_equation_three_and_the_median_over_other_runs():
    z = normal(200, 3)
    runs = [z @ normal(3, m, seed=m) + 0.5 * normal(200, m, seed=9) for m in (2, 3, 4, 3)]
    others = [np.median([pair_by_loops(runs[i], runs[j]) for j in range(4) if j != i]) for i in range(4)]
    assert [udr(runs, run=i) for i in range(4)] == pytest.approx(others)
    assert udr(runs) == pytest.approx(np.mean(others))


@pytest.mark.parametrize("relation", ["spearman", "lasso"])
def test_signed_permutations_agree_and_rotations_do_not(relation):
    z = np.random.default_rng(0).uniform(size=(3000, 4))
    turn = np.linalg.qr(normal(4, 4))[0]
    assert udr([z, -z[:, [3, 0, 1, 2]]], relation=relation) > 0.89
    assert udr([z, z @ turn], relation=relation) < 0.75


def test_uninformative_codes_are_left_out():
    z = np.random.default_rng(0).uniform(size=(3000, 2))
    padded = np.hstack([z, np.ones((3000, 1)), 1e-4 * normal(3000, 2)])
    assert udr([z, padded], min_std=0.01) == udr([z, z])
    assert udr([z, padded]) < udr([z, z])
    assert udr([z, np.ones((3000, 2))]) == 0


@pytest.mark.parametrize(
    ("runs", "change", "words"),
    [
        ([normal(10, 2)], {}, "at least 2 runs"),
        ([normal(10, 2), normal(9, 2)], {}, "same rows"),
        ([normal(10, 2), np.full((10, 2), np.nan)], {}, r"`runs\[1\]` must be finite"),
        ([normal(10, 2), normal(10, 2)], {"relation": "pearson"}, "`relation` must be"),
        ([normal(10, 2), normal(10, 2)], {"run": 2}, "`run` must be one of 0 to 1"),
    ],
)
def test_bad_runs_are_named(runs, change, words):
    with pytest.raises(ValueError, match=words):
        udr(runs, **change)
