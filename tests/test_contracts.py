"""What every metric, penalty, certificate, structure and generator promises, whoever wrote it."""

import copy
import json
import pickle

import numpy as np
import pytest
import torch

import unmix
from families import (
    CLOUDS,
    CONDITIONS,
    CONSTANTS,
    DISTANCES,
    FACTORS,
    GENERATORS,
    GRAPHS,
    IMAGES,
    METRICS,
    PATTERNS,
    PENALTIES,
    RESAMPLES,
    SLOTS,
    SPARSITIES,
    STRUCTURES,
    SmallNetwork,
    every,
    label,
    public_name,
)
from unmix.data import FactorDataset, LatentDataset
from unmix.nn import mlp
from unmix.penalties import check_penalty
from unmix.structure import Structure


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(240, 3))
    return z, np.tanh(z) + rng.normal(size=z.shape) * [0.2, 0.5, 0.7]


@every(METRICS)
def test_metric_ignores_order_sign_scale_and_origin(member, pair):
    z, z_hat = pair
    moved = z_hat[:, [2, 0, 1]] * [-3.0, 0.01, 200.0] + [5.0, 0.0, -40.0]
    tolerance = 0.02 if public_name(member) == "dci" else 1e-6  # trees break ties by the order of codes
    assert member(z, moved) == pytest.approx(member(z, z_hat), abs=tolerance)


@every(METRICS)
def test_metric_is_best_at_the_truth_and_lower_elsewhere(member, pair):
    z, z_hat = pair
    shuffled = np.random.default_rng(1).permutation(z)
    best = 0.8 if public_name(member) == "irs" else 0.95  # bins and held-out samples keep some below 1
    assert best < member(z, z) <= 1 + 1e-9
    assert 0 <= member(z, shuffled) < member(z, z_hat) < member(z, z)


@every(METRICS)
def test_metric_returns_a_float_and_leaves_its_arguments_alone(member, pair):
    z, z_hat = map(np.copy, pair)
    assert type(member(z.tolist(), z_hat.astype(np.float32))) is float
    member(z, z_hat)
    np.testing.assert_array_equal(z, pair[0])
    np.testing.assert_array_equal(z_hat, pair[1])


@every(METRICS)
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda z, c: (np.where(z == z[3, 1], np.nan, z), c), r"`z_true` must be finite.*row 3, column 1"),
        (lambda z, c: (z, np.where(c == c[0, 0], np.inf, c)), "`z_hat` must be finite"),
        (lambda z, c: (z, c[:-1]), "as many rows"),
        (lambda z, c: (z[:, 0], c), r"`z_true` must have shape"),
        (lambda z, c: (np.column_stack([z, np.ones(len(z))]), c), "constant column 3"),
        (lambda z, c: (z[:1], c[:1]), "at least"),
    ],
    ids=["nan", "infinity", "mismatch", "one-dimensional", "constant", "single sample"],
)
def test_metric_rejects_bad_input(member, spoil, message, pair):
    with pytest.raises(ValueError, match=message):
        member(*spoil(*pair))


@every(METRICS)
def test_metric_rejects_text(member, pair):
    with pytest.raises(TypeError, match="numbers"):
        member(pair[0], pair[1].astype(str))


@every(DISTANCES)
def test_distance_of_runs_is_zero_up_to_order_and_sign_and_grows_with_noise(member, pair):
    z, noise = np.random.default_rng(0).laplace(size=(240, 3)), np.random.default_rng(1).normal(size=(240, 3))
    turned = z[:, [2, 0, 1]] * [-1, 1, 1]
    assert member(z, turned) == pytest.approx(0, abs=0.01)
    assert 0.01 < member(z, turned + 0.3 * noise) < member(z, turned + 2 * noise)


@every(DISTANCES)
@pytest.mark.parametrize("spoil", [lambda c: c[:-1], lambda c: c[:, 0], lambda c: np.where(c > 2, np.nan, c)])
def test_distance_of_runs_rejects_bad_input(member, spoil, pair):
    with pytest.raises(ValueError, match="must"):
        member(pair[0], spoil(pair[1]))


@every(CLOUDS)
def test_number_of_a_cloud_is_finite_and_does_not_depend_on_where_it_lies(member, pair):
    z = np.copy(pair[0])
    assert 0 < member(z) < np.inf and type(member(z)) is float
    assert member(z + np.array([10.0, -3.0, 0.5])) == pytest.approx(member(z), rel=1e-6)
    np.testing.assert_array_equal(z, pair[0])


