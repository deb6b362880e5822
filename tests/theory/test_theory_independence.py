"""What independent latents leave free: a search over every change of variables, not a few examples.

The claim. Let the latents of the truth and of the estimate be independent with positive densities, and
z = psi(ẑ) a diffeomorphism with dz_i/dẑ_j = 0 unless C_i is part of C_j: all that sparsity leaves, whichever
zero pattern psi has (`test_no_transformation_as_sparse_mixes_a_separated_pair` goes through all patterns; a
map with more zeros is one of these). Then z_i depends on ẑ_i alone iff no other latent has its children, and
otherwise on the estimates of any latents above it. A map of each single latent changes neither pattern nor
independence, so that both laws may be taken to be N(0, I): which psi preserve it?

Flows. A field v preserves N(0, I) iff sum_i (d_i - z_i) v_i = 0. In Hermite polynomials, v_i the sum of
c_ia He_a, and (d_i - z_i) He_a = -He_(a + e_i): so, for each multi-index b, sum_i c_(i, b - e_i) = 0. The
terms allowed in it are those of the i in b with all of b in Up(i). One alone must vanish; two may cancel. So
the search over all fields, of whatever degree, is one over the sets of latents that occur in b.

Finite maps. If z_i has children of its own, let U be the latents strictly above it. z_U and ẑ_U are functions
of each other, so that given ẑ_U = u the law of z_i does not depend on u, and neither does that of ẑ_i. The
map from one to the other is monotone, hence F^-1(F̂(ẑ_i)) or its mirror image, and by continuity one of the
two for all u.
"""

import itertools

import numpy as np
import pytest
from numpy.polynomial.hermite_e import HermiteE
from scipy.stats import norm

from brute_force import SHAPES, Defined, random_supports, representatives
from unmix.structure import Structure
from unmix.theory import certify, counterexample


def above(support):
    """Up(i): what z_i may depend on by sparsity, from Definition 5 (i) over all pairs of sets."""
    true = Defined(support)
    return [{j for j in true.latents if (i, j) not in true.cases["i"]} for i in range(true.n)]


def mixed_by_flows(up):
    """All (i, j) such that some field within the pattern preserves N(0, I) and has z_j in its entry i."""
    found = set()
    for size in range(2, len(up) + 1):
        for term in itertools.combinations(range(len(up)), size):
            movers = [i for i in term if set(term) <= up[i]]
            if len(movers) > 1:
                found |= {(i, j) for i in movers for j in term if i != j}
    return found


def mixed_in_certificate(support):
    may_depend = certify(Structure(support), independent_latents=True).may_depend
    return {(i, j) for i, j in np.argwhere(may_depend).tolist() if i != j}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_flows_mix_exactly_the_pairs_that_are_not_separated(shape):
    for support, _ in representatives(*shape):
        assert mixed_by_flows(above(support)) == mixed_in_certificate(support)


def test_flows_mix_exactly_these_pairs_in_random_structures_up_to_8_x_6():
    for support in random_supports(60, seed=7):
        assert mixed_by_flows(above(support)) == mixed_in_certificate(support)


def relations():
    """Up of one structure for each relation of containment up to 4 x 4, up to the order of latents."""
    found = {}
    for support, _ in itertools.chain.from_iterable(itertools.starmap(representatives, SHAPES)):
        pattern = np.array([[j in up for j in range(len(support[0]))] for up in above(support)])
        orders = map(list, itertools.permutations(range(len(pattern))))
        found.setdefault(max(pattern[np.ix_(order, order)].tobytes() for order in orders), support)
    return [(above(support), support) for support in found.values()]


def preserving_fields(up, degree):
    """A basis (fields, latents, monomials) of polynomial fields in the pattern with sum (d_i - z_i) v_i = 0.

    Monomials, derivatives and products are written out: no Hermite polynomials, no cancelling by hand.
    """
    n = len(up)
    powers = [p for p in itertools.product(range(degree + 2), repeat=n) if sum(p) <= degree + 1]
    at = {power: k for k, power in enumerate(powers)}
    terms = [
        (i, power)
        for i in range(n)
        for power in powers
        if sum(power) <= degree and all(j in up[i] for j in range(n) if power[j])
    ]
    equations = np.zeros((len(powers), len(terms)))
    for column, (i, power) in enumerate(terms):
        raised, lowered = (tuple(p + d * (j == i) for j, p in enumerate(power)) for d in (1, -1))
        equations[at[raised], column] -= 1
        if power[i]:
            equations[at[lowered], column] += power[i]
    _, sizes, right = np.linalg.svd(equations)
    return terms, right[int((sizes > 1e-9).sum()) :]


