"""Units and holes: extreme scales change nothing, lost digits and masked entries are said."""

import numpy as np
import pytest

from unmix import metrics
from unmix.estimators import CGVAE, Autoencoder, LabelledSparseAutoencoder

SCORES = {
    "mcc": metrics.mcc,
    "r2": metrics.r2,
    "mig": metrics.mig,
    "sap": metrics.sap,
    "irs": metrics.irs,
    "dci": lambda z, h: metrics.dci(z, h).disentanglement,
    "infomec": lambda z, h: metrics.infomec(z, h).modularity,
    "modularity": lambda z, h: metrics.modularity_explicitness(z, h).modularity,
}


@pytest.fixture(scope="module")
def pair():
    z = np.random.default_rng(0).normal(size=(300, 3))
    return z, z + 0.3 * np.roll(z, 1, axis=1)


@pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("exponent", [515, -664], ids=["1e155", "1e-200"])
def test_extreme_units_give_the_same_number(score, exponent, pair):
    z, h = pair
    assert score(z, np.ldexp(h, exponent)) == pytest.approx(score(z, h), abs=1e-9)
    assert score(np.ldexp(z, exponent), h) == pytest.approx(score(z, h), abs=1e-9)


@pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
def test_an_offset_that_eats_the_digits_is_said(score, pair):
    z, h = pair
    with pytest.warns(UserWarning, match="lost most digits of column 0"):
        score(z, h + 1e15)


def test_codes_that_are_inactive_by_their_units_are_said():
    f = np.random.default_rng(0).integers(0, 4, size=(500, 2))
    with pytest.warns(UserWarning, match="min_std=0"):
        assert metrics.factor_vae_score(f, f * 1e-8) == 1.0
    assert metrics.factor_vae_score(f, f * 1e-8, min_std=0) == 1.0
    assert metrics.factor_vae_score(f, np.zeros((500, 2))) == 0.0  # constant: nothing to say
    beside = f * [1.0, 1e-8]
    with pytest.warns(UserWarning, match=r"less than 0\.05 have no vote: 1\. Pass `min_std=0`"):
        assert metrics.factor_vae_score(f, beside) < 0.7
    assert metrics.factor_vae_score(f, beside, min_std=0) == 1.0
    assert metrics.factor_vae_score(f, np.column_stack([f, np.ones(500)])) == 1.0  # constant: nothing to say


def test_masked_entries_are_refused(pair):
    z, h = pair
    holes = np.ma.masked_greater(h, 2.0)
    with pytest.raises(ValueError, match=f"masked entries, got {(h > 2.0).sum()}"):
        metrics.mcc(z, holes)
    with pytest.raises(ValueError, match="masked entries"):
        Autoencoder(2).fit(holes)
    assert metrics.mcc(z, np.ma.array(h)) == metrics.mcc(z, h)


def test_entries_whose_squares_overflow_and_labels_that_are_missing_are_refused(pair):
    wild = pair[0].copy()
    wild[0, 1] = 1e300
    with pytest.raises(ValueError, match=r"up to 1e\+300 in 1"):
        Autoencoder(2).fit(wild)
    with pytest.raises(ValueError, match="sample 7"):
        LabelledSparseAutoencoder(2).fit(pair[0], np.where(np.arange(300) == 7, np.nan, 0.0))


IN_UNITS = {
    "replicate": lambda x, y: metrics.replicate([x, y]),
    "explained_variance": metrics.explained_variance,
    "reconstruction_cosine": metrics.reconstruction_cosine,
    "frechet_distance": metrics.frechet_distance,
    "kernel_distance": metrics.kernel_distance,
    "content_distance": metrics.content_distance,
    "diameter": lambda x, y: metrics.diameter(y),
}


@pytest.mark.parametrize("score", IN_UNITS.values(), ids=IN_UNITS)
@pytest.mark.parametrize("unit", [1e155, 1e-200])
def test_where_units_count_those_whose_squares_are_no_numbers_are_refused(score, unit, pair):
    with pytest.raises(ValueError, match="change the units"):
        score(pair[0], pair[1] * unit)
    one = pair[1].copy()
    one[4, 1] = 1e300
    with pytest.raises(ValueError, match=r"got 1e\+300"):
        score(pair[0], one)


UNMASKED = IN_UNITS | {
    "density": lambda x, y: metrics.density(y),
    "census": lambda x, y: metrics.census(y),
    "replicate_features": lambda x, y: metrics.replicate_features([x, y]),
    "feature_jacobian_sparsity": lambda x, y: metrics.feature_jacobian_sparsity(y[None]),
}


@pytest.mark.parametrize("score", UNMASKED.values(), ids=UNMASKED)
def test_no_score_forgets_a_mask(score, pair):
    with pytest.raises(ValueError, match="must not have masked entries"):
        score(pair[0], np.ma.masked_greater(pair[1], 1.0))


def test_replication_says_which_digits_are_lost(pair):
    with pytest.warns(UserWarning, match="`run 2` has lost most digits of column 0"):
        metrics.replicate([pair[0], pair[1] + 1e15])


def test_what_is_no_number_has_no_score_of_codes():
    with pytest.raises(ValueError, match="`jacobians` must be finite"):
        metrics.feature_jacobian_sparsity([[[np.nan, 1.0]]])
    with pytest.raises(ValueError, match="`reconstructed` must be finite"):
        metrics.loss_recovered(3.0, np.nan, 8.0)


@pytest.mark.parametrize("score", [metrics.mcc, metrics.r2, metrics.match_components, metrics.block_r2])
def test_weights_do_not_make_a_mask_forgotten(score, pair):
    z, h = pair
    holes = np.ma.masked_array(h, mask=np.arange(h.size).reshape(h.shape) < 9)
    weights = np.linspace(0.5, 1.0, len(h))
    with pytest.raises(ValueError, match="`z_hat` must not have masked entries, got 9"):
        score(z, holes, weights=weights)
    with pytest.raises(ValueError, match="`weights` must not have masked entries"):
        score(z, h, weights=np.ma.masked_less(weights, 0.6))


def test_rows_of_weight_zero_may_be_masked(pair):
    z, h = pair
    gone = np.arange(len(h)) < 3
    holes = np.ma.masked_array(h, mask=np.repeat(gone[:, None], 3, axis=1))
    assert metrics.mcc(z, holes, weights=~gone) == metrics.mcc(z[3:], h[3:])


def test_masked_labels_are_missing(pair):
    labels = np.ma.masked_array(np.arange(300) % 3, mask=np.arange(300) == 7)
    with pytest.raises(ValueError, match="first in row 7"):
        CGVAE(2, max_iter=1).fit(pair[0], labels)
    with pytest.raises(ValueError, match="sample 7"):
        LabelledSparseAutoencoder(2, max_iter=1).fit(pair[0], labels)