@every(CLOUDS)
@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (lambda z: z[:, 0], ValueError),
        (lambda z: np.where(z > 1, np.nan, z), ValueError),
        (lambda z: z[:0], ValueError),
        (lambda z: z.astype(str), TypeError),
    ],
    ids=["one-dimensional", "nan", "empty", "text"],
)
def test_number_of_a_cloud_rejects_bad_input(member, spoil, error, pair):
    with pytest.raises(error, match="must"):
        member(spoil(pair[0]))


def dags():
    return [np.triu(np.random.default_rng(seed).integers(0, 2, (5, 5)), 1) for seed in range(4)]


@every(GRAPHS)
def test_distance_of_graphs_is_a_metric_that_ignores_common_names(member):
    a, b, c, d = dags()
    order = np.random.default_rng(0).permutation(5)
    assert member(a, a) == 0 and member(a, b) == member(b, a) > 0
    assert member(a[np.ix_(order, order)], b[np.ix_(order, order)]) == member(a, b)
    assert member(a, c) <= member(a, d) + member(d, c)


@every(GRAPHS)
@pytest.mark.parametrize(
    "wrong",
    [np.ones((5, 5)), np.eye(5), np.full((5, 5), 0.5), np.zeros((5, 4)), np.eye(5, k=1) + np.eye(5, k=-4)],
    ids=["everything", "loops", "fractions", "not square", "cycle"],
)
def test_distance_of_graphs_rejects_what_is_no_graph(member, wrong):
    with pytest.raises(ValueError, match="must"):
        member(dags()[0], wrong)


@every(PATTERNS)
def test_agreement_of_patterns_ignores_names_and_drops_with_every_error(member):
    truth = np.random.default_rng(0).integers(0, 2, (12, 4))
    one, two = truth.copy(), truth.copy()
    one[0, 0] ^= 1
    two[:2, 0] ^= 1
    assert member(truth, truth[:, [3, 0, 2, 1]]) == 1
    assert 0.5 < member(truth, two) < member(truth, one) < 1
    assert member(truth, one[:, [1, 0, 3, 2]]) == pytest.approx(member(one, truth))


@every(PATTERNS)
@pytest.mark.parametrize("wrong", [np.ones((11, 4)), np.full((12, 4), np.nan), np.ones(12)], ids=str)
def test_agreement_of_patterns_rejects_bad_input(member, wrong):
    with pytest.raises(ValueError, match="must"):
        member(np.ones((12, 4)), wrong)


@every(SPARSITIES)
def test_sparsity_goes_from_equal_parts_to_one(member):
    found = [member([1.0, rest]) for rest in (1.0, 0.7, 0.4, 0.1, 0.0)]
    assert found[0] == pytest.approx(0) and found[-1] == pytest.approx(1) and found == sorted(found)
    assert all(type(value) is float for value in found)
    for wrong in ([1.0, float("nan")], [1.0]):
        with pytest.raises((ValueError, TypeError)):
            member(wrong)


@every(PENALTIES)
def test_penalty_passes_its_check(member):
    report = check_penalty(member)
    assert report, str(report)


@every(PENALTIES)
def test_penalty_is_a_finite_scalar_never_negative_and_differentiable(member):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        decoder, z = mlp(4, 6, hidden=(8,), activation="silu"), torch.randn(16, 4, requires_grad=True)
        value = member(decoder, z)
    value.backward()
    grads = [p.grad for p in (*decoder.parameters(), z) if p.grad is not None]
    assert value.ndim == 0 and value.isfinite() and value >= 0
    assert any(grad.abs().sum() > 0 for grad in grads) and all(grad.isfinite().all() for grad in grads)


@every(PENALTIES)
def test_penalty_trains_an_estimator(member):
    x = GENERATORS[0](60, random_state=0).x
    model = unmix.DiverseDictionaryLearning(
        4, penalty=member, encoder=SmallNetwork(), decoder=SmallNetwork(), max_iter=2
    )
    assert np.isfinite(model.fit(x).history_.terms["penalty"]).all()


