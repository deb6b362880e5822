"""Alignment: the printed vectors, exact relations, invariances, and brute force over all permutations."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import orthogonal
from unmix.metrics import align, convexity, diameter
from unmix.metrics.alignment._align import _mapped, ica_efficiency

Z1 = np.array([(0, 0), (1, 0), (2, 1), (3, 1), (0, 2), (1, 3), (2, 2), (3, 4)], float)
Z2 = np.array([(0, 0.5), (0.2, -1), (1.5, -2), (0.7, -3.5), (2, 0.3), (3.2, -1), (2, -2.5), (4.2, -3)])
seeds = st.integers(0, 2**32 - 1)


def sources(seed, n=600, d=3):
    return np.random.default_rng(seed).laplace(size=(n, d)) * np.arange(1, d + 1)


def test_the_small_vector():
    found, scaled = align(Z1, Z2), align(Z1, Z2, scale=True)
    assert found.diameter == pytest.approx(5.4671748, abs=1e-7) and found.diameter_exact
    np.testing.assert_array_equal(found.errors["permutation"].matrix, [[0, -1], [1, 0]])
    assert found.permutation == pytest.approx(0.06152374, abs=1e-8)
    assert scaled.permutation == pytest.approx(0.05783342, abs=1e-8)
    assert np.abs(scaled.errors["permutation"].matrix).max() == pytest.approx(1.1047120, abs=1e-7)
    assert found.rigid == pytest.approx(0.05791920, abs=1e-8)
    expected = 1.1050738 * np.array([[-0.02558404, -0.99967267], [0.99967267, -0.02558404]])
    np.testing.assert_allclose(found.errors["rigid"].matrix, expected, atol=1e-7)
    assert found.linear == pytest.approx(0.05013508, abs=1e-8)


@pytest.mark.parametrize(
    ("errors", "percent"),
    [
        ((0.219, 0.150, 0.202), 25),
        ((0.197, 0.109, 0.145), 59),
        ((0.218, 0.104, 0.175), 38),
        ((0.382, 0.206, 0.312), 40),
    ],
    ids=["Pythia", "MAE", "CheXpert", "ResNet"],
)
def test_efficiencies_of_the_published_table(errors, percent):
    assert round(100 * ica_efficiency(*errors)[0]) == percent


def test_two_rotations_with_a_mild_bend():
    rng = np.random.default_rng(0)
    s = rng.laplace(size=(4000, 8))
    a, b = s @ orthogonal(1, 8), s @ orthogonal(2, 8)
    found = align(a + 0.1 * np.sin(2 * a), b + 0.1 * np.sin(2 * b))
    assert found.permutation > 5 * found.rigid and found.rigid < 0.03
    assert found.efficiency > 0.95
    assert "up to a rotation, and ICA" in found.meaning


@given(seed=seeds)
def test_a_signed_permutation_is_found_and_its_error_is_zero(seed):
    rng = np.random.default_rng(seed)
    z = sources(seed, 60)
    p = np.eye(3)[rng.permutation(3)] * rng.choice([-1, 1], 3)
    found = align(z, z @ p + rng.normal(size=3))
    np.testing.assert_array_equal(found.errors["permutation"].matrix, p)
    assert max(found.permutation, found.rigid, found.linear) < 1e-12
    assert np.isnan(found.efficiency) and "no efficiency" in found.notes[0]
    assert "latent by latent" in found.meaning


@given(seed=seeds, scale=st.floats(0.01, 100))
def test_a_similarity_is_found_and_its_error_is_zero(seed, scale):
    z, q = sources(seed), orthogonal(seed, 3)
    found = align(z, scale * z @ q + 5)
    np.testing.assert_allclose(found.errors["rigid"].matrix, scale * q, rtol=1e-9, atol=1e-9 * scale)
    assert max(found.rigid, found.linear) < 1e-12
    assert found.ica < 1e-4  # the same components, found twice


@given(seed=seeds)
def test_an_affine_map_is_found_and_ica_undoes_it(seed):
    z = sources(seed)
    m = orthogonal(seed, 3) * [1, 0.3, 4] @ orthogonal(seed + 1, 3)
    found = align(z, z @ m - 7)
    np.testing.assert_allclose(found.errors["linear"].matrix, m, atol=1e-9)
    assert found.linear < 1e-12 and found.ica < 1e-4
    assert found.rigid > 0.01


@given(seed=seeds)
def test_errors_do_not_change_with_the_frame_of_either_run(seed):
    """Moving and scaling z2 rigidly, or moving z1, leaves rigid and linear errors; z1 may even be bent."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    base = align(a, b)
    moved = align(3 * a @ orthogonal(seed, 3) + 1, 0.2 * b @ orthogonal(seed, 2) - 4)
    assert moved.rigid == pytest.approx(base.rigid, rel=1e-6)
    assert moved.linear == pytest.approx(base.linear, rel=1e-6)
    assert moved.mean == pytest.approx(base.mean, rel=1e-9)
    skewed = align(a @ rng.normal(size=(3, 3)), b)
    assert skewed.linear == pytest.approx(base.linear, rel=1e-5)
    flipped = align(a[:, [2, 0, 1]] * [1, -1, 1], b[:, ::-1])
    assert flipped.permutation == pytest.approx(base.permutation, rel=1e-9)


