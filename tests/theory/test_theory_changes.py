"""Sufficient changes against ranks of natural parameters, and against laws that leave latents mixed."""

import json

import numpy as np
import pytest

from unmix.structure import Structure, dense, ring, triangular
from unmix.theory import nonlinearity, sufficient_changes

PAIR = dense(2, 2)


def gaussians(n_domains, n_latents, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-4, 4, (n_domains, n_latents)), rng.uniform(0.2, 2, (n_domains, n_latents))


def natural_rank(means, variances, latents):
    """Rank of the differences of (m / v, 1 / v) to the first domain: A5 for Gaussians, at every z."""
    eta = np.hstack([(means / variances)[:, latents], (1 / variances)[:, latents]])
    return np.linalg.matrix_rank(eta[1:] - eta[0], tol=1e-9)


def test_second_order_ranks_are_those_of_natural_parameters():
    rng = np.random.default_rng(0)
    ranks = []
    for _ in range(60):
        n_domains, n = rng.integers(2, 7), rng.integers(1, 4)
        means, variances = rng.integers(-1, 2, (n_domains, n)), rng.choice([0.5, 1, 2], (n_domains, n))
        found = sufficient_changes(dense(n, n), means=means, variances=variances)
        for latents in ([0], list(range(n))):
            check = found.second_order(latents)
            assert check.rank == natural_rank(means, variances, latents)
            assert (check.wanted, bool(check)) == (2 * len(latents), check.rank == 2 * len(latents))
            ranks.append(check.rank)
    assert set(ranks) >= {0, 1, 2, 3, 4}


def test_first_order_ranks_are_those_at_generic_points():
    rng = np.random.default_rng(1)
    for _ in range(40):
        n_domains, n = rng.integers(2, 6), rng.integers(1, 5)
        means, variances = rng.integers(-1, 2, (n_domains, n)), rng.choice([0.5, 1, 2], (n_domains, n))
        z = rng.normal(size=n)
        scores = -(z - means) / variances
        found = sufficient_changes(dense(1, n), means=means, variances=variances).first[0]
        assert found.rank == np.linalg.matrix_rank(scores[1:] - scores[0], tol=1e-9)


def test_two_n_plus_one_domains_do_for_any_mixing_and_one_less_does_not():
    for n in (1, 2, 3):
        enough = sufficient_changes(
            dense(n, n), **dict(zip(("means", "variances"), gaussians(2 * n + 1, n), strict=True))
        )
        assert enough
        assert enough.identifies.startswith("Each latent is identified alone")
        means, variances = gaussians(2 * n, n)
        short = sufficient_changes(dense(n, n), means=means, variances=variances)
        assert not short.certificates[1]
        assert short.second[0].rank == 2 * n - 1
        assert "do not identify" in short.identifies and short.missing


def test_changing_means_alone_meet_the_first_order_and_not_the_second():
    means, _ = gaussians(9, 4)
    found = sufficient_changes(dense(4, 4), means=means, variances=np.ones((9, 4)))
    assert found.certificates[0] and not found.certificates[1]
    assert found.second[0].rank == 4


def test_changing_variances_alone_span_half_of_the_directions():
    _, variances = gaussians(12, 3)
    found = sufficient_changes(dense(3, 3), means=np.zeros((12, 3)), variances=variances)
    assert found.certificates[0] and not found.certificates[1]
    assert [check.rank for check in found.second] == [3, 3, 3]


def logistic(scales):
    """log p(z_i | u) of logistic latents, up to a constant: not a Gaussian, so scales alone may do."""
    return lambda z, u: -z / scales[u] - 2 * np.log1p(np.exp(-z / scales[u]))


def test_changing_scales_suffice_where_densities_are_not_gaussian():
    scales = np.random.default_rng(0).uniform(0.3, 2, (7, 2))
    points = np.random.default_rng(1).uniform(1, 2, (50, 2))
    found = sufficient_changes(PAIR, log_density=logistic(scales), points=points, n_domains=7)
    assert found.certificates[1]


def test_a_function_agrees_with_the_closed_form():
    means, variances = gaussians(6, 2)
    given = sufficient_changes(PAIR, means=means, variances=variances)
    points = np.random.default_rng(0).normal(size=(200, 2)) * 2

    def log_density(z, u):
        return -((z - means[u]) ** 2) / (2 * variances[u]) - np.log(variances[u]) / 2

    evaluated = sufficient_changes(PAIR, log_density=log_density, points=points, n_domains=6)
    assert [c.rank for c in evaluated.second] == [c.rank for c in given.second] == [4, 4]
    flat = sufficient_changes(
        PAIR, log_density=lambda z, u: -((z - means[u]) ** 2) / 2, points=points, n_domains=6
    )
    assert [c.rank for c in flat.second] == [2, 2]  # numerical second derivatives that do not change


def test_latents_of_proportional_variances_may_be_rotated_and_are_not_certified():
    """With v_1(u) = v_2(u) a rotation is independent within every domain, however many there are."""
    rng = np.random.default_rng(0)
    means = rng.uniform(-4, 4, (20, 2))
    same = np.repeat(rng.uniform(0.2, 2, (20, 1)), 2, axis=1)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert all(np.allclose(turn @ np.diag(v) @ turn.T, np.diag(v)) for v in same)
    found = sufficient_changes(PAIR, means=means, variances=same * [1, 3])
    assert not found.certificates[1]
    assert found.second[0].rank == 3


