"""The triangular alternative: known counts, and models built in closed form and from samples."""

import itertools
import json

import numpy as np
import pytest
from scipy.stats import ks_2samp, norm

from samples import numerical_jacobian
from unmix.structure import Structure, anchor, dense, diverse, ring, triangular, triangular_edges
from unmix.theory import certify, explain, nonlinearity, triangular_alternative
from unmix.theory.sparsity._triangular import FAITHFUL


def injective_structures(count, seed=0):
    rng = np.random.default_rng(seed)
    while count:
        x, n = rng.integers(2, 6), rng.integers(1, 5)
        structure = Structure(rng.random((x, n)) < rng.uniform(0.3, 0.8))
        if structure.is_injective():
            count -= 1
            yield structure


def generic(structure, seed=1):
    rng = np.random.default_rng(seed)
    return structure.support * rng.uniform(0.5, 2, structure.shape) * rng.choice([-1, 1], structure.shape)


def contradicts(mixing, decoder, structure):
    """Whether z = T ẑ mixes what the structure separates, or the decoder is sparser than the truth."""
    if np.count_nonzero(decoder) < structure.n_edges:
        return True
    allowed, n = structure.contained(), structure.n_latents
    supports = np.abs(mixing) > 1e-9
    return not any(
        supports[range(n), order].all() and not (supports & ~allowed[:, np.argsort(order)]).any()
        for order in map(list, itertools.permutations(range(n)))
    )


@pytest.mark.parametrize(
    ("structure", "edges", "copies"),
    [
        (ring(3), 6, 3),
        (ring(4), 9, 4),
        (dense(4, 4), 10, 4),
        (triangular(4, 4), 10, 4),
        (diverse(10, 5, random_state=0), 23, 21),
        (Structure(np.kron(np.eye(2, dtype=int), ring(3).support)), 12, 6),
        (Structure(np.eye(3)), None, None),
        (Structure([[1], [1]]), None, None),
    ],
)
def test_known_counts(structure, edges, copies):
    found = triangular_alternative(structure)
    assert found.exact and (found.edges, found.copy_edges) == (edges, copies)


def test_the_bound_is_never_below_the_count():
    for structure in injective_structures(60, seed=2):
        edges = triangular_alternative(structure).edges
        assert edges is None or edges <= triangular_edges(*structure.shape)


def test_children_of_single_latents_make_the_truth_one_of_the_orderings():
    """With an anchor per latent the triangular model in their order is the truth: no harm, not counted."""
    found = triangular_alternative(anchor(6, 3, random_state=0), independent_latents=True)
    assert found and found.edges > anchor(6, 3, random_state=0).n_edges


def test_large_parts_get_a_bound_that_says_so():
    structure = diverse(20, 5, random_state=0)
    found = triangular_alternative(structure, independent_latents=True)
    assert (found.edges, found.exact, found.as_sparse) == (triangular_edges(20, 5), False, None)
    assert not found and "at most 90" in str(found) and "there may be sparser ones" in str(found)
    assert any("all orderings" in what for what in found.missing)
    assert triangular_alternative(dense(20, 5)).as_sparse is True  # the bound is enough to know


def test_disconnected_parts_are_counted_one_by_one():
    """Five rings of three: 15 observed variables are too many at once, but not part by part."""
    structure = Structure(np.kron(np.eye(5, dtype=int), ring(3).support))
    found = triangular_alternative(structure, independent_latents=True)
    assert found.exact and found.edges == 30 == structure.n_edges and not found
    assert structure.n_edges < triangular_edges(15, 15)  # the bound alone would have missed it
    assert any("faithfulness" in text for text in certify(structure, independent_latents=True).reasons)


@pytest.mark.parametrize("structure", [Structure([[1, 1, 0], [0, 1, 1]]), Structure(np.ones((13, 14)))])
def test_too_few_numbers_cannot_be_counted(structure):
    found = triangular_alternative(structure)
    assert found.edges is None and not found.exact and found.as_sparse is None and not found
    assert "cannot be counted" in str(found) and "observed numbers" in found.missing[0]


def test_groups_are_taken_in_order_of_size():
    found = triangular_alternative(ring(4), groups=[[0], [1], [2, 3]])
    assert (found.edges, found.exact) == (1 + 2 + 4, False)
    assert triangular_alternative(Structure([[1, 1, 1], [1, 1, 1]]), groups=[[0], [1]]).edges is None
    certificate = certify(ring(4), groups=[[0], [1], [2, 3]])
    assert certificate.alternative.edges == 7 and certificate.structure.n_observed == 3


def test_dict_is_plain():
    for structure in (ring(4), Structure(np.eye(2)), Structure([[1, 1]])):
        document = triangular_alternative(structure).to_dict()
        assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert triangular_alternative(ring(4), independent_latents=True).to_dict()["as_sparse"] is False


@pytest.mark.parametrize("structure", [ring(3), Structure([[1, 1], [0, 1]]), dense(3, 3)])
def test_in_closed_form_it_has_the_same_law_and_other_latents(structure):
    """Linear Gaussian mixing: the Cholesky factor of W W' is the triangular model."""
    found, weights = triangular_alternative(structure, independent_latents=True), generic(structure)
    order, n = list(found.order), structure.n_latents
    lower = np.linalg.cholesky(weights[order] @ weights[order].T)
    np.testing.assert_allclose(lower @ lower.T, weights[order] @ weights[order].T)  # x has the same law
    assert np.count_nonzero(np.abs(lower) > 1e-9) == found.edges <= structure.n_edges
    mixing = np.linalg.inv(weights[order]) @ lower  # z = mixing ẑ, both of independent standard normals
    np.testing.assert_allclose(mixing @ mixing.T, np.eye(n), atol=1e-9)
    assert contradicts(mixing, lower, structure)