@given(seed=seeds, widths=st.tuples(st.integers(1, 4), st.integers(1, 4)))
def test_the_signed_permutation_is_the_best_of_all(seed, widths):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(12, widths[0])), rng.normal(size=(12, widths[1]))
    a, b = a - a.mean(0), b - b.mean(0)
    found = align(a, b).errors["permutation"].matrix
    assert ((a @ found - b) ** 2).sum() == pytest.approx(best_of_all(a, b))


def best_of_all(a, b):
    """Try every injective pairing with every choice of signs."""
    d1, d2 = a.shape[1], b.shape[1]
    k, least = min(d1, d2), np.inf
    for rows in itertools.permutations(range(d1), k):
        for columns in itertools.combinations(range(d2), k):
            for signs in itertools.product((-1, 1), repeat=k):
                p = np.zeros((d1, d2))
                p[rows, columns] = signs
                least = min(least, ((a @ p - b) ** 2).sum())
    return least


@given(seed=seeds)
def test_squared_errors_are_nested(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(30, 3)), rng.normal(size=(30, 3))
    errors = align(a, b, scale=True).errors
    r2 = [errors[name].r2 for name in ("permutation", "rigid", "linear")]
    assert r2 == sorted(r2)
    assert errors["ica"].r2 <= errors["linear"].r2 + 1e-12


def test_widths_may_differ_both_ways():
    z = sources(0)
    wide = np.column_stack([z @ orthogonal(1, 3), np.zeros(len(z))])
    for a, b in ((z, wide), (wide, z)):
        found = align(a, b)
        assert found.rigid < 1e-12 and found.linear < 1e-12 and found.ica < 1e-4
        assert found.permutation > 0.01
        assert (found.shape1, found.shape2) == (a.shape, b.shape)


def test_an_extra_factor_of_the_target_is_left_over():
    z = sources(0)
    found = align(z[:, :2], z)
    missing = np.abs(z[:, 2] - z[:, 2].mean()).mean() / diameter(z).value
    assert found.permutation == pytest.approx(missing) and found.linear == pytest.approx(missing, rel=0.05)


def test_held_out_rows_unmask_a_fit_to_noise():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(40, 20)), rng.normal(size=(40, 20))
    inside, outside = align(a, b), align(a, b, held_out=0.3)
    assert inside.linear < 0.8 * inside.mean and "hold rows out" in " ".join(inside.notes)
    assert outside.linear > outside.mean and outside.n_scored == 12
    assert "do not agree" in outside.meaning


def test_unrelated_runs_do_not_agree():
    rng = np.random.default_rng(0)
    found = align(rng.normal(size=(2000, 3)), rng.normal(size=(2000, 3)))
    assert "do not agree" in found.meaning
    assert found.linear == pytest.approx(found.mean, rel=0.02)
    assert found.shuffled == pytest.approx(found.mean, rel=0.02)


