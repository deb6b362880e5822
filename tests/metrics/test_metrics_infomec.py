"""InfoMEC on vectors with known answers, its presets, its laws and its edges."""

import numpy as np
import pytest

from samples import rng
from unmix.metrics import infomec
from unmix.metrics._linear_probes import level_probabilities


def scores(found):
    return found.modularity, found.explicitness, found.compactness


def discrete_vector():
    s1, s2 = np.repeat([0, 1], 4), np.tile([0, 1, 2, 3], 2)
    return np.column_stack([s1, s2]), np.column_stack([s1, s2, s1 + 2 * (s2 >= 2), 0 * s1])


def continuous_vector():
    i = np.arange(120)
    s1, s2 = i % 3, i // 3 % 4
    u = [np.sqrt(a) * i**2 % 1 - 0.5 for a in (2, 3, 5, 7)]
    codes = [s1 + 2.4 * u[0], s2 + 2.4 * u[1], (s1 + s2) / 2 + u[2], 0.05 * u[3]]
    return np.column_stack([s1, s2]), np.column_stack(codes)


def noisy_levels(n=600, n_noise=2):
    z = np.column_stack([rng(levels).integers(0, levels, n) for levels in (3, 4, 6)])
    return z, np.hstack([z + 0.3 * rng(1).normal(size=z.shape), rng(2).normal(size=(n, n_noise))])


def test_discrete_vector_is_exact():
    found = infomec(*discrete_vector())
    np.testing.assert_allclose(found.nmi, [[1, 0, 1, 0], [0, 1, 0.5, 0]], atol=1e-12)
    assert found.active == (True, True, True, False)
    assert found.modularity == pytest.approx(7 / 9) and found.compactness == pytest.approx(3 / 8)
    assert 1 - 1e-3 < found.explicitness <= 1


def test_continuous_vector_is_reproduced():
    z, codes = continuous_vector()
    np.testing.assert_allclose(codes[1], [0.794113, 0.556922, 0.236068, 0.007288], atol=1e-6)
    found = infomec(z, codes)
    expected = [[0.418870, 0, 0.153692, 0], [0, 0.467580, 0.263398, 0]]
    np.testing.assert_allclose(found.nmi, expected, atol=1e-6)
    assert found.active == (True, True, True, False) and found.discrete == (True, True)
    assert scores(found) == pytest.approx((0.754342, 0.562792, 0.528426), abs=2e-6)


def test_the_log_loss_of_each_source_is_reproduced():
    z, codes = continuous_vector()
    scaled = (codes - codes.mean(0)) / codes.std(0)
    rows = np.arange(len(z))
    losses = [-np.log(level_probabilities(scaled, s, scaled)[rows, s]).mean() for s in z.T]
    assert losses == pytest.approx([0.511204, 0.567130], abs=2e-6)


def test_presets_differ_as_documented():
    z, codes = continuous_vector()
    codes[:, 2] *= 0.1  # about 1/15 of the widest range
    wide = infomec(z, codes)
    assert wide.active == (True, True, True, False)
    logged = infomec(z, codes, preset="hsu2023-logged")
    assert logged.active == (True, True, False, False) and not np.allclose(logged.nmi, wide.nmi)
    spiky = codes.copy()
    spiky[:, 3] *= 1e-3
    spiky[0, 3] = 5.0  # a wide range, hardly any spread
    assert infomec(z, spiky).active[3] and not infomec(z, spiky, preset="tripod").active[3]
    assert infomec(z, codes, prune=0).active == (True, True, True, True)
    assert "prune=0" in infomec(z, codes).notes[0]


def test_order_and_sign_of_codes_and_order_of_samples_are_free():
    z, codes = noisy_levels()
    expected = scores(infomec(z, codes))
    rows, order = rng(3).permutation(len(z)), [4, 0, 3, 1, 2]
    assert scores(infomec(z, -codes)) == pytest.approx(expected, abs=1e-4)
    assert scores(infomec(z[rows], codes[rows][:, order])) == pytest.approx(expected, abs=1e-4)
    assert scores(infomec(z[:, [2, 0, 1]], 3 * codes + 1)) == pytest.approx(expected, abs=1e-4)


