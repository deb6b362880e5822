"""MIG, SAP, IRS, modularity and explicitness: definitions, faults of published code, laws and edges."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score, roc_auc_score

import samples
from samples import rng
from unmix.metrics import irs, mig, modularity_explicitness, sap

seeds = st.integers(0, 2**32 - 1)


levels = partial(samples.levels, n=600, sizes=(2, 3, 5))


def noisy(z, scale=0.4, n_noise=2, seed=9):
    codes = np.column_stack(
        [z @ rng(seed).normal(size=(z.shape[1], 3)), rng(seed).normal(size=(len(z), n_noise))]
    )
    return codes + scale * rng(seed + 1).normal(size=codes.shape)


def both(z, codes):
    found = modularity_explicitness(z, codes)
    return found.modularity, found.explicitness


METRICS = (mig, sap, irs, lambda z, c: both(z, c)[0], lambda z, c: both(z, c)[1])
every = pytest.mark.parametrize("metric", METRICS, ids=["mig", "sap", "irs", "modularity", "explicitness"])


def histogram(column, bins):
    return np.digitize(column, np.histogram(column, bins)[1][:-1])  # as published code does


def entropy(column):
    return mutual_info_score(column, column)


@given(seeds)
def test_mig_equals_its_definition(seed):
    z = levels(seed=seed % 1000)
    codes = noisy(z, seed=seed % 1000)
    gaps = []
    for source in z.T:
        told = sorted(mutual_info_score(source, histogram(code, 20)) for code in codes.T)
        gaps.append((told[-1] - told[-2]) / entropy(source))
    assert mig(z, codes, bins=20) == pytest.approx(np.mean(gaps))


def test_mig_of_a_perfect_encoder_of_a_grid_is_high():
    """Published code that scrambles samples across codes gives 0.00 here."""
    grid = np.stack(np.meshgrid(np.arange(25), np.arange(25), np.arange(20), indexing="ij"), -1).reshape(
        -1, 3
    )
    scaled = (grid - grid.mean(0)) / grid.std(0)
    assert mig(grid, scaled + 0.1 * rng().normal(size=grid.shape)) > 0.6
    assert mig(grid, grid) == pytest.approx(1)


@given(seeds)
def test_sap_of_continuous_factors_equals_its_definition(seed):
    z = rng(seed).normal(size=(60, 3))
    codes = z @ rng(seed + 1).normal(size=(3, 4)) + rng(seed + 2).normal(size=(60, 4))
    squared = np.sort(np.corrcoef(z.T, codes.T)[:3, 3:] ** 2, axis=1)
    assert sap(z, codes) == pytest.approx((squared[:, -1] - squared[:, -2]).mean())


@given(seeds)
def test_sap_of_a_binary_factor_is_the_best_threshold(seed):
    z = rng(seed).integers(0, 2, (41, 1))
    codes = z + rng(seed + 1).normal(size=(41, 3))
    best = []
    for code in codes.T:
        cuts = np.sort(code)
        sides = [(code > cut) == positive for cut in cuts for positive in (True, False)]
        best.append(max((side[z[:, 0] == 1].mean() + (~side)[z[:, 0] == 0].mean()) / 2 for side in sides))
    # the threshold of least Gini impurity need not be the most accurate one, but is close to it
    assert sap(z, codes[:, :1]) == pytest.approx(best[0] - 0.5, abs=0.1)
    assert sap(z, codes[:, :1]) <= best[0] - 0.5 + 1e-12


def test_sap_finds_middle_levels():
    """A linear classifier of one level against the rest cannot, and gives a perfect code about 0.4."""
    z = levels(sizes=(6,))
    assert sap(z, z + 0.01 * rng().normal(size=z.shape)) == pytest.approx(1 - 1 / 6)
    assert sap(z, np.column_stack([z, np.zeros(len(z))])) == pytest.approx(1 - 1 / 6)


@pytest.mark.parametrize("weighted", [False, True])
def test_irs_equals_its_definition(weighted):
    z = levels()
    codes = noisy(z) * [1, 20, 0.1, 3, 1]
    reach = np.abs(codes - codes.mean(0)).max(0)
    scores = np.zeros((codes.shape[1], z.shape[1]))
    for j, code in enumerate(codes.T):
        for i, source in enumerate(z.T):
            groups = [code[source == value] for value in np.unique(source)]
            strays = [np.percentile(np.abs(group - group.mean()), 99) for group in groups]
            scores[j, i] = 1 - np.mean(strays) / reach[j]
    expected = np.average(scores.max(1), weights=reach if weighted else None)
    assert irs(z, codes, weighted=weighted) == pytest.approx(expected)


def test_irs_counts_codes_not_their_values():
    """Published code sums the values of active codes where it means to count them."""
    z = levels()
    assert irs(z, np.column_stack([z, np.zeros(len(z))])) == pytest.approx(1)
    assert irs(z, np.zeros((len(z), 2))) == 0
    assert irs(z, -5.0 * z) == pytest.approx(1)


def test_irs_of_a_continuous_copy_loses_only_what_varies_within_bins():
    z = rng().uniform(-1, 1, size=(8000, 2))
    assert irs(z, z) == pytest.approx(1 - 1 / 20, abs=0.003)
    assert irs(z, z, bins=40) == pytest.approx(1 - 1 / 40, abs=0.003)


@given(seeds)
def test_modularity_equals_its_definition(seed):
    z = levels(seed=seed % 1000)
    codes = noisy(z, seed=seed % 1000)
    found = []
    for code in codes.T:
        told = np.array([mutual_info_score(source, histogram(code, 20)) for source in z.T])
        template = np.where(told == told.max(), told.max(), 0)
        found.append(1 - ((told - template) ** 2).sum() / (told.max() ** 2 * (z.shape[1] - 1)))
    assert modularity_explicitness(z, codes, bins=20).modularity == pytest.approx(np.mean(found))


def test_explicitness_equals_its_definition():
    z = levels(n=300)
    codes = noisy(z)
    scaled = (codes - codes.mean(0)) / codes.std(0)
    rows = rng().permutation(300)
    fit, held_out = rows[100:], rows[:100]
    areas = []
    for source in z.T:
        model = LogisticRegression(class_weight="balanced", max_iter=5000).fit(scaled[fit], source[fit])
        probability = model.predict_proba(scaled[held_out])
        columns = [roc_auc_score(source[held_out] == v, probability[:, v]) for v in np.unique(source)]
        areas.append(np.mean(columns))
    assert modularity_explicitness(z, codes).explicitness == pytest.approx(np.mean(areas))


def test_explicitness_of_numbers_is_that_of_levels_where_there_are_two():
    z = levels(sizes=(2, 2))
    codes = noisy(z, scale=1.5)
    as_levels = modularity_explicitness(z, codes)
    as_numbers = modularity_explicitness(z, codes, discrete=False)
    assert as_levels.discrete == (True, True) and as_numbers.discrete == (False, False)
    assert 0.6 < as_levels.explicitness < 0.99
    # τ_b corrects for ties among the truth; without them the two agree
    assert as_numbers.explicitness == pytest.approx(as_levels.explicitness, abs=0.1)


def test_a_linear_mix_is_fully_explicit_and_hardly_modular():
    z = rng().normal(size=(3000, 3))
    mixed = z @ (np.eye(3) - 2 / 3)
    found = modularity_explicitness(z, mixed)
    assert found.explicitness == pytest.approx(1) and found.modularity < 0.7
    assert modularity_explicitness(z, z).modularity > 0.99


@every
def test_order_sign_and_scale_of_codes_and_order_of_samples_are_free(metric):
    z = levels()
    codes = noisy(z)
    expected = metric(z, codes)
    moved = codes[:, [3, 0, 4, 1, 2]] * [-3, 0.01, 200, 1, -1] + [5, 0, -40, 0, 1e3]
    assert metric(z, moved) == pytest.approx(expected, abs=1e-6)
    assert metric(z[:, [2, 0, 1]], codes) == pytest.approx(expected, abs=1e-6)
    rows = rng(3).permutation(len(z))
    assert metric(z[rows], codes[rows]) == pytest.approx(
        expected, abs=0.02 if metric is METRICS[-1] else 1e-9
    )


@every
def test_noise_scores_less_than_the_truth(metric):
    z = levels()
    assert metric(z, rng(5).normal(size=z.shape)) < metric(z, z) - 0.1


@every
@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_units_of_factors_and_codes_may_be_huge_or_tiny(metric, unit):
    z = rng().normal(size=(200, 2))
    codes = z + 0.3 * rng(1).normal(size=z.shape)
    assert metric(unit * z, unit * codes) == pytest.approx(metric(z, codes), abs=1e-6)
    assert np.isfinite(irs(unit * z, unit * codes, weighted=True))


def test_irs_is_never_negative():
    z = np.repeat([[0], [1]], 5, axis=0)
    codes = np.array([[0], [0], [0], [0], [1], [1], [1], [1], [1], [0]])  # strays 0.8, reaches 0.5
    assert irs(z, codes, quantile=1) == 0


def test_copies_of_a_code_close_the_gaps():
    z = levels()
    assert mig(z, np.hstack([z, z])) == pytest.approx(0, abs=1e-12)
    assert sap(z, np.hstack([z, z])) == pytest.approx(0, abs=1e-12)
    assert irs(z, np.hstack([z, z])) == pytest.approx(1)
    assert both(z, np.hstack([z, z])) == pytest.approx(both(z, z), abs=0.01)


def test_one_factor_and_one_code_have_values():
    z = levels(sizes=(4,))
    assert (
        mig(z, z) == pytest.approx(1) and sap(z, z) == pytest.approx(0.75) and irs(z, z) == pytest.approx(1)
    )
    assert modularity_explicitness(z, z).modularity == 1
    assert mig(levels(seed=50), z) < 0.02


def test_constant_codes_tell_nothing():
    z, dead = levels(), np.full((600, 2), 0.1)
    assert mig(z, dead) == 0 and sap(z, dead) == pytest.approx(0) and irs(z, dead) == 0
    assert both(z, dead) == (0, 0.5)
    modularity, explicitness = both(z, z)
    share = z.shape[1] / (z.shape[1] + 2)  # a constant code counts 0, as in the published estimate
    assert both(z, np.hstack([z, dead])) == pytest.approx((share * modularity, explicitness), abs=1e-6)


@every
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda z, c: (z, np.where(c == c[0, 0], np.nan, c)), "`z_hat` must be finite"),
        (lambda z, c: (z, c[:-1]), "as many rows"),
        (lambda z, c: (z[:1], c[:1]), "at least"),
        (lambda z, c: (np.zeros_like(z), c), "constant column 0"),
    ],
    ids=["nan", "mismatch", "single sample", "constant"],
)
def test_bad_input_is_named(metric, spoil, message):
    z = levels()
    with pytest.raises(ValueError, match=message):
        metric(*spoil(z, noisy(z)))


def test_bad_arguments_are_named():
    z = levels()
    with pytest.raises(ValueError, match="`bins` must be at least 2"):
        mig(z, z, bins=1)
    with pytest.raises(ValueError, match="`discrete` must be None"):
        sap(z, z, discrete=[True])
    with pytest.raises(ValueError, match=r"`quantile` must be in \(0, 1\]"):
        irs(z, z, quantile=0)