def conditional_quantiles(x, bins):
    """Empirical Knothe-Rosenblatt: ẑ_k is the normal score of x_k among samples alike in x_0 .. x_{k-1}."""
    cells, scores = np.zeros(len(x), int), []
    for column in x.T:
        order = np.lexsort((column, cells))
        _, starts, sizes = np.unique(cells[order], return_index=True, return_counts=True)
        rank = np.empty(len(x))
        rank[order] = (np.arange(len(x)) - np.repeat(starts, sizes) + 0.5) / np.repeat(sizes, sizes)
        scores.append(norm.ppf(rank))
        cells = cells * bins + np.minimum((rank * bins).astype(int), bins - 1)
    return np.column_stack(scores)


def generate(z_hat, x, bins):
    """Send latents through the fitted triangular model: look up the quantile among samples alike so far."""
    uniform, fitted = norm.cdf(z_hat), norm.cdf(conditional_quantiles(x, bins))
    made, cells, known = np.empty_like(z_hat), np.zeros(len(z_hat), int), np.zeros(len(x), int)
    for k in range(x.shape[1]):
        order = np.lexsort((x[:, k], known))
        firsts = np.searchsorted(known[order], cells)
        sizes = np.searchsorted(known[order], cells, side="right") - firsts
        made[:, k] = x[order, k][firsts + (uniform[:, k] * sizes).astype(int)]
        cells, known = (
            c * bins + np.minimum((u[:, k] * bins).astype(int), bins - 1)
            for c, u in ((cells, uniform), (known, fitted))
        )
    return made


def test_from_samples_it_fits_nonlinear_data_as_well_as_new_samples_do():
    """Bent mixing along ring(3): a triangular model of 6 edges, fitted to samples, makes the same data."""
    structure, rng = ring(3), np.random.default_rng(0)
    a, b = rng.uniform(0.8, 1.2, (3, 3)), rng.uniform(-2, 2, (3, 3))
    weights = generic(structure)

    def mix(z):
        return (weights * (z[:, None, :] + 0.4 * np.sin(a * z[:, None, :] + b) / a)).sum(-1)

    z, fresh = rng.normal(size=(20_000, 3)), rng.normal(size=(20_000, 3))
    x, other = mix(z), mix(fresh)
    made = generate(rng.normal(size=(20_000, 3)), x, bins=14)
    directions = [*np.eye(3), *rng.normal(size=(20, 3))]
    distances = [ks_2samp(made @ v, other @ v).statistic for v in directions]
    baseline = [ks_2samp(x @ v, other @ v).statistic for v in directions]
    assert max(distances) < 0.03 and np.mean(distances) < 2 * np.mean(baseline)
    z_hat = conditional_quantiles(x, bins=14)
    # uncorrelated, but for the width of bins
    np.testing.assert_allclose(np.cov(z_hat.T), np.eye(3), atol=0.08)
    best = np.abs(np.corrcoef(z.T, z_hat.T)[:3, 3:]).max(1)
    assert best.min() < 0.9  # and yet some true latent is spread over several
    assert triangular_alternative(structure).edges <= structure.n_edges  # no sparsity tells them apart


def test_a_copy_of_one_variable_breaks_what_no_triangular_model_does():
    """Sparser than any triangular model, and not than one that copies a single variable, built here.

    ẑ_1 = x_1 = z_1 + h(z_2) and ẑ = z otherwise. The edge from ẑ_2 to x_1 is gone, one to x_4 has come, and
    z_1 depends on ẑ_2 although it alone moves x_4. Only Assumption 1, second half, excludes it.
    """
    parents = [[1, 2], [1, 2], [0, 2], [0, 2], [1], [0], [0]]
    structure = Structure([[j in row for j in range(3)] for row in parents])
    counted = triangular_alternative(structure)
    assert counted.copy_edges == structure.n_edges < counted.edges and not certify(structure).may_depend[1, 2]
    rng = np.random.default_rng(0)
    phases, z = rng.uniform(-3, 3, structure.shape), rng.normal(size=(300, 3))
    signs = structure.support * np.where(np.arange(7)[:, None] % 2, 1.0, np.array([1, 1, -1]))

    def bend(z_j, row, j):
        return z_j if (row, j) == (1, 1) else z_j + 0.4 * np.sin(z_j + phases[row, j])

    def mix(z):
        return np.stack([sum(signs[r, j] * bend(z[:, j], r, j) for j in range(3)) for r in range(7)], -1)

    def latents(z_hat):
        return np.stack([z_hat[:, 0], z_hat[:, 1] - bend(z_hat[:, 2], 1, 2), z_hat[:, 2]], -1)

    z_hat = np.stack([z[:, 0], mix(z)[:, 1], z[:, 2]], -1)
    truth, other = numerical_jacobian(mix, z), numerical_jacobian(lambda at: mix(latents(at)), z_hat)
    second = Structure(np.abs(other).max(0) > 1e-6)
    np.testing.assert_allclose(mix(latents(z_hat)), mix(z), atol=1e-12)
    assert nonlinearity(truth, structure) and nonlinearity(other, second)
    assert (np.linalg.matrix_rank(truth) == 3).all() and (np.linalg.matrix_rank(other) == 3).all()
    # as sparse, and Theorem 2 fails, too
    assert second.n_edges == structure.n_edges and structure.hamming(second)
    assert np.abs(numerical_jacobian(latents, z_hat)[:, 1, 2]).min() > 0.5
    believed = explain(structure, jacobians=truth).assumed
    assert FAITHFUL in believed and not any("nonlinearity" in word for word in believed)
