"""Adversaries, both ways: second models for what is not promised, and none for what is."""

import itertools
from functools import cache

import numpy as np
import pytest
from scipy.stats import kstest, multivariate_normal

from brute_force import random_supports, representatives
from samples import numerical_jacobian
from unmix.structure import Structure, diverse, ring
from unmix.theory import certify, counterexample, nonlinearity

Z = {n: np.random.default_rng(0).normal(size=(25, n)) for n in range(1, 7)}


@cache
def canonical_structures(x, n):
    """One structure for each class under relabelling of rows and columns; every latent has a child."""
    return tuple(Structure(support) for support, _ in representatives(x, n))


def support_of(jacobians):
    return Structure(np.abs(jacobians).max(0) > 1e-7)


def log_volume(jacobians):
    return 0.5 * np.linalg.slogdet(np.swapaxes(jacobians, 1, 2) @ jacobians)[1]


def check_second_model(structure, i, j, independent):
    """Same x, same structure, same density of x, all by numbers; yet z_i moves with the estimate of z_j.

    Nothing else excludes it: the truth bends enough, and no dependence cancels (Assumption 1, both halves).
    """
    second, z = counterexample(structure, i, j, independent_latents=independent), Z[structure.n_latents]
    z_hat = second.estimate(z)
    np.testing.assert_allclose(second.mix_hat(z_hat), second.mix(z), atol=1e-12)
    np.testing.assert_allclose(second.latents(z_hat), z, atol=1e-12)
    truth, other = second.jacobian(z), second.jacobian_hat(z_hat)
    assert support_of(truth) == support_of(other) == second.numbers
    moved = np.abs(second.mixing(z_hat)).max(0) > 0
    assert nonlinearity(truth, second.numbers) and Structure(second.numbers.support @ moved) == second.numbers
    density = second.log_density(z) - log_volume(truth)
    np.testing.assert_allclose(second.log_density_hat(z_hat) - log_volume(other), density, atol=1e-8)
    assert np.abs(second.mixing(z_hat)[:, i, j]).max() > 0.5
    if independent:  # both laws are that of independent standard normals
        np.testing.assert_allclose(second.log_density_hat(z_hat), second.log_density(z_hat), atol=1e-10)


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("shape", [(x, n) for x in range(1, 5) for n in range(2, 5)], ids=str)
def test_every_pair_that_is_not_separated_has_a_second_model(shape, independent):
    for structure in canonical_structures(*shape):
        may_depend = certify(structure, independent_latents=independent).may_depend
        for i, j in np.argwhere(may_depend & ~np.eye(shape[1], dtype=bool)).tolist():
            check_second_model(structure, i, j, independent)


@pytest.mark.parametrize("independent", [False, True])
def test_random_structures_up_to_8_x_6_have_second_models(independent):
    for structure in map(Structure, random_supports(40, (3, 9), densest=0.7)):
        may_depend = certify(structure, independent_latents=independent).may_depend
        for i, j in np.argwhere(may_depend & ~np.eye(len(may_depend), dtype=bool)).tolist():
            check_second_model(structure, i, j, independent)


def patterns(n):
    """All zero patterns of an n x n matrix T that some invertible T has, as (m, n) rows of bits."""
    rows = np.array(list(itertools.product(range(1, 1 << n), repeat=n)))
    matched = np.zeros(len(rows), bool)
    for order in itertools.permutations(range(n)):
        matched |= ((rows >> np.array(order)) & 1).all(1)
    return rows[matched]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("x", [1, 2, 3, 4])
def test_no_transformation_as_sparse_mixes_a_separated_pair(x, n):
    """Every invertible T whose decoder S T has at most |S| edges respects `may_depend`, up to relabelling.

    Faithfulness says that the support of S T is that of the product of patterns. All patterns are tried.
    """
    rows = patterns(n)
    union = np.zeros((1 << n, len(rows)), int)  # of rows of T, for each set of parents
    for parents in range(1, 1 << n):
        lowest = (parents & -parents).bit_length() - 1
        union[parents] = union[parents & (parents - 1)] | rows[:, lowest]
    size = np.array([bin(k).count("1") for k in range(1 << n)])[union]
    orders = [np.array(order) for order in itertools.permutations(range(n))]
    for structure in canonical_structures(x, n):
        parents = structure.support @ (1 << np.arange(n))
        as_sparse = rows[size[parents].sum(0) <= structure.n_edges]
        allowed = certify(structure).may_depend
        fits = np.zeros(len(as_sparse), bool)
        for order in orders:  # z_j is matched with estimate order[j]
            permitted = (allowed * (1 << order)[None, :]).sum(1)
            fits |= ((as_sparse & ~permitted) == 0).all(1) & ((as_sparse >> order) & 1).all(1)
        assert len(as_sparse) and fits.all()


