"""Laws of metrics: what nothing can tell apart must score the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from unmix.metrics import match_components, mcc, r2, rotation_floor, structure_f1
from unmix.structure import Structure

METHODS = st.sampled_from(["pearson", "spearman"])


@st.composite
def factors_and_codes(draw, n_least=8):
    n, d, m = draw(st.integers(n_least, 40)), draw(st.integers(1, 4)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    z = rng.normal(size=(n, d))
    return z, np.tanh(z @ rng.normal(size=(d, m))) + 0.3 * rng.normal(size=(n, m)), rng


@given(factors_and_codes(), METHODS)
def test_order_sign_scale_and_shift_of_codes_do_not_matter(data, method):
    z, codes, rng = data
    order = rng.permutation(codes.shape[1])
    scale = rng.choice([-1, 1], codes.shape[1]) * np.exp(rng.normal(size=codes.shape[1]))
    assert mcc(z, (codes * scale + rng.normal(size=codes.shape[1]))[:, order], method=method) == approx(
        mcc(z, codes, method=method)
    )


@given(factors_and_codes(), METHODS)
def test_order_sign_and_scale_of_factors_do_not_matter(data, method):
    z, codes, rng = data
    scale = rng.choice([-1, 1], z.shape[1]) * np.exp(rng.normal(size=z.shape[1]))
    relabelled = (z * scale)[:, rng.permutation(z.shape[1])]
    assert mcc(relabelled, codes, method=method) == approx(mcc(z, codes, method=method))
    assert r2(relabelled, codes) == approx(r2(z, codes))


@given(factors_and_codes(), METHODS)
def test_a_signed_permutation_of_the_truth_scores_one(data, method):
    z, _, rng = data
    order = rng.permutation(z.shape[1])
    codes = (z * rng.choice([-1, 1], z.shape[1]))[:, order]
    matching = match_components(z, codes, method=method)
    assert mcc(z, codes, method=method) == approx(1)
    assert [order[k] for k in matching.order] == list(range(z.shape[1]))


@given(factors_and_codes(), METHODS)
def test_scores_lie_between_zero_and_one_and_the_order_of_samples_does_not_matter(data, method):
    z, codes, rng = data
    rows = rng.permutation(len(z))
    assert 0 <= mcc(z, codes, method=method) <= 1 and 0 <= r2(z, codes) <= 1
    assert mcc(z[rows], codes[rows], method=method) == approx(mcc(z, codes, method=method))


@given(factors_and_codes())
def test_monotone_maps_of_each_code_do_not_change_ranks(data):
    z, codes, _ = data
    assert mcc(z, np.exp(codes), method="spearman") == approx(mcc(z, codes, method="spearman"))


@given(factors_and_codes())
def test_one_more_code_never_hurts_a_matching(data):
    z, codes, rng = data
    more = np.column_stack([codes, rng.normal(size=len(z))])
    assert mcc(z, more) >= mcc(z, codes) - 1e-12


@given(factors_and_codes())
def test_equal_tables_are_matched_symmetrically(data):
    z, codes, _ = data
    assert mcc(z, codes) * z.shape[1] == approx(mcc(codes, z) * codes.shape[1])


@given(factors_and_codes(n_least=30))
def test_invertible_affine_maps_of_codes_do_not_change_linear_information(data):
    z, codes, rng = data
    m = codes.shape[1]
    mixing = np.linalg.qr(rng.normal(size=(m, m)))[0] * np.exp(rng.normal(size=m))
    assert r2(z, codes @ mixing + rng.normal(size=m)) == approx(r2(z, codes), abs=1e-8)


@given(factors_and_codes(), st.floats(0.01, 100))
def test_the_floor_does_not_depend_on_units(data, unit):
    z, _, _ = data
    assert rotation_floor(z * unit, random_state=0) == approx(rotation_floor(z, random_state=0))


@given(factors_and_codes())
def test_structure_f1_is_symmetric_and_blind_to_names(data):
    _, codes, rng = data
    a, b = (Structure(rng.random((5, codes.shape[1])) < 0.5) for _ in range(2))
    order = rng.permutation(codes.shape[1])
    assert structure_f1(a, b) == structure_f1(b, a) == structure_f1(a.permute(order), b)
    assert structure_f1(a, a.permute(order)) == 1
