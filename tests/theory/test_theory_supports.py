"""`certify_supports` against Assumption 3.8 as printed, and against all codes as sparse as the latents."""

import itertools
import json

import numpy as np
import pytest

from unmix.theory import certify_supports

MASKS = [np.array(mask) for mask in itertools.product([0, 1], repeat=3) if any(mask)]


def mask_sets():
    """All sets of index sets over three latents in which each latent varies somewhere."""
    for size in range(1, len(MASKS) + 1):
        for chosen in itertools.combinations(MASKS, size):
            if np.any(chosen, axis=0).all():
                yield np.array(chosen)


ALL = list(mask_sets())


def varies_enough(masks):
    """Assumption 3.8 b: for every i the union of the B_j without i is everything but i."""
    n = masks.shape[1]
    index_sets = [set(np.flatnonzero(row)) for row in masks]
    return all(set().union(*(b for b in index_sets if i not in b)) == set(range(n)) - {i} for i in range(n))


def norm(pattern, masks, weights):
    """E ||A Z||_0 for a generic A with this pattern: row i is nonzero wherever it meets the index set."""
    return weights @ ((pattern.astype(int) @ masks.T) > 0).sum(0)


def generically_invertible(pattern):
    n = len(pattern)
    return any(all(pattern[i, p[i]] for i in range(n)) for p in itertools.permutations(range(n)))


def test_variability_is_the_assumption_as_printed():
    assert len(ALL) == 109
    verdicts = [bool(certify_supports(masks)) for masks in ALL]
    assert verdicts == [varies_enough(masks) for masks in ALL]
    assert 0 < sum(verdicts) < len(ALL)


def test_every_code_as_sparse_as_the_latents_mixes_only_what_is_allowed():
    """Over all patterns of A: E||AZ||_0 <= E||Z||_0 iff A, reordered, is within `may_depend`."""
    patterns = [np.reshape(bits, (3, 3)) for bits in itertools.product([False, True], repeat=9)]
    patterns = [pattern for pattern in patterns if generically_invertible(pattern)]
    rng = np.random.default_rng(0)
    for masks in [ALL[k] for k in rng.choice(len(ALL), 12, replace=False)]:
        allowed = certify_supports(masks).may_depend
        weights = rng.dirichlet(np.ones(len(masks)))
        least = norm(np.eye(3), masks, weights)
        orders = [list(p) for p in itertools.permutations(range(3))]
        for pattern in patterns:
            fits = any((pattern[order] <= allowed).all() for order in orders)
            assert (norm(pattern, masks, weights) <= least + 1e-12) == fits


def test_a_shear_along_each_allowed_pair_is_as_sparse_and_along_no_other():
    for masks in ALL:
        weights = np.full(len(masks), 1 / len(masks))
        allowed = certify_supports(masks).may_depend
        for i, k in itertools.permutations(range(3), 2):
            shear = np.eye(3, dtype=bool)
            shear[i, k] = True
            assert (norm(shear, masks, weights) == pytest.approx(norm(np.eye(3), masks, weights))) == allowed[
                i, k
            ]


def test_levels_name_what_is_left():
    assert certify_supports([[1, 1, 0], [0, 1, 1], [1, 0, 1]]).level == "permutation and scaling"
    blocks = certify_supports([[1, 1, 0, 0], [0, 0, 1, 1]])
    assert (blocks.level, blocks.blocks) == ("blocks", (frozenset({0, 1}), frozenset({2, 3})))
    assert "{z0, z1}, {z2, z3}" in blocks.identifies
    assert certify_supports([[1, 1], [1, 1]]).level == "affine"
    assert certify_supports([[1]]).level == "permutation and scaling"


def test_nested_activity_leaves_an_order():
    nested = certify_supports([[1, 1], [0, 1]])  # z0 varies only where z1 does
    assert nested.level == "blocks"
    assert nested.blocks == (frozenset({0}), frozenset({1}))
    assert nested.may_depend.tolist() == [[True, False], [True, True]]
    assert nested.alone == {0}
    assert "z1 is told apart, and may be mixed with z0, varying only where it does." in nested.reasons


def test_witnesses_cover_everything_else():
    masks = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    for i, found in enumerate(certify_supports(masks).certificates[0].witnesses):
        assert set(found) == {0, 1, 2} - {i}
        assert all(masks[j, latent] and not masks[j, i] for latent, j in found.items())


def test_violations_are_named():
    certificate = certify_supports([[1, 1], [0, 1]]).certificates[0]
    assert certificate.violations == ((1, 0),)
    assert "z0 varies only where z1 does" in str(certificate)


def test_the_other_conditions_are_assumed_and_said_to_be():
    theorem = certify_supports([[1, 0], [0, 1]]).certificates[1]
    assert theorem.holds
    assert any("genericity" in believed for believed in theorem.assumes)
    assert any("coordinate axes" in believed for believed in theorem.assumes)
    assert any("Eq. 4" in believed for believed in theorem.assumes)


def test_a_certificate_is_plain_json_and_read_only():
    certificate = certify_supports([[1, 1], [0, 1]])
    assert json.loads(json.dumps(certificate.to_dict(), allow_nan=False))["level"] == "blocks"
    with pytest.raises(ValueError, match="read-only"):
        certificate.may_depend[0, 0] = False


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        ([1, 0], r"`masks` must have shape \(n_components, n_latents\), got \(2,\)"),
        (np.zeros((0, 3)), "`masks` must have shape"),
        ([[1, 2]], "`masks` must be binary"),
        ([[1, np.nan]], "`masks` must be binary"),
        ([[1, 0, 0], [1, 0, 1]], "`masks` must let every latent vary in some component, got none for z1"),
    ],
)
def test_bad_masks_are_named(masks, message):
    with pytest.raises(ValueError, match=message):
        certify_supports(masks)