def test_each_family_has_its_sentence():
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(2000, 4)) * [1, 2, 3, 4]
    skew = orthogonal(1, 4) * [1, 0.2, 5, 2]
    noise = rng.normal(size=(2000, 4)) * 2
    z = sources(0, 2000)
    said = {
        "up to a rotation and a scale, but not": align(normal, normal @ orthogonal(2, 4) + 0.3 * noise / 2),
        "same information up to a linear map": align(normal, normal @ skew + 0.2 * noise),
        "up to a linear map, and ICA": align(z, z @ (orthogonal(1, 3) * [1, 0.2, 5])),
        "agree in part": align(normal, normal + noise),
    }
    for words, found in said.items():
        assert words in found.meaning


def test_gaussian_components_are_a_note_and_not_an_error():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 6))
    found = align(z, z @ orthogonal(0, 6))
    assert found.rigid < 1e-12 and np.isfinite(found.ica)
    assert any("look Gaussian" in note for note in found.notes)
    assert not any("look Gaussian" in note for note in align(sources(0), sources(0)).notes)


def test_components_can_be_compared_themselves():
    z = sources(0)
    found = align(z, z @ (orthogonal(1, 3) * [1, 100, 0.5]), space="components")
    assert found.ica < 1e-4 and found.errors["ica"].matrix.shape == (3, 3)
    np.testing.assert_array_equal(np.abs(found.errors["ica"].matrix).sum(0), 1)


def test_rank_deficient_tables_are_no_error():
    z = sources(0)
    found = align(np.column_stack([z, z[:, 0]]), np.column_stack([z[:, :2], z[:, :1]]))
    assert found.linear < 1e-12 and found.ica < 0.02
    assert any("rank deficient" in note for note in found.notes)