def test_explicitness_survives_a_linear_mix_and_modularity_does_not():
    z, codes = noisy_levels(n_noise=0)
    mixed = codes @ (np.eye(3) - 2 / 3)  # a reflection that spreads each factor over all codes
    plain, found = infomec(z, codes), infomec(z, mixed)
    assert found.explicitness == pytest.approx(plain.explicitness, abs=1e-3)
    assert found.modularity < plain.modularity - 0.3 and found.compactness < plain.compactness - 0.3


def test_a_scaled_permutation_of_gaussian_factors_is_fully_explicit():
    z = rng().normal(size=(1000, 4))
    found = infomec(z, z[:, [2, 0, 3, 1]] * [-3, 1, 0.5, 2])
    assert found.explicitness == pytest.approx(1, abs=1e-9)  # 0.37 where factors are binned first
    assert found.modularity > 0.95 and found.compactness > 0.95
    assert found.discrete == (False,) * 4


def test_kinds_may_be_mixed_and_declared():
    z, codes = noisy_levels()
    both = np.column_stack([z, rng(5).normal(size=len(z))])
    found = infomec(both, np.column_stack([codes, both[:, 3]]))
    assert found.discrete == (True, True, True, False) and found.nmi[3, 5] > 0.9
    line = infomec(z, z.astype(float), discrete=False, discrete_codes=False)
    assert line.explicitness == pytest.approx(1) and line.discrete_codes == (False,) * 3


def test_edges_have_documented_values():
    z, codes = noisy_levels()
    dead = infomec(z, np.ones((len(z), 2)))
    assert scores(dead) == (0, 0, 0) and dead.notes == ("No code varies: all scores are 0.",)
    one = infomec(z, codes[:, :1])
    assert np.isnan(one.compactness) and "Compactness is undefined" in one.notes[0] and one.modularity > 0.5
    single = infomec(z[:, :1], codes)
    assert np.isnan(single.modularity) and "Modularity is undefined" in single.notes[0]
    assert single.compactness > 0.8


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_units_may_be_huge_or_tiny(unit):
    z = rng().normal(size=(200, 2))
    codes = z + 0.3 * rng(1).normal(size=z.shape)
    assert scores(infomec(unit * z, unit * codes)) == pytest.approx(scores(infomec(z, codes)), abs=1e-6)


def test_a_code_that_tells_nothing_is_left_out_and_a_factor_no_code_tells_counts_zero():
    s1, s2 = np.repeat([0, 1], 8), np.tile([0, 0, 1, 1], 4)
    nothing = np.tile([0, 1], 8)
    z = np.column_stack([s1, s2])
    assert infomec(z, np.column_stack([s1, s2, nothing])).modularity == pytest.approx(1)
    found = infomec(z, np.column_stack([s1, nothing]))
    assert found.modularity == pytest.approx(1) and found.compactness == pytest.approx(0.5)


def test_few_rows_tell_no_more_than_there_is_to_know():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        for n in (3, 4, 5):
            truth = rng.permutation(np.arange(2 * n) % 3).reshape(n, 2)
            for z in (rng.normal(size=(n, 2)), truth):
                if np.ptp(z, axis=0).all():
                    found = infomec(z, rng.normal(size=(n, 2)), discrete=False)
                    assert np.isfinite(found.nmi).all() and found.nmi.max() <= 1
                    assert max(found.modularity, found.compactness, found.explicitness) <= 1


def test_duplicated_codes_halve_compactness_but_not_modularity():
    s1, s2 = np.repeat([0, 1], 8), np.tile([0, 0, 1, 1], 4)
    z = np.column_stack([s1, s2])
    found = infomec(z, np.hstack([z, z]))
    assert found.modularity == pytest.approx(1) and found.compactness == pytest.approx(
        (1 / 2 - 1 / 4) / (3 / 4)
    )


def test_bad_arguments_are_named():
    z, codes = noisy_levels()
    with pytest.raises(ValueError, match="`preset` must be one of"):
        infomec(z, codes, preset="mine")
    with pytest.raises(ValueError, match=r"`prune` must be in \[0, 1\), got 1"):
        infomec(z, codes, prune=1)
    with pytest.raises(ValueError, match="constant column 0"):
        infomec(np.ones_like(z), codes)
    with pytest.raises(ValueError, match="`discrete_codes` must be"):
        infomec(z, codes, discrete_codes=[True])
