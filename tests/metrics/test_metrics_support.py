"""Activity patterns and found rows, against their definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from unmix.data import degenerate_mixture
from unmix.metrics import r2, rows_found, support_f1

patterns = arrays(bool, st.tuples(st.just(6), st.just(3)))


def f1(truth, found):
    common = (truth & found).sum()
    precision, recall = common / max(found.sum(), 1), common / max(truth.sum(), 1)
    return (
        2 * precision * recall / (precision + recall)
        if common
        else float(not truth.any() and not found.any())
    )


@given(truth=patterns, found=patterns)
def test_support_f1_is_the_best_f1_over_all_relabellings(truth, found):
    best = max(f1(truth, found[:, order]) for order in itertools.permutations(range(3)))
    assert support_f1(truth, found) == pytest.approx(best)
    assert support_f1(found, truth) == pytest.approx(support_f1(truth, found))


@given(truth=patterns)
def test_support_f1_ignores_order_and_counts_codes_in_excess_as_wrong(truth):
    assert support_f1(truth, truth[:, [2, 0, 1]]) == 1
    excess = np.column_stack([truth, np.ones(6)])
    assert support_f1(truth, excess) == pytest.approx(2 * truth.sum() / (2 * truth.sum() + 6))


def test_calling_all_active_scores_the_floor():
    data = degenerate_mixture(1000, n_latents=10, random_state=0)
    active = data.masks[data.labels]
    assert support_f1(active, np.ones_like(active)) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("truth", "found", "words"),
    [
        (np.ones(3), np.ones((3, 1)), "`active_true` must have shape"),
        (np.ones((3, 1)), np.full((3, 1), 0.5), "`active_hat` must hold zeros and ones"),
        (np.ones((3, 1)), np.ones((2, 1)), "as many rows"),
    ],
)
def test_support_f1_refuses(truth, found, words):
    with pytest.raises(ValueError, match=words):
        support_f1(truth, found)


def test_rows_found_counts_by_the_threshold():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(4000, 4))
    codes = z[:, [1, 3, 0, 2]] * [1, -2, 3, 4] + [0, 1, 0, 0]
    codes[:, 3] += 4 * 0.5 * rng.normal(size=4000)  # correlation 1 / sqrt(1.25) = 0.894
    assert [rows_found(z, codes, threshold=t) for t in (0.85, 0.95)] == [4, 3]
    assert rows_found(z, codes[:, :2]) == 2
    assert rows_found(z, np.exp(z), method="spearman") == 4 > rows_found(z, np.exp(z))
    with pytest.raises(ValueError, match="`threshold` must be"):
        rows_found(z, z, threshold=0.0)


def test_r2_of_codes_given_latents_sees_what_codes_hold_beyond_them():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(2000, 2))
    codes = np.column_stack([z[:, 0] + z[:, 1], z[:, 0] - z[:, 1], rng.normal(size=2000)])
    assert r2(z, codes) == pytest.approx(1) and r2(codes, z) == pytest.approx(2 / 3, abs=0.02)
