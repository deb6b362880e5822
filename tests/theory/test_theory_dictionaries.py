"""Certificates of dictionaries against exhaustive search."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmix.theory import (
    certify_dictionary,
    cofiring,
    cumulative_coherence,
    exact_recovery,
    mutual_coherence,
    restricted_isometry,
    spark,
)
from unmix.theory.dictionaries import _coherence

small = st.integers(0, 10**6)


def drawn(seed, most=7):
    """Draw a small dictionary, half of the time with entries in which atoms depend on each other."""
    rng = np.random.default_rng(seed)
    d, m = int(rng.integers(2, 5)), int(rng.integers(3, most))
    atoms = rng.integers(-1, 2, size=(m, d)).astype(float) if rng.random() < 0.6 else rng.normal(size=(m, d))
    return atoms[np.abs(atoms).sum(1) > 0] if (np.abs(atoms).sum(1) > 0).sum() > 1 else np.eye(3)


def brute_spark(atoms):
    for size in range(1, len(atoms) + 1):
        for some in combinations(range(len(atoms)), size):
            if np.linalg.matrix_rank(atoms[list(some)]) < size:
                return size
    return np.inf


def unique_codes(atoms, k):
    """Whether no vector has two codes of at most k atoms: the union of any two supports is independent."""
    supports = [some for size in range(1, k + 1) for some in combinations(range(len(atoms)), size)]
    unions = {tuple(sorted({*one, *two})) for one in supports for two in supports}
    return all(np.linalg.matrix_rank(atoms[list(union)]) == len(union) for union in unions)


@given(seed=small)
@settings(max_examples=60, deadline=None)
def test_spark_is_that_of_exhaustive_search_and_bounds_contain_it(seed):
    atoms = drawn(seed)
    truth = brute_spark(atoms)
    assert spark(atoms).lower == spark(atoms).upper == truth
    limit, _coherence._ALL = _coherence._ALL, 0  # as if there were too many sets
    try:
        bounds = spark(atoms)
    finally:
        _coherence._ALL = limit
    assert bounds.lower <= truth <= bounds.upper


@given(seed=small, k=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_codes_are_certified_exactly_where_they_are_unique(seed, k):
    atoms = drawn(seed)
    k = min(k, len(atoms))
    found = certify_dictionary(atoms, k=k)
    assert bool(found.codes) == unique_codes(atoms, k)
    assert not found.identified.any()  # without codes nothing is known of atoms


@given(seed=small, k=st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_isometry_bounds_contain_the_worst_set(seed, k):
    atoms = drawn(seed)
    k = min(k, len(atoms))
    unit = atoms / np.linalg.norm(atoms, axis=1, keepdims=True)
    values = [np.linalg.eigvalsh(unit[list(s)] @ unit[list(s)].T) for s in combinations(range(len(unit)), k)]
    truth = max(max(1 - v[0], v[-1] - 1) for v in values)
    assert restricted_isometry(atoms, k).lower == pytest.approx(truth, abs=1e-9)
    limit, _coherence._ALL = _coherence._ALL, 0
    try:
        bounds = restricted_isometry(atoms, k, n_draws=5)
    finally:
        _coherence._ALL = limit
    assert bounds.lower <= truth + 1e-9
    assert truth <= bounds.upper + 1e-9


@given(seed=small)
@settings(max_examples=30, deadline=None)
def test_order_sign_and_length_of_atoms_change_nothing(seed):
    rng = np.random.default_rng(seed)
    atoms = drawn(seed)
    other = atoms[rng.permutation(len(atoms))] * rng.choice([-2.0, 0.5, 3.0], size=(len(atoms), 1))
    assert mutual_coherence(atoms) == pytest.approx(mutual_coherence(other))
    assert cumulative_coherence(atoms, 3) == pytest.approx(cumulative_coherence(other, 3))
    assert spark(atoms).lower == spark(other).lower


def test_the_bound_by_coherence_is_not_beaten_by_ours():
    atoms = np.random.default_rng(0).normal(size=(60, 40))
    assert spark(atoms).lower >= np.ceil(1 + 1 / mutual_coherence(atoms)) - 1e-9


@given(seed=small)
@settings(max_examples=30, deadline=None)
def test_supports_separate_a_feature_iff_their_intersection_is_it(seed):
    rng = np.random.default_rng(seed)
    on = rng.random((int(rng.integers(1, 12)), 5)) < 0.5
    found = cofiring(1.0 * on)
    for i in range(5):
        rows = on[on[:, i]]
        common = set(np.flatnonzero(rows.all(0))) if len(rows) else set()
        assert found.separated[i] == (common == {i})
    assert found.n_supports == len({row.tobytes() for row in on})


def test_a_feature_that_never_comes_alone_has_another_dictionary_with_the_same_supports():
    rng = np.random.default_rng(1)
    on = rng.random((50, 4)) < 0.5
    on[:, 0] &= on[:, 1]
    z, atoms = on * rng.gamma(2, size=(50, 4)) + 0.0, rng.normal(size=(4, 6))
    other, shifted = atoms.copy(), z.copy()
    other[0] = atoms[0] - 0.3 * atoms[1]
    shifted[:, 1] += 0.3 * z[:, 0]
    np.testing.assert_allclose(z @ atoms, shifted @ other)
    assert ((shifted > 0) == (z > 0)).all()
    assert cofiring(z).always[0] == (1,)


@given(seed=small)
@settings(max_examples=20, deadline=None)
def test_matching_pursuit_recovers_supports_with_a_coefficient_below_one(seed):
    rng = np.random.default_rng(seed)
    atoms = rng.normal(size=(12, 10))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    code = np.zeros(12)
    support = rng.choice(12, 2, replace=False)
    code[support] = rng.normal(size=2) + np.sign(rng.normal(size=2))
    if exact_recovery(atoms, code[None])[0] >= 1 or not code[support].all():
        return
    chosen, left = [], code @ atoms
    for _ in range(2):
        chosen.append(int(np.abs(atoms @ left).argmax()))
        basis = atoms[chosen].T
        left = code @ atoms - basis @ np.linalg.lstsq(basis, code @ atoms, rcond=None)[0]
    assert set(chosen) == set(support.tolist())


def test_a_vacuous_bound_identifies_nothing_and_says_what_remains():
    rng = np.random.default_rng(0)
    codes = (rng.random((300, 96)) < 8 / 96) * rng.gamma(2, size=(300, 96))
    found = certify_dictionary(rng.normal(size=(96, 32)), codes, k=8)
    assert found.vacuous
    assert not found
    assert not found.identified.any()
    assert "vacuous" in str(found.codes)
    assert "What remains" in str(found)
    assert found.to_dict()["recovered_rows"] is not None


def test_orthogonal_atoms_with_single_codes_are_identified():
    codes = np.repeat(np.eye(5), 4, axis=0) * np.linspace(1, 2, 20)[:, None]
    found = certify_dictionary(np.eye(5), codes)
    assert found.k == 1
    assert found
    assert found.identified.all()


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="`k` must be between 1 and the 3 atoms, got 4"):
        certify_dictionary(np.eye(3), k=4)
    with pytest.raises(ValueError, match="`k` must be how many atoms"):
        certify_dictionary(np.eye(3))
    with pytest.raises(ValueError, match="`codes` must have 3 columns"):
        certify_dictionary(np.eye(3), np.eye(4), k=1)
    with pytest.raises(ValueError, match="`dictionary` must be a finite table"):
        spark([[np.nan, 1.0]])