def test_independence_leaves_a_single_latent_no_freedom():
    """z_0 below z_1: maps ẑ_0 -> a(ẑ_1) ẑ_0 + c(ẑ_1) leave z_0 free of ẑ_1 only if they are trivial."""
    certificate = certify(Structure([[1, 1], [0, 1]]), independent_latents=True)
    assert not certificate.may_depend[0, 1]
    rng = np.random.default_rng(0)
    z_hat = rng.normal(size=(20_000, 2))
    for shift, scale in [(0.5, 0.0), (0.0, 0.5), (0.3, 0.3)]:
        z_0 = np.exp(scale * np.sin(z_hat[:, 1])) * z_hat[:, 0] + shift * z_hat[:, 1]
        low, high = z_0[z_hat[:, 1] < -1], z_0[z_hat[:, 1] > 1]
        assert kstest(low, high).pvalue < 1e-6  # z_0 depends on ẑ_1 = z_1, which independence forbids
    assert kstest(z_hat[z_hat[:, 1] < -1, 0], z_hat[z_hat[:, 1] > 1, 0]).pvalue > 1e-3


def test_derivatives_are_those_of_the_maps():
    structure = Structure([[1, 1, 1], [1, 1, 1], [0, 0, 1]])
    for second in [
        counterexample(structure, 0, 2),
        counterexample(structure, 0, 1, independent_latents=True),
        counterexample(structure, 0, 2, independent_latents=True),
    ]:
        z_hat = second.estimate(Z[3])
        np.testing.assert_allclose(numerical_jacobian(second.mix, Z[3]), second.jacobian(Z[3]), atol=1e-8)
        np.testing.assert_allclose(
            numerical_jacobian(second.mix_hat, z_hat), second.jacobian_hat(z_hat), atol=1e-8
        )
        np.testing.assert_allclose(numerical_jacobian(second.latents, z_hat), second.mixing(z_hat), atol=1e-8)
        np.testing.assert_allclose(np.linalg.det(second.mixing(z_hat)), 1)


def test_the_sheared_law_is_the_normal_law_it_should_be():
    second = counterexample(Structure([[1, 1], [0, 1]]), 0, 1)
    shear = np.array([[1.0, -1.0], [0.0, 1.0]])  # ẑ = shear z
    expected = multivariate_normal(np.zeros(2), shear @ shear.T).logpdf(second.estimate(Z[2]))
    np.testing.assert_allclose(second.log_density_hat(second.estimate(Z[2])), expected)


def test_both_models_bend_enough():
    """Assumption 1, first half, for the truth and for the second model; so nothing else excludes either."""
    for structure, i, j in [(Structure([[1, 1], [0, 1]]), 0, 1), (Structure([[1, 1, 1], [0, 1, 1]]), 0, 2)]:
        second = counterexample(structure, i, j)
        z = np.random.default_rng(0).normal(size=(200, structure.n_latents))
        assert nonlinearity(second.jacobian(z), second.numbers)
        assert nonlinearity(second.jacobian_hat(second.estimate(z)), second.numbers)


def test_the_mixing_is_injective_everywhere():
    second = counterexample(Structure([[1, 1, 1]]), 0, 2)
    assert second.numbers.n_observed == 3  # one variable stands for three numbers
    far = 20 * np.random.default_rng(0).normal(size=(500, 3))
    rows = second.jacobian(far)
    diagonal = np.abs(rows).max(2)
    assert (2 * diagonal > np.abs(rows).sum(2)).all()


def test_words_and_seeds():
    structure = Structure([[1, 1, 1], [1, 1, 1], [0, 0, 1]])
    assert "z0 = ẑ0 + ẑ2" in str(counterexample(structure, 0, 2))
    assert "turned by the angle ẑ2" in str(counterexample(structure, 0, 2, independent_latents=True))
    assert "45 degrees" in str(counterexample(structure, 0, 1, independent_latents=True))
    one, same, other = (counterexample(structure, 0, 2, random_state=seed) for seed in (1, 1, 2))
    assert (one.mix(Z[3]) == same.mix(Z[3])).all() and not np.allclose(one.mix(Z[3]), other.mix(Z[3]))


@pytest.mark.parametrize(
    ("structure", "i", "j", "words"),
    [
        (ring(4), 0, 1, "must not be separated"),
        (diverse(6, 3, random_state=0), 0, 0, "two latents"),
        (ring(4), 0, 4, "`j` must be a latent"),
        (ring(4), -1, 2, "`i` must be a latent"),
    ],
)
def test_what_has_no_second_model_is_refused(structure, i, j, words):
    with pytest.raises(ValueError, match=words):
        counterexample(structure, i, j)
