"""FactorVAE and BetaVAE scores against loops over their definitions, from arrays and from generators."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from samples import normal
from unmix.metrics import beta_vae_score, factor_vae_score

FEW = {"n_train": 300, "n_eval": 300, "batch_size": 32}
BOTH = pytest.mark.parametrize("score", [factor_vae_score, beta_vae_score])


def grid(n=1500, d=3, levels=4, seed=0):
    return np.random.default_rng(seed).integers(0, levels, (n, d)).astype(float)


def factor_vae_by_loops(z, codes, n_train, n_eval, batch_size, rng):
    def vote():
        k = rng.integers(z.shape[1])
        same = np.flatnonzero(z[:, k] == z[rng.integers(len(z)), k])
        batch = codes[rng.choice(same, batch_size)]
        return int(np.argmin(batch.var(0, ddof=1) / codes.var(0, ddof=1))), k

    table = np.zeros((codes.shape[1], z.shape[1]))
    for _ in range(n_train):
        table[vote()] += 1
    rule = table.argmax(1)
    return np.mean([rule[j] == k for j, k in (vote() for _ in range(n_eval))])


def beta_vae_by_loops(z, codes, n_train, n_eval, batch_size, rng):
    scaled = codes / codes.std(0)

    def point():
        k = rng.integers(z.shape[1])
        differences = []
        for _ in range(batch_size):
            same = np.flatnonzero(z[:, k] == z[rng.integers(len(z)), k])
            a, b = rng.choice(same, 2)
            differences.append(np.abs(scaled[a] - scaled[b]))
        return np.mean(differences, 0), k

    x, y = zip(*[point() for _ in range(n_train + n_eval)], strict=True)
    rule = LogisticRegression(max_iter=1000).fit(x[:n_train], y[:n_train])
    return rule.score(x[n_train:], y[n_train:])


@pytest.mark.parametrize(
    ("score", "by_loops", "n", "tolerance", "spread"),
    [
        *((factor_vae_score, factor_vae_by_loops, 1500, 0.05, spread) for spread in (0.5, 1.5, 6.0)),
        *((beta_vae_score, beta_vae_by_loops, 400, 0.08, spread) for spread in (1.5, 6.0)),
    ],
)
def test_scores_equal_their_definitions_within_sampling_error(score, by_loops, n, tolerance, spread):
    z = grid(n)
    codes = z @ np.array([[1, 0.6, 0.2], [0, 1, 0.5], [0.3, 0, 1]]) + spread * normal(n, 3)
    expected = by_loops(z, codes, n, n, 16, np.random.default_rng(1))
    assert score(z, codes, n_train=n, n_eval=n, batch_size=16) == pytest.approx(expected, abs=tolerance)


@BOTH
def test_perfect_codes_score_one_and_noise_scores_chance(score):
    z = grid(d=4)
    assert score(z, -3 * z[:, [3, 1, 0, 2]], **FEW) == 1
    assert score(z, normal(1500, 4), **FEW) == pytest.approx(0.25, abs=0.1)


@BOTH
def test_surplus_noise_codes_and_missing_codes(score):
    z = grid(d=4)
    assert score(z, np.hstack([normal(1500, 5), z]), **FEW) > 0.99
    missing = score(z, z[:, :2], **FEW)
    assert 0.5 < missing < 1
    if score is factor_vae_score:
        assert missing < 0.8  # two codes can stand for two of four factors, and no more


@BOTH
def test_a_generator_and_an_encoder_are_interventions(score):
    z = grid()
    mixing = normal(3, 5)
    found = score(z, lambda x: x @ np.linalg.pinv(mixing), generator=lambda f: f @ mixing, **FEW)
    assert found == 1
    assert score(z, lambda factors: factors**2, **FEW) == 1


@BOTH
def test_dependent_factors_mislead_rows_but_not_interventions(score):
    first = grid(d=1)
    z = np.hstack([first, (first + (np.random.default_rng(1).random((1500, 1)) < 0.05)) % 4])
    assert score(z, lambda factors: factors, **FEW) == 1
    assert score(z, z + normal(1500, 2), **FEW) < 0.9  # rows that share one factor nearly share the other


@BOTH
def test_continuous_factors_stand_still_within_a_bin(score):
    z = np.random.default_rng(0).uniform(size=(2000, 3))
    assert score(z, np.exp(z), **FEW) > 0.98
    assert score(z, np.exp(z), discrete=False, bins=5, **FEW) > 0.98


@BOTH
def test_units_signs_and_the_order_of_codes_do_not_matter(score):
    z = grid()
    codes = z + 3 * normal(1500, 3)
    extra = {"min_std": 0.0} if score is factor_vae_score else {}
    moved = codes[:, [2, 0, 1]] * [-3.0, 0.001, 200.0] + [5.0, 0.0, -40.0]
    assert score(z, moved, **FEW, **extra) == pytest.approx(score(z, codes, **FEW, **extra), abs=1e-9)


def test_codes_below_the_threshold_are_inactive():
    z = grid()
    small = z * 0.01
    with pytest.warns(UserWarning, match="min_std=0"):
        assert factor_vae_score(z, small, **FEW) == 1
    with pytest.warns(UserWarning, match="min_std=0"):  # then a share of the widest: one code of three
        assert factor_vae_score(z, small * [1, 0.01, 0.01], **FEW) == pytest.approx(1 / 3, abs=0.1)
    assert factor_vae_score(z, small, min_std=0, **FEW) == 1
    half = np.column_stack([z[:, 0], small[:, 1:]])
    with pytest.warns(UserWarning, match="no vote: 1, 2"):
        assert factor_vae_score(z, half, **FEW) == pytest.approx(1 / 3, abs=0.1)


@BOTH
def test_constant_codes_score_chance_at_most_and_one_factor_one(score):
    z = grid()
    chance = 0 if score is factor_vae_score else pytest.approx(1 / 3, abs=0.1)
    assert score(z, np.ones((1500, 2)), **FEW) == chance
    assert score(z[:, :1], normal(1500, 2), **FEW) == 1
    assert score(z, np.column_stack([np.ones(1500), z]), **FEW) == 1


@BOTH
def test_a_score_is_a_number_and_a_seed_moves_it(score):
    z = grid()
    codes = z + 3 * normal(1500, 3)
    assert score(z, codes, **FEW) == score(z, codes, **FEW) != score(z, codes, random_state=1, **FEW)
    assert type(score(z, codes, **FEW)) is float


@BOTH
@pytest.mark.parametrize(
    ("z", "codes", "change", "error", "words"),
    [
        (normal(10, 2), normal(9, 2), {}, ValueError, "as many rows"),
        (normal(10, 2), normal(10, 2), {"n_train": 1}, ValueError, "`n_train` must be at least 2"),
        (normal(10, 2), normal(10, 2), {"bins": 1}, ValueError, "`bins` must be at least 2"),
        (normal(10, 2), normal(10, 2), {"discrete": True}, ValueError, "values repeat"),
        (normal(10, 2), normal(10, 2), {"generator": np.exp}, TypeError, "must be an encoder"),
        (normal(9, 2), normal(9, 2), {"bins": 20}, ValueError, "share a value"),
        (grid(20), lambda f: f[:-1], {}, ValueError, "one row per sample"),
        (grid(20), lambda f: f * np.nan, {}, ValueError, "must be finite"),
    ],
)
def test_bad_input_is_named(score, z, codes, change, error, words):
    with pytest.raises(error, match=words):
        score(z, codes, **change)
