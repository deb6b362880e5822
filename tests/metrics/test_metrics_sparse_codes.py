"""Scores of sparse codes: laws, values by definition, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from families import CODES, every
from unmix.metrics import (
    dead_share,
    density,
    explained_variance,
    feature_jacobian_sparsity,
    l0,
    loss_recovered,
    reconstruction_cosine,
    score_codes,
)


def drawn(seed=0, n=50, d=4, m=7):
    rng = np.random.default_rng(seed)
    codes = np.maximum(rng.normal(size=(n, m)) - 0.5, 0) * (np.arange(m) != 3)
    x = codes @ rng.normal(size=(m, d)) + 1
    return x, codes, x + 0.1 * rng.normal(size=(n, d))


@every(CODES)
@given(seed=st.integers(0, 100))
def test_a_score_ignores_the_order_of_rows_and_features_and_how_codes_are_kept(member, seed):
    x, codes, x_hat = drawn(seed)
    rng = np.random.default_rng(seed + 1)
    rows, features = rng.permutation(len(x)), rng.permutation(codes.shape[1])
    before = member(x, codes, x_hat)
    assert np.isfinite(before)
    assert member(x[rows], codes[rows][:, features], x_hat[rows]) == pytest.approx(before)
    assert member(x, sparse.csr_array(codes), x_hat) == before
    assert member(x, sparse.coo_matrix(codes), x_hat) == before


def test_scores_by_definition():
    x, codes, x_hat = drawn()
    assert l0(codes) == pytest.approx((codes > 0).sum(1).mean())
    np.testing.assert_allclose(density(codes), (codes > 0).mean(0))
    assert dead_share(codes) == 1 / 7
    assert explained_variance(x, x) == 1 and explained_variance(x, np.tile(x.mean(0), (50, 1))) == 0
    assert reconstruction_cosine(x, 5 * x) == pytest.approx(1)
    found = score_codes(x, codes, x_hat)
    assert found.explained_variance == explained_variance(x, x_hat) and found.l0 == l0(codes)
    assert found.dense_share == 6 / 7 and found.to_dict()["dead_share"] == 1 / 7


def test_one_masked_outlier_can_make_any_reconstruction_look_perfect():
    x, codes, x_hat = drawn()
    x = np.vstack([x, np.full((1, 4), 1e4)])
    x_hat = np.vstack([0 * x_hat, np.full((1, 4), 1e4)])
    masked = np.arange(51) == 50
    assert explained_variance(x, x_hat) > 0.99 and explained_variance(x, x_hat, masked=masked) < 0
    codes = np.vstack([codes, np.ones((1, 7))])
    assert score_codes(x, codes, x_hat, masked=masked).l0 == l0(codes[:50])


def test_dead_means_the_same_for_any_number_of_rows():
    rng = np.random.default_rng(0)
    rates = np.array([0.2, 0.1, 0.1, 4e-5])  # the last fires at less than a thousandth of the average rate
    many = sparse.csr_array((rng.random((300_000, 4)) < rates).astype(float))
    assert many[:, [3]].nnz > 0
    assert dead_share(many) == dead_share(many[:1000]) == 0.25


def test_losses_and_jacobians():
    assert loss_recovered(3.0, 3.0, 8.0) == 1 and loss_recovered(3.0, 8.0, 8.0) == 0
    with pytest.raises(ValueError, match="`ablated` must be above"):
        loss_recovered(3.0, 3.0, 3.0)
    assert feature_jacobian_sparsity(np.eye(4)[None]) == 12 / 16
    assert feature_jacobian_sparsity(1e6 * np.eye(4)[None]) == 12 / 16
    with pytest.raises(ValueError, match="`jacobians` must have shape"):
        feature_jacobian_sparsity(np.eye(3))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda x, c, h: explained_variance(x, h[:-1]), "`x_hat` must have the shape"),
        (lambda x, c, h: explained_variance(x * np.nan, h), "must be finite"),
        (lambda x, c, h: explained_variance(x, h, masked=np.ones(50, bool)), "`masked` must leave some"),
        (lambda x, c, h: explained_variance(np.ones((3, 2)), np.ones((3, 2))), "`x` must vary"),
        (lambda x, c, h: l0(c * np.inf), "`codes` must be finite"),
        (lambda x, c, h: l0(np.zeros((0, 3))), "`codes` must have rows"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_cannot_be_scored_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call(*drawn())
