"""Certificates can't be broken, and aren't timid: explicit second models for what they do not promise."""

import itertools

import numpy as np
import pytest

from brute_force import every_support, random_supports
from samples import numerical_jacobian
from unmix.structure import Structure
from unmix.theory import certify

SHAPES = [(2, 2), (3, 2), (3, 3)]


def structures(n_observed, n_latents):
    return map(Structure, every_support(n_observed, n_latents))


def support_of(jacobians):
    return Structure(np.abs(jacobians).max(0) > 1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shear_breaks_exactly_the_pairs_that_are_not_promised(shape):
    """Let z_i = ẑ_i + ẑ_j: the model ĝ(ẑ) = g(z) fits; it is as sparse as g iff C_i is part of C_j."""
    rng = np.random.default_rng(0)
    for structure in structures(*shape):
        weights = structure.support * rng.uniform(1, 2, shape)
        for i, j in itertools.permutations(range(shape[1]), 2):
            shear = np.eye(shape[1])
            shear[i, j] = 1.0
            as_sparse = np.count_nonzero(weights @ shear) <= structure.n_edges
            assert certify(structure).may_depend[i, j] == as_sparse


@pytest.mark.parametrize("shape", SHAPES)
def test_any_mixing_within_the_pattern_keeps_the_structure_in_both_directions(shape):
    """The allowed patterns form an incidence algebra: closed under inversion, and S T stays within S."""
    rng = np.random.default_rng(1)
    for structure in structures(*shape):
        allowed = certify(structure).may_depend
        mixing = np.where(allowed, rng.uniform(0.1, 0.3, allowed.shape), 0) + np.eye(shape[1])
        weights = structure.support * rng.normal(size=shape)
        for transformation in [mixing, np.linalg.inv(mixing)]:
            assert not (np.abs(transformation) > 1e-12)[~allowed].any()
            assert Structure(np.abs(weights @ transformation) > 1e-12) <= structure


RANDOM = "random structures up to 8 x 6"


@pytest.mark.parametrize("shape", [*SHAPES, RANDOM], ids=str)
def test_no_mixing_outside_the_pattern_is_as_sparse(shape):
    """For generic values: T with one forbidden entry, whatever else within the pattern, adds edges."""
    rng = np.random.default_rng(2)
    drawn = random_supports(40, (3, 9), densest=0.7, seed=3) if shape is RANDOM else every_support(*shape)
    for structure in map(Structure, drawn):
        allowed = certify(structure).may_depend
        weights = structure.support * rng.uniform(1, 2, structure.shape)
        for i, j in np.argwhere(~allowed).tolist():
            mixing = np.where(allowed, rng.uniform(0.1, 0.3, allowed.shape), 0) + np.eye(len(allowed))
            mixing[i, j] = 0.5
            assert np.count_nonzero(weights @ mixing) > structure.n_edges


def test_ce1_dependent_latents_break_the_relation_of_the_paper():
    """x1 = z1 + sin(z1 + z2)/2, x2 = z2 + 0.3 sin z2; ẑ = (z1 - z2, z2) has the same x and structure."""

    def g(z):
        return np.stack([z[:, 0] + 0.5 * np.sin(z[:, 0] + z[:, 1]), z[:, 1] + 0.3 * np.sin(z[:, 1])], -1)

    def back(z_hat):
        return np.stack([z_hat[:, 0] + z_hat[:, 1], z_hat[:, 1]], -1)

    def g_hat(z_hat):
        return g(back(z_hat))

    z = np.random.default_rng(0).normal(size=(500, 2))
    z_hat = np.stack([z[:, 0] - z[:, 1], z[:, 1]], -1)
    truth, estimate = support_of(numerical_jacobian(g, z)), support_of(numerical_jacobian(g_hat, z_hat))
    np.testing.assert_allclose(g_hat(z_hat), g(z))
    assert truth == estimate == Structure([[1, 1], [0, 1]])
    assert np.linalg.matrix_rank(numerical_jacobian(g, z)[:, 0, :]) == 2  # sufficient nonlinearity at x1
    assert (
        np.linalg.eigvalsh(np.cov(z_hat.T)) > 0.1
    ).all()  # a normal law with positive density, but dependent
    assert abs(numerical_jacobian(back, z_hat)[:, 0, 1]).min() > 0.5  # z1 depends on ẑ2
    certificate = certify(truth)
    assert all(certificate.clauses) and certificate.separated_in_paper[0, 1]  # the paper would separate them
    assert certificate.may_depend[0, 1] and certificate.levels[0] == "element if independent"
    assert not certify(truth, independent_latents=True).may_depend[0, 1]


def test_ce2_independence_does_not_free_a_block():
    """z1, z2 with equal children below z3: (ẑ1, ẑ2) = R(z3) (z1, z2) keeps N(0, I) and the structure."""

    def turn(z, sign):
        c, s = np.cos(z[:, 2]), sign * np.sin(z[:, 2])
        return np.stack([c * z[:, 0] - s * z[:, 1], s * z[:, 0] + c * z[:, 1], z[:, 2]], -1)

    def g(z):
        a, b, c = z.T
        return np.stack([a + 0.3 * np.sin(b + c), b + 0.3 * np.sin(a - c), c + 0.2 * np.sin(c)], -1)

    def g_hat(z_hat):
        return g(turn(z_hat, -1))

    z = np.random.default_rng(0).normal(size=(20_000, 3))
    z_hat = turn(z, 1)
    truth = support_of(numerical_jacobian(g, z[:500]))
    estimate = support_of(numerical_jacobian(g_hat, z_hat[:500]))
    np.testing.assert_allclose(g_hat(z_hat), g(z))
    assert truth == estimate == Structure([[1, 1, 1], [1, 1, 1], [0, 0, 1]])
    np.testing.assert_allclose(np.cov(z_hat.T), np.eye(3), atol=0.05)  # independent normals again
    np.testing.assert_allclose(np.cov(z_hat.T**2) / 2, np.eye(3), atol=0.1)  # and not merely uncorrelated
    back = numerical_jacobian(lambda h: turn(h, -1), z_hat[:500])
    assert abs(back[:, 0, 2]).mean() > 0.3  # z1 depends on ẑ3
    certificate = certify(truth, independent_latents=True)
    assert certificate.may_depend[0, 2] and certificate.may_depend[1, 2]
    assert certificate.levels == ("block", "block", "element") and certificate.separated_in_paper[0, 2]