def test_it_prints_and_becomes_json_and_is_the_same_again():
    a, b = sources(0), sources(0) @ orthogonal(0, 3)
    found = align(a, b)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict()
    assert found.to_dict() == align(a, b).to_dict()
    assert str(found).splitlines()[0].split() == ["map", "error", "median", "worst", "R2"]
    assert f"{found.permutation:.4f}" in str(found) and found.meaning in str(found)
    assert found.__rich__().row_count == 6
    assert align(a, a).to_dict()["efficiency"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Z1, Z2[:-1], {}), "as many rows as `z1`, got 7 and 8"),
        ((Z1[:2], Z2[:2], {}), "at least 3 rows"),
        ((Z1, np.ones_like(Z2), {}), "`z2` must vary"),
        ((np.where(Z1 == 4, np.nan, Z1), Z2, {}), "`z1` must be finite"),
        ((Z1[:, 0], Z2, {}), "`z1` must have shape"),
        ((Z1, Z2, {"space": "latent"}), "`space` must be"),
        ((Z1, Z2, {"held_out": 1.0}), "`held_out` must be a share"),
        ((Z1, Z2, {"held_out": 0.9}), "leave at least 3 rows"),
        ((Z1, Z2, {"exact_diameter": "maybe"}), "`exact` must be"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        align(*arguments[:2], **arguments[2])


def brute_diameter(z):
    return max(np.linalg.norm(a - b) for a, b in itertools.combinations(z, 2))


@given(seed=seeds, heavy=st.booleans(), d=st.integers(1, 6))
def test_the_exact_diameter_is_that_of_all_pairs(seed, heavy, d):
    rng = np.random.default_rng(seed)
    z = rng.standard_t(2, size=(120, d)) if heavy else rng.uniform(size=(120, d))
    exact, swept = diameter(z, exact=True), diameter(z, exact=False)
    assert exact.exact and exact.value == pytest.approx(brute_diameter(z), rel=1e-12)
    assert np.linalg.norm(z[exact.endpoints[0]] - z[exact.endpoints[1]]) == pytest.approx(exact.value)
    assert swept.value <= exact.value * (1 + 1e-12) and exact.value <= swept.upper * (1 + 1e-12)
    assert swept.value >= exact.value / 2


def test_a_sphere_cannot_be_pruned_and_is_gone_through_in_blocks():
    z = np.random.default_rng(0).normal(size=(2500, 3))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    squared = 2 - 2 * z @ z.T
    assert diameter(z).value == pytest.approx(np.sqrt(squared.max()), rel=1e-12)
    bounded = diameter(z, budget=1e3)
    assert not bounded.exact and bounded.value <= diameter(z).value <= bounded.upper


def test_convexity_tells_a_disc_from_a_ring_and_from_two_islands():
    rng = np.random.default_rng(0)
    square = rng.uniform(size=(1500, 2))
    angle = rng.uniform(0, 2 * np.pi, 1500)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    islands = square + 5 * (rng.random((1500, 1)) < 0.5)
    filled, bent, split = (convexity(z, n_neighbours=15) for z in (square, ring, islands))
    assert filled.inside > 0.9 and filled.detour < 1.3 and filled.apart == 0
    assert bent.inside < 0.4 and bent.detour == pytest.approx(ring_detour(), abs=0.05)
    assert 0.4 < split.apart < 0.6
    assert set(filled.to_dict()) == {"inside", "detour", "apart"}


def ring_detour():
    """Median of arc over chord for two uniform points of a circle."""
    angle = np.linspace(0, np.pi, 100_001)[1:]
    return np.median(angle / (2 * np.sin(angle / 2)))


@pytest.mark.parametrize("wrong", [{"n_neighbours": 0}, {"n_neighbours": 8}, {"n_pairs": 0}])
def test_convexity_rejects(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        convexity(Z1, **wrong)


@given(seed=seeds, d=st.integers(1, 4))
def test_rigid_agreement_is_mutual(seed, d):
    """With a free scale the share explained, tr(S)^2 / (|a|^2 |b|^2), does not know which run came first."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(25, d))
    b = a @ rng.normal(size=(d, d)) + 0.5 * rng.normal(size=(25, d))
    there, back = align(a, b), align(b, a)
    assert there.errors["rigid"].r2 == pytest.approx(back.errors["rigid"].r2, rel=1e-9)
    np.testing.assert_array_equal(
        np.sign(there.errors["permutation"].matrix), np.sign(back.errors["permutation"].matrix).T
    )


@given(seed=seeds)
def test_a_run_agrees_with_itself_in_every_family(seed):
    found = align(sources(seed), sources(seed))
    assert max(found.permutation, found.rigid, found.linear, found.ica) < 1e-9
    np.testing.assert_array_equal(found.errors["permutation"].matrix, np.eye(3))


def test_long_tables_files_and_shards_are_aligned_in_blocks_with_the_same_answer(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    a = rng.laplace(size=(3000, 5)) @ rng.normal(size=(5, 5)) + 3
    b = np.tanh(a @ rng.normal(size=(5, 4)) / 4) * 1e-3
    settings = {"held_out": 0.2, "space": "components", "scale": True}
    whole = align(a, b, **settings)
    monkeypatch.setattr("unmix.metrics.alignment._clouds.ENTRIES", 9 * 700)
    np.save(tmp_path / "a.npy", a)
    (tmp_path / "b").mkdir()
    for k, part in enumerate(np.array_split(b, 3)):
        np.save(tmp_path / "b" / f"{k}.npy", part)
    for first, second in ((a, b), (tmp_path / "a.npy", tmp_path / "b")):
        found = align(first, second, **settings)
        assert (found.shape1, found.shape2, found.n_scored) == ((3000, 5), (3000, 4), 600)
        assert found.notes == whole.notes
        for name in ("permutation", "rigid", "linear", "ica", "diameter", "mean", "shuffled", "efficiency"):
            assert getattr(found, name) == pytest.approx(getattr(whole, name), rel=1e-6), name


def test_a_long_table_is_refused_with_the_row_that_is_not_finite(monkeypatch):
    monkeypatch.setattr("unmix.metrics.alignment._clouds.ENTRIES", 6 * 100)
    z = sources(0, 600)
    z[451, 1] = np.inf
    with pytest.raises(ValueError, match="`z2` must be finite, got inf in row 451, column 1"):
        align(sources(0, 600), z)


@given(seeds, st.sampled_from([(3, 3), (4, 2), (2, 5)]))
def test_a_map_that_picks_columns_is_a_product_without_sums(seed, shape):
    rng = np.random.default_rng(seed)
    z, p = rng.normal(size=(20, shape[0])), np.zeros(shape)
    few = min(shape)
    p[rng.permutation(shape[0])[:few], rng.permutation(shape[1])[:few]] = rng.choice([-2.0, 2.0], size=few)
    np.testing.assert_array_equal(_mapped(z, p), z @ p)
    dense = rng.normal(size=shape)
    np.testing.assert_array_equal(_mapped(z, dense), z @ dense)