def test_linear_algebra_on_polynomials_finds_the_same_pairs():
    """The reduction to sets is right: polynomial fields of degree 3, for each relation of containment."""
    assert len(relations()) == 1 + 3 + 9 + 33  # all preorders of up to four points
    for up, _ in relations():
        terms, fields = preserving_fields(up, 3)
        mixed = {
            (i, j)
            for column, (i, power) in enumerate(terms)
            for j in range(len(up))
            if j != i and power[j] and len(fields) and np.abs(fields[:, column]).max() > 1e-9
        }
        assert mixed == mixed_by_flows(up)


def test_hermite_polynomials_are_raised():
    """(d - z) He_k = -He_(k + 1), on which the search rests."""
    z = HermiteE([0, 1])
    for k in range(6):
        he = HermiteE.basis(k)
        np.testing.assert_allclose((he.deriv() - z * he + HermiteE.basis(k + 1)).coef, 0, atol=1e-12)


def test_linear_maps_turn_blocks_only():
    """Orthogonal maps within the pattern, from random starts, turn latents of the same children only."""
    rng = np.random.default_rng(0)
    for up, support in relations():
        n = len(up)
        pattern = np.array([[j in up[i] for j in range(n)] for i in range(n)])
        maps = np.where(pattern, rng.normal(size=(10, n, n)), 0)
        for _ in range(400):  # in turn to the nearest orthogonal matrix and to the nearest of the pattern
            left, _, right = np.linalg.svd(maps)
            maps = np.where(pattern, left @ right, 0)
        fit = np.abs(maps @ np.swapaxes(maps, 1, 2) - np.eye(n)).max((1, 2)) < 1e-9
        found = {(i, j) for i, j in np.argwhere(np.abs(maps[fit]).max(0) > 1e-6).tolist() if i != j}
        same = {(i, j) for i in range(n) for j in up[i] - {i} if i in up[j]}
        assert fit.any() and found == same <= mixed_in_certificate(support)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_single_latent_made_independent_is_its_own_estimate(shape):
    """The finite argument, for every pair that only independence separates.

    Take a monotone map of ẑ_i that all above it bend, at 7 values of theirs. Once the law of z_i is made the
    same for all of them, so is the map: z_i = ẑ_i, or its mirror image.
    """
    rng = np.random.default_rng(0)
    own = norm.ppf((np.arange(101) + 0.5) / 101)
    for support, _ in representatives(*shape):
        up, separated = above(support), Defined(support).proved(True)
        freed = {k for k in range(shape[1]) for j in up[k] - {k} if (k, j) in separated}
        for sign, i in itertools.product((-1, 1), freed):
            others = rng.normal(size=(7, len(up[i]) - 1))
            shift, scale = others @ rng.normal(size=(2, others.shape[1], 1))
            bent = sign * np.exp(np.tanh(scale) / 2) * (own + 0.3 * np.sin(own + shift)) + shift
            assert np.ptp(bent, axis=0).max() > 0.05  # so bent it depends on them, and so does its law
            rank = bent.argsort(1).argsort(1)
            made = norm.ppf((rank + 0.5) / 101)  # the same law for every value of those above
            np.testing.assert_allclose(made, np.tile(sign * own, (7, 1)), atol=1e-12)


def test_a_flow_found_by_the_search_is_the_turn_of_the_counterexample():
    """v_0 = z_1 z_2, v_1 = -z_0 z_2: two latents of a block turn as fast as z_2 says."""
    support = np.array([[1, 1, 1], [1, 1, 1], [0, 0, 1]])
    terms, fields = preserving_fields(above(support), 2)
    turn = np.zeros(len(terms))
    turn[[terms.index((0, (0, 1, 1))), terms.index((1, (1, 0, 1)))]] = 1, -1
    np.testing.assert_allclose(fields.T @ (fields @ turn), turn, atol=1e-12)
    second = counterexample(Structure(support), 0, 2, independent_latents=True)
    z = np.random.default_rng(0).normal(size=(50, 3)) * [1, 1, 1e-6]  # a small angle: the flow for an instant
    moved = (second.latents(z) - z)[:, :2] / z[:, 2:]
    np.testing.assert_allclose(moved, np.stack([z[:, 1], -z[:, 0]], 1), atol=1e-4)