@every(CONDITIONS)
@pytest.mark.parametrize("structure", [make() for make in STRUCTURES], ids=[label(s) for s in STRUCTURES])
def test_certificate_is_a_value_that_explains_itself(member, structure):
    found = member(structure)
    plain = found.to_dict()
    assert len(str(found)) > 40 and all(isinstance(reason, str) for reason in found.reasons)
    assert found or (found.reasons and getattr(found, "missing", ("nothing to ask for",))), (
        "it fails without a word"
    )
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain.get("holds", bool(found)) == bool(found)
    assert str(member(structure)) == str(found)


@pytest.mark.parametrize("name", sorted({public_name(member) for member in CONDITIONS}))
def test_condition_holds_somewhere_and_fails_somewhere(name):
    alike = [member for member in CONDITIONS if public_name(member) == name]
    assert {bool(member(make())) for member in alike for make in STRUCTURES} == {True, False}


@every(CONDITIONS[:2])
def test_certificate_does_not_depend_on_labels(member):
    rng = np.random.default_rng(0)
    for make in STRUCTURES:
        structure = make()
        order, rows = rng.permutation(structure.n_latents), rng.permutation(structure.n_observed)
        found, relabelled = member(structure), member(structure.permute(order).permute_rows(rows))
        assert [found.levels[j] for j in order] == list(relabelled.levels)
        assert [found.clauses[j] for j in order] == list(relabelled.clauses)
        np.testing.assert_array_equal(found.may_depend[np.ix_(order, order)], relabelled.may_depend)


@every(FACTORS)
def test_factors_ignore_the_order_of_observed_variables_and_follow_that_of_latents(member):
    J = np.random.default_rng(0).normal(size=(7, 4)) * (np.arange(7)[:, None] % 4 == np.arange(4))
    J[0, 1] = 1.0  # links the first two latents
    found, order = np.asarray(member(J)), [2, 0, 3, 1]
    np.testing.assert_allclose(member(J[::-1]), found)
    renamed, square = np.asarray(member(J[:, order])), found.ndim == 2
    np.testing.assert_allclose(np.sort(renamed, None), np.sort(found, None))
    assert not square or np.allclose(renamed, found[np.ix_(order, order)])
    assert not np.array_equal(member(np.where(J == 1.0, 0.0, J)), found)  # the link is seen
    for wrong in (np.where(J == 1.0, np.nan, J), J[0]):
        with pytest.raises(ValueError, match="must"):
            member(wrong)


@every(RESAMPLES)
def test_structures_read_again_are_a_function_of_the_seed(member):
    first, again, other = member(0), member(0), member(1)
    assert first == again != other
    assert len(first) == 6 and {structure.shape for structure in first} == {(5, 3)}


@pytest.mark.parametrize(
    ("member", "arguments", "wrong"), CONSTANTS, ids=[label(member) for member, *_ in CONSTANTS]
)
def test_constant_is_positive_grows_and_refuses_what_it_must_not_be(member, arguments, wrong):
    found = [member(argument) for argument in arguments]
    assert found[0] > 0 and found == sorted(set(found)) and np.isfinite(found).all()
    with pytest.raises(ValueError, match="must"):
        member(wrong)


@every(STRUCTURES)
def test_structure_survives_files_copies_and_pickles(member, tmp_path):
    structure = member()
    for suffix in ("csv", "npy", "json"):
        assert Structure.read(structure.write(tmp_path / f"mask.{suffix}")) == structure
    assert copy.deepcopy(structure) == pickle.loads(pickle.dumps(structure)) == structure == member()


@every(STRUCTURES)
def test_structure_is_injective_and_touches_every_variable(member):
    structure = member()
    assert structure.is_injective() and structure.support.any(0).all()
    with pytest.raises(ValueError, match="read-only"):
        structure.support[0, 0] = False


@every((*GENERATORS, *SLOTS))
def test_generator_mixes_along_its_structure_exactly(member):
    data = member(300, random_state=0)
    assert isinstance(data, LatentDataset) and data.description.endswith(".")
    assert data.x.shape == (300, data.structure.n_observed) and data.z.shape == (
        300,
        data.structure.n_latents,
    )
    J = data.mixing.jacobian(data.z)
    np.testing.assert_array_equal((J != 0).any(0), data.structure.support)
    assert np.linalg.matrix_rank(J).min() == data.structure.n_latents