def test_synergy_in_its_smallest_form():
    """x_1 = z_1 + z_2, x_2 = z_2: a rotation is as sparse, and independent until a second domain changes."""
    mixing = np.array([[1.0, 1.0], [0.0, 1.0]])
    back = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)  # z_hat = back @ z
    alternative = mixing @ np.linalg.inv(back)
    assert (np.abs(alternative) > 1e-12).sum() == (mixing != 0).sum() == 3
    assert np.allclose(back @ back.T, np.eye(2))
    second_domain = back @ np.diag([1.0, 4.0]) @ back.T
    assert abs(second_domain[0, 1]) > 1
    structure = Structure(mixing)
    assert not nonlinearity(np.repeat(mixing[None], 30, axis=0), structure)  # what sparsity alone would need
    three = {"means": np.zeros((3, 2)), "variances": [[1, 1], [1, 4], [4, 1]]}
    assert sufficient_changes(structure, **three).certificates[0]


def test_each_observed_variable_and_each_subspace_is_asked():
    means, variances = gaussians(4, 3)
    found = sufficient_changes(triangular(3, 3), means=means, variances=variances)
    parents = [tuple(sorted(triangular(3, 3).parents(k))) for k in range(3)]
    assert [check.latents for check in found.first] == parents
    contained = triangular(3, 3).contained()
    assert [check.latents for check in found.second] == [tuple(np.flatnonzero(row)) for row in contained]
    assert [bool(check) for check in found.second] == [len(check.latents) == 1 for check in found.second]


def test_samples_without_changes_span_nothing():
    ranks = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        z, u = rng.normal(size=(9 * 50, 2)), np.repeat(np.arange(9), 50)
        ranks.append(sufficient_changes(PAIR, z=z, u=u).second[0].rank)
    assert max(ranks) == 0


def test_samples_of_changing_means_span_only_means():
    rng = np.random.default_rng(0)
    u = np.repeat(np.arange(9), 2000)
    z = rng.uniform(-4, 4, (9, 2))[u] + rng.normal(size=(len(u), 2))
    found = sufficient_changes(PAIR, z=z, u=u)
    assert found.second[0].rank == 2 and found.certificates[0]
    assert "Gaussian latents within each domain, as fitted" in found.certificates[0].assumes


def test_many_samples_reach_the_rank_of_their_laws():
    means, variances = gaussians(6, 2)
    u = np.repeat(np.arange(6), 20_000)
    z = means[u] + np.sqrt(variances[u]) * np.random.default_rng(1).normal(size=(len(u), 2))
    assert sufficient_changes(PAIR, z=z, u=[f"site {k}" for k in u]).second[0].rank == 4


def test_reports_are_readable_and_plain():
    means, variances = gaussians(3, 3)
    found = sufficient_changes(ring(3), means=means, variances=variances)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["n_domains"] == 3 and len(plain["first"]) == 3
    assert str(found).startswith("3 domains.") and "A3" in str(found)
    assert found.reasons == tuple(r for c in found.certificates for r in c.reasons)


M, V = np.zeros((3, 2)), np.ones((3, 2))
Z = np.random.default_rng(0).normal(size=(12, 2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "must be given, got 0 of these three"),
        ({"means": M, "variances": V, "z": Z, "u": [0] * 12}, "got 2 of these three"),
        ({"means": M}, "`means` and `variances` must be given together"),
        ({"means": M, "variances": V[:2]}, "`means` and `variances` must have the same shape"),
        ({"means": M[:1], "variances": V[:1]}, "at least two domains, got 1"),
        ({"means": M, "variances": V * [1, 0]}, "`variances` must be positive, got 0.0 for z1 in domain 0"),
        ({"means": M * np.nan, "variances": V}, "`means` and `variances` must be finite"),
        ({"z": Z}, "`u` must be given with `z`"),
        ({"u": np.zeros(12)}, "`z` must be given with `u`"),
        ({"z": Z, "u": np.zeros(12)}, "`u` must hold at least two domains, got 1"),
        ({"z": Z, "u": np.zeros(11)}, r"`u` must have shape \(12,\), got \(11,\)"),
        ({"z": Z, "u": np.r_[np.nan, np.zeros(11)]}, "`u` must not be missing, got NaN for 1"),
        ({"z": Z, "u": np.r_[1, np.zeros(11)]}, "`u` must give each domain at least 3 samples, got 1"),
        ({"z": Z[0], "u": [0, 1]}, "`z` must be finite and of shape"),
        ({"log_density": logistic(V)}, "`points` and `n_domains` must be given"),
        ({"log_density": logistic(V), "points": Z, "n_domains": 1}, "`n_domains` must hold at least two"),
        ({"log_density": logistic(V), "points": Z[0], "n_domains": 3}, "`points` must be finite"),
        (
            {"log_density": lambda z, u: z[:, 0], "points": Z, "n_domains": 3},
            r"one log p\(z_i \| u\) per latent",
        ),
        ({"means": M, "variances": V, "tolerance": 0}, "`tolerance` must be between 0 and 1"),
        ({"means": np.zeros((3, 4)), "variances": np.ones((3, 4))}, "as many latents .* got 2 and 4"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        sufficient_changes(PAIR, **arguments)
