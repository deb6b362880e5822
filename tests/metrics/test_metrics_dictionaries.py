"""Which features come back: invariances, floors, and features that are no features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from unmix.metrics import census, participation_ratio, random_dictionary, replicate, replicate_features
from unmix.metrics.dictionaries._atoms import assigned, span


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_order_and_length_of_atoms_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    first, order = rng.normal(size=(12, 30)), rng.permutation(12)
    second = first[order] * rng.uniform(0.1, 9, size=(12, 1)) + 0.02 * rng.normal(size=(12, 30))
    found = replicate_features([first, second], random_state=seed).atoms[0]
    assert (found.status == "alone").all()
    assert (order[found.partner] == np.arange(12)).all()


def test_opposite_atoms_are_other_features_unless_signs_do_not_count():
    atoms = np.random.default_rng(0).normal(size=(10, 40))
    opposite = [atoms, -atoms]
    assert "alone" not in replicate_features(opposite).atoms[0].status
    assert (replicate_features(opposite, signed=False).atoms[0].status == "alone").all()


def test_random_dictionaries_do_not_replicate_and_score_their_floor():
    rng = np.random.default_rng(1)
    found = replicate_features([rng.normal(size=(300, 16)) for _ in range(2)], covariance=np.eye(16))
    assert (found.atoms[0].status == "none").mean() > 0.95
    level = found.levels[0]
    assert level.best["trained"] == pytest.approx(level.best["random"], abs=0.02)
    assert found.effective == pytest.approx(16)


@pytest.mark.parametrize(("dimension", "floor"), [(64, 0.42), (16, 0.75)])
def test_floor_of_assigned_atoms_is_what_was_measured_elsewhere(dimension, floor):
    first, second = (random_dictionary(2048, np.eye(dimension), random_state=k) for k in (0, 1))
    assert assigned(first, second) == pytest.approx(floor, abs=0.01)


def test_a_pair_that_is_turned_replicates_as_a_subspace_which_is_named():
    rng = np.random.default_rng(2)
    first = rng.normal(size=(20, 60))
    second = first.copy()
    second[[3, 7]] = np.array([[0.8, 0.6], [-0.6, 0.8]]) @ unit(first[[3, 7]])
    found = replicate_features([first, second]).atoms[0]
    assert found.status[[3, 7]].tolist() == ["subspace", "subspace"]
    assert [(group.latents, group.counterparts) for group in found.subspaces] == [((3, 7), (3, 7))]
    assert (np.delete(found.status, [3, 7]) == "alone").all()


def test_a_span_is_the_projection_on_the_atoms_that_it_names():
    rng = np.random.default_rng(3)
    first, second = unit(rng.normal(size=(5, 12))), unit(rng.normal(size=(9, 12)))
    found = span(first, second, np.tile(np.arange(9), (5, 1)), most=3, enough=0.99)
    for atom, reach, members in zip(first, found.reach, found.members, strict=True):
        basis = np.linalg.qr(second[members].T)[0]
        assert len(members) == 3
        assert reach == pytest.approx(np.linalg.norm(basis.T @ atom), abs=1e-6)


def test_a_shared_beginning_shows():
    rng = np.random.default_rng(4)
    begin = rng.normal(size=(30, 20))
    trained = [begin + 0.1 * rng.normal(size=begin.shape) for _ in range(2)]
    found = replicate_features(trained, untrained=[begin, begin])
    assert found.levels[0].best["untrained"] == pytest.approx(1)
    assert "untrained ones 1.00" in found.meaning


def test_sparse_codes_replicate_as_dense_ones_do():
    rng = np.random.default_rng(5)
    z = rng.gamma(2, size=(1500, 12)) * (rng.random((1500, 12)) < 0.15)
    w = z[:, ::-1].copy()
    w[:, :3] = rng.gamma(2, size=(1500, 3)) * (rng.random((1500, 3)) < 0.15)
    w[:, 5:7] = w[:, 5:7] @ [[0.6, 0.8], [-0.8, 0.6]]
    dense, thin = replicate([z, w]).runs[0], replicate([csr_array(z), csr_array(w)]).runs[0]
    assert (dense.status == thin.status).all()
    assert (dense.partner == thin.partner).all()
    assert dense.subspaces == thin.subspaces
    np.testing.assert_allclose(dense.correlation, thin.correlation, atol=1e-9)
    np.testing.assert_allclose(dense.noise, thin.noise, atol=1e-9)
    np.testing.assert_allclose(dense.span, thin.span, atol=1e-3)


def test_sparse_codes_must_be_finite():
    bad = csr_array(np.array([[1.0, 0.0], [0.0, np.nan]] * 10))
    with pytest.raises(ValueError, match=r"`run 2` must be finite, got nan in row 1, column 1"):
        replicate([csr_array(np.eye(20, 2)), bad])


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_census_counts_what_brute_force_counts(seed):
    rng = np.random.default_rng(seed)
    on = rng.random((400, 6)) < rng.uniform(0.02, 0.3, 6)
    on[:, 1] = on[:, 0] & (rng.random(400) < 0.6)
    on[:, 2] = on[:, 3]
    on[:, 5] = False
    found = census(csr_array(on * rng.gamma(2, size=on.shape)))
    np.testing.assert_allclose(found.rate, on.mean(0))
    assert found.dead.tolist() == (on.sum(0) == 0).tolist()
    for i in range(6):
        shares = [(on[:, i] & on[:, j]).sum() / max(on[:, i].sum(), 1) for j in range(6) if j != i]
        assert found.company[i] == pytest.approx(max(shares))
    if on[:, 1].sum() >= 10 and on[:, 0].mean() < 0.2:
        assert found.absorber[1] == 0
    if on[:, 2].sum() >= 10:
        assert found.twin[2] == 3


def test_a_feature_beside_one_that_is_always_on_is_not_absorbed():
    rng = np.random.default_rng(6)
    z = 1.0 * (rng.random((1000, 3)) < [0.999, 0.05, 0.05])
    assert census(z).absorber.tolist() == [-1, -1, -1]
    assert census(z).dense.tolist() == [True, False, False]


def test_participation_ratio_of_eigenvalues_is_that_of_their_matrix():
    values = np.array([3.0, 1.0, 0.5])
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    assert participation_ratio(values) == pytest.approx(participation_ratio(turn @ np.diag(values) @ turn.T))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"dictionaries": [np.eye(3)]}, "`dictionaries` must be at least two"),
        ({"dictionaries": [np.eye(3), np.eye(4)]}, r"`dictionaries\[1\]` must have 3 columns, got 4"),
        (
            {"dictionaries": [np.eye(3), np.full((3, 3), np.nan)]},
            r"`dictionaries\[1\]` must be a finite table",
        ),
        (
            {"dictionaries": [np.eye(3)] * 2, "codes": [np.ones((9, 3)), np.ones((9, 2))]},
            r"`codes\[1\]` must",
        ),
        ({"dictionaries": [np.eye(3)] * 2, "covariance": np.eye(2)}, "`covariance` must be a finite table"),
        ({"dictionaries": [np.eye(3)] * 2, "untrained": [np.eye(3)]}, "`untrained` must have the shapes"),
        ({"dictionaries": [np.eye(3)] * 2, "threshold": 1.5}, "`threshold` must be a cosine"),
    ],
)
def test_bad_input_is_named(given, said):
    with pytest.raises(ValueError, match=said):
        replicate_features(**given)


def test_everything_is_plain_in_the_document():
    import json

    rng = np.random.default_rng(7)
    atoms = rng.normal(size=(6, 10))
    codes = [csr_array(rng.gamma(2, size=(200, 6)) * (rng.random((200, 6)) < 0.3)) for _ in range(2)]
    found = replicate_features([atoms, atoms], codes, covariance=np.eye(10))
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(document["features"]) == 6
    assert document["features"][0]["atoms"][0]["status"] == "alone"
    assert document["levels"][0]["best"]["untrained"] is None
    assert "By codes" in str(found)