@every((*GENERATORS, *SLOTS))
def test_generator_says_the_truth_about_x_and_its_jacobian(member):
    data = member(2000, random_state=0)
    clean = data.mixing(data.z)
    left = (data.x - clean).std(0) / clean.std(0)
    np.testing.assert_allclose(left, data.noise, atol=0.02 if data.noise else 1e-12)
    step = 1e-7 * np.eye(data.structure.n_latents)[0]
    secant = (data.mixing(data.z[:50] + step) - data.mixing(data.z[:50] - step)) / 2e-7
    np.testing.assert_allclose(secant, data.mixing.jacobian(data.z[:50])[:, :, 0], atol=1e-5)
    np.testing.assert_allclose(data.z.mean(0), 0, atol=0.15)
    np.testing.assert_allclose(data.z.std(0), 1, atol=0.15)


@every((*GENERATORS, *SLOTS))
def test_generator_is_a_function_of_its_seed(member):
    first, again, other = (member(50, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.x, again.x)
    np.testing.assert_array_equal(first.z, again.z)
    assert first.structure == again.structure and not np.array_equal(first.z, other.z)
    with pytest.raises(ValueError, match="read-only"):
        first.x[0] = 0


@every((*GENERATORS, *SLOTS))
def test_generator_leaves_a_world_that_draws_fresh_samples(member):
    data = member(2000, random_state=5)
    fresh, again = (data.world.sample(2000, random_state=6) for _ in range(2))
    np.testing.assert_array_equal(fresh.x, again.x)
    assert fresh.structure == data.structure and fresh.mixing is data.mixing and fresh.latents == data.latents
    assert not np.isin(fresh.z, data.z).any()
    np.testing.assert_allclose(np.cov(fresh.z.T), np.cov(data.z.T), atol=0.2)  # the same law


@pytest.fixture
def drawn(member):
    if public_name(member) == "avatars":
        pytest.importorskip("python_avatars")
        pytest.importorskip("resvg_py")
    return member


@every(IMAGES)
def test_images_are_bytes_of_the_size_asked_for_and_factors_are_in_range(drawn):
    data = drawn(8, size=16, random_state=0)
    assert isinstance(data, FactorDataset) and len(data) == len(data.images) == 8
    images = data.images[:]
    assert images.shape == data.images.shape and images.shape[1:3] == (16, 16) and images.dtype == np.uint8
    assert images.max() > 60 and images.std((1, 2, 3)).min() > 4
    assert data.factors.min() >= 0 and (data.factors < data.sizes).all()


@every(IMAGES)
def test_images_are_a_function_of_the_seed_and_are_drawn_alike_each_time(drawn):
    first, again, other = (drawn(8, size=16, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.images[:], again.images[:])
    np.testing.assert_array_equal(first.factors, again.factors)
    assert not np.array_equal(first.images[:], other.images[:])
    np.testing.assert_array_equal(first.images[[5, 2]], first.images.rendered(slice(None), "cpu")[[5, 2]])
    copied = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(copied.images[:], first.images[:])


@every(IMAGES)
@pytest.mark.parametrize("wrong", [{"n_samples": 0}, {"size": 20}, {"size": "64"}])
def test_images_refuse_what_can_not_be_drawn(drawn, wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}` must be"):
        drawn(**{"n_samples": 4} | wrong)


@every(GENERATORS)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_samples": 0}, "`n_samples` must be"),
        ({"noise": -1.0}, "`noise` must be"),
        ({"noise": float("nan")}, "`noise` must be"),
        ({"latents": "cauchy"}, "`latents` must be one of"),
        ({"mixing": "cubic"}, "`mixing` must be one of"),
        ({"profile": "wide"}, "`profile` must be one of"),
        ({"structure": Structure([[1, 1], [0, 0]])}, "`structure` must allow an injective"),
        ({"n_observed": 1}, "`n_observed` must be at least"),
    ],
    ids=lambda value: str(value)[:30].replace("\n", " ") if isinstance(value, dict) else "",
)
def test_generator_rejects_bad_arguments(member, wrong, message):
    with pytest.raises(ValueError, match=message):
        member(**{"n_samples": 50} | wrong)


@every(GENERATORS)
@pytest.mark.parametrize("wrong", [{"n_samples": 2.5}, {"structure": [[1, 0], [0, 1]]}], ids=str)
def test_generator_rejects_wrong_types(member, wrong):
    with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
        member(**{"n_samples": 50} | wrong)
