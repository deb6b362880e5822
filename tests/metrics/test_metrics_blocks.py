"""R2 by block and by weight, the boosted probe, and blocks against groups of codes."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from samples import normal
from unmix.metrics import block_r2, r2


def test_blocks_count_alike_whatever_their_size():
    z = normal(4000, 4)
    codes = z[:, [3]]
    assert r2(z, codes) == pytest.approx(0.25, abs=0.01)
    assert r2(z, codes, blocks=[[0, 1, 2], [3]]) == pytest.approx(0.5, abs=0.01)


def test_weighted_least_squares_follows_its_definition():
    z, weights = normal(200, 2), np.random.default_rng(1).uniform(0.1, 3, 200)
    codes = z @ normal(2, 3, seed=2) + normal(200, 3, seed=3)
    fit, held_out = np.array_split(np.random.default_rng(0).permutation(200), 2)
    model = LinearRegression().fit(codes[fit], z[fit], sample_weight=weights[fit])
    shares = []
    for j in range(2):
        y, w = z[held_out, j], weights[held_out]
        left = (w * (y - model.predict(codes[held_out])[:, j]) ** 2).sum()
        shares.append(1 - left / (w * (y - np.average(y, weights=w)) ** 2).sum())
    assert r2(z, codes, weights=weights) == pytest.approx(np.mean(shares))


@pytest.mark.parametrize("probe", ["linear", "kernel", "boosted"])
def test_samples_without_weight_are_left_out(probe):
    z = normal(300, 1)
    codes = np.where(np.arange(300)[:, None] < 240, z, np.nan)
    seen = np.arange(300) < 240
    assert r2(z, codes, probe=probe, weights=seen) == r2(z[:240], z[:240], probe=probe)


@pytest.mark.parametrize("probe", ["kernel", "boosted"])
def test_weights_move_every_probe(probe):
    z = normal(400, 1)
    codes = np.where(np.arange(400)[:, None] % 2 > 0, z, -z)
    weights = np.where(np.arange(400) % 2 > 0, 1.0, 1e-4)
    assert r2(z, codes, probe=probe) < 0.3 and r2(z, codes, probe=probe, weights=weights) > 0.8


def test_boosted_trees_see_steps_that_lines_do_not():
    z = np.random.default_rng(0).integers(0, 4, (800, 1))
    codes = np.array([2.0, 0.0, 3.0, 1.0])[z] + 0.05 * normal(800, 1)
    assert r2(z, codes, probe="boosted") > 0.9 and r2(z, codes) < 0.2
    assert r2(z, normal(800, 3, seed=1), probe="boosted") < 0.05


def test_the_matrix_holds_r2_of_each_block_from_each_group():
    z = normal(300, 3)
    codes = z @ normal(3, 4, seed=1)
    blocks, groups = [[0, 2], [1]], [[3], [0, 1]]
    found = block_r2(z, codes, blocks=blocks, code_blocks=groups, probe="linear", random_state=5)
    expected = [[r2(z[:, b], codes[:, g], random_state=5) for g in groups] for b in blocks]
    np.testing.assert_allclose(found, expected)
    whole = block_r2(z, codes, code_blocks=[range(4)], probe="linear", random_state=5)
    assert whole.shape == (3, 1) and whole.mean() == pytest.approx(r2(z, codes, random_state=5))


def test_identified_blocks_show_as_one_large_entry_per_row():
    z = normal(600, 4)
    codes = np.column_stack([np.tanh(z[:, 2]), z[:, 0] + z[:, 1], z[:, 0] - z[:, 1], z[:, 3] ** 3])
    found = block_r2(z, codes, blocks=[[0, 1], [2], [3]], code_blocks=[[1, 2], [0], [3]])
    assert (np.diag(found) > 0.8).all() and found[~np.eye(3, dtype=bool)].max() < 0.05


def test_one_split_serves_all_entries_of_a_random_draw():
    z = normal(40, 2)
    found = block_r2(z, z[:, [0, 0]], random_state=np.random.default_rng(2))
    np.testing.assert_array_equal(found[:, 0], found[:, 1])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"blocks": [[0, 2]]}, "`blocks` must hold blocks of columns 0 to 1"),
        ({"blocks": [[]]}, "none empty"),
        ({"blocks": []}, "`blocks`"),
        ({"code_blocks": [[-1]]}, "`code_blocks`"),
        ({"probe": "tree"}, "`probe` must be one of"),
        ({"n_fit": 1}, "`n_fit`"),
    ],
)
def test_bad_arguments_are_named(change, words):
    with pytest.raises(ValueError, match=words):
        block_r2(normal(20, 2), normal(20, 2), **change)
