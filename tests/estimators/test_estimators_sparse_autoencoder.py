"""Sparse autoencoders: what they find, their contract, streams, several at once, and several processes."""

import json
import subprocess
import sys
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import unmix
from families import DICTIONARIES, every, label
from unmix.cli._output import plain
from unmix.estimators import JacobianSparseAutoencoder, SparseAutoencoder, fit_many
from unmix.estimators._dictionary import geometric_median
from unmix.nn import Feedforward
from unmix.rows import array_rows

ONES = [clone(member).set_params(k=1) for member in DICTIONARIES]  # the checks ask for one component


def planted(n=3000, d=12, m=24, k=2, seed=5):
    """Rows made of few atoms; the seed is no seed of a model."""
    rng = np.random.default_rng(seed)
    atoms = rng.normal(size=(m, d))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    codes = np.zeros((n, m))
    chosen = rng.random((n, m)).argsort(1)[:, :k]
    np.put_along_axis(codes, chosen, rng.exponential(size=(n, k)) + 0.3, 1)
    return codes @ atoms + 0.01 * rng.normal(size=(n, d)) + 3.0, atoms


@pytest.fixture(scope="module")
def data():
    return planted()


@pytest.fixture(scope="module")
def fitted(data):
    found = {}

    def fit(member):
        key = label(member), repr(member)
        if key not in found:
            found[key] = clone(member).fit(data[0])
        return found[key]

    return fit


@parametrize_with_checks([ONES[0]])
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(ONES[1:])
def test_every_dictionary_passes_the_same_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("activation", ["topk", "batch_topk"])
def test_planted_atoms_are_found_and_rows_explained(activation, data):
    x, atoms = data
    model = SparseAutoencoder(
        32, activation=activation, k=2, max_iter=25, batch_size=200, lr=0.02, random_state=0
    ).fit(x)
    nearest = (atoms @ model.dictionary_.T).max(1)
    assert (nearest > 0.95).mean() > 0.6 and model.score(x) > 0.8
    untrained = SparseAutoencoder(32, k=2, max_iter=1, lr=1e-9, random_state=0).fit(x)
    start = (atoms @ untrained.dictionary_.T).max(1)
    assert (start > 0.95).mean() < 0.1  # no seed may start a model at the truth
    np.testing.assert_allclose(np.linalg.norm(model.dictionary_, axis=1), 1, atol=1e-5)


@every(DICTIONARIES)
def test_codes_are_what_the_arrays_say(member, data, fitted):
    x, model = data[0], fitted(member)
    a = (x - model.bias_) @ model.encoder_weight_.T.astype(float) + model.encoder_bias_
    if model.activation == "topk":
        least = np.sort(a, axis=1)[:, -model.k][:, None]
        expected = np.where((a >= least) & (a > 0), a, 0.0)
    else:
        expected = np.where(a > np.maximum(0 if model.threshold_ is None else model.threshold_, 0), a, 0.0)
    codes = model.transform(x)
    assert isinstance(codes, sparse.csr_array) and codes.shape == (3000, 24) and codes.dtype == x.dtype
    np.testing.assert_allclose(codes.toarray(), expected, atol=1e-9)
    np.testing.assert_allclose(
        model.inverse_transform(codes), expected @ model.dictionary_ + model.bias_, atol=1e-6
    )
    np.testing.assert_allclose(model.inverse_transform(codes), model.inverse_transform(codes.toarray()))
    left = x - model.inverse_transform(codes)
    share = 1 - np.square(left).sum() / np.square(x - x.mean(0)).sum()
    assert model.score(x) == pytest.approx(share, abs=1e-5)
    np.testing.assert_allclose(model.firing_, (codes.toarray() > 0).mean(0), atol=2e-3)
    np.testing.assert_allclose(model.max_activation_, codes.toarray().max(0), rtol=1e-3, atol=1e-4)
    assert model.n_tokens_seen_ == model.n_iter_ * 3000 and model.history_.n_steps == model.n_iter_ * 60


@every(DICTIONARIES)
def test_it_is_a_function_of_its_seed_and_leaves_global_seeds_alone(member, data, fitted):
    torch.manual_seed(7)
    np.random.seed(7)
    again = clone(member).fit(data[0])
    after = torch.rand(1), np.random.rand()
    torch.manual_seed(7)
    np.random.seed(7)
    assert after == (torch.rand(1), np.random.rand())
    np.testing.assert_array_equal(again.dictionary_, fitted(member).dictionary_)
    other = clone(member).set_params(random_state=1).fit(data[0])
    assert not np.allclose(other.dictionary_, again.dictionary_)


@every(DICTIONARIES)
def test_it_comes_back_from_its_file_and_notices_damage(member, data, fitted, tmp_path):
    model = fitted(member)
    path = model.save(tmp_path / "model")
    loaded = unmix.load(path)
    assert type(loaded) is type(model) and repr(loaded) == repr(model)
    for name in (name for name in vars(model) if name.endswith("_") and name != "history_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name), err_msg=name)
    assert abs(loaded.transform(data[0]) - model.transform(data[0])).max() == 0
    assert clone(loaded).get_params().keys() == member.get_params().keys()
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match="must"):
        unmix.load(path)


@every(DICTIONARIES)
def test_frames_tensors_pipelines_precision_and_names(member, data, fitted):
    x, model = data[0], fitted(member)
    assert model.transform(x.astype(np.float32)).dtype == np.float32
    assert abs(model.transform(torch.tensor(x)) - model.transform(x)).max() == 0
    frame = pd.DataFrame(x[:300], columns=[f"v{i}" for i in range(12)])
    named = clone(member).set_params(max_iter=1).fit(frame)
    assert list(named.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        named.transform(frame[frame.columns[::-1]])
    pipe = make_pipeline(StandardScaler(), clone(member).set_params(max_iter=1)).fit(x[:300])
    assert pipe.transform(x[:300]).shape == (300, 24)
    assert len(model.get_feature_names_out()) == 24
    with pytest.raises(NotFittedError):
        clone(model).transform(x)
    with pytest.raises(ValueError, match="n_components=24"):
        model.inverse_transform(np.zeros((2, 5)))


@every(DICTIONARIES)
def test_a_killed_fit_goes_on_and_another_run_is_refused(member, data, fitted, tmp_path):
    settings = {"checkpoint": tmp_path / "run"}
    first = clone(member).set_params(**settings).fit(data[0])
    again = clone(member).set_params(**settings).fit(data[0])
    for model in (first, again):
        np.testing.assert_array_equal(model.dictionary_, fitted(member).dictionary_)
    with pytest.raises(ValueError, match="same run"):
        clone(member).set_params(**settings, lr=0.1).fit(data[0])


def test_rows_of_a_file_are_the_rows_of_the_array(data, tmp_path):
    x = data[0].astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    model = SparseAutoencoder(24, k=2, max_iter=3, batch_size=50, random_state=0).fit(tmp_path / "x.npy")
    assert abs(model.transform(tmp_path / "x.npy") - model.transform(x)).max() == 0
    assert model.score(tmp_path / "x.npy") == pytest.approx(model.score(x), abs=1e-5)
    assert model.score(x) > SparseAutoencoder(24, k=2, max_iter=1, lr=1e-9, random_state=0).fit(x).score(x)
    few = array_rows(x, block=100)
    assert abs(model.transform(few) - model.transform(x)).max() == 0


def test_several_are_fitted_over_one_pass(data, monkeypatch):
    x = data[0]
    alone = SparseAutoencoder(24, k=2, max_iter=2, batch_size=50, random_state=0).fit(x)
    models = [
        SparseAutoencoder(24, k=2, max_iter=2, batch_size=50, random_state=0),
        SparseAutoencoder(40, activation="batch_topk", k=3, max_iter=2, batch_size=50, random_state=1),
    ]
    taken = []
    rows = array_rows(x, block=500)
    counted = rows._replace(take=lambda a, b: taken.append(b - a) or rows.take(a, b), resident=False)
    fit_many(models, counted)
    # mean and spread, median, two passes, firing of each: no more than for one model but for the last
    assert sum(taken) <= 3000 * (2 + 2 + 2) + 2
    assert [model.dictionary_.shape for model in models] == [(24, 12), (40, 12)]
    assert set(models[0].history_.terms) == set(alone.history_.terms)
    fit_many(models, x)
    np.testing.assert_allclose(models[0].dictionary_, alone.dictionary_, atol=1e-6)
    with pytest.raises(ValueError, match="`models` must have the same max_iter"):
        fit_many([models[0], clone(models[1]).set_params(max_iter=3)], x)
    with pytest.raises(ValueError, match="`models` must hold at least one"):
        fit_many([], x)


@pytest.mark.parametrize("activation", ["topk", "batch_topk", "jumprelu", "relu"])
def test_partial_fit_learns_bit_by_bit_and_goes_on_from_a_file(activation, data, tmp_path):
    x = data[0]
    model = SparseAutoencoder(
        24, activation=activation, k=2, batch_size=100, lr=0.01, sparsity=0.1, random_state=0
    )
    scores = []
    for _ in range(4):
        for part in np.array_split(x, 5):
            model.partial_fit(part)
        scores.append(model.score(x))
    assert scores[-1] > scores[0] and model.n_tokens_seen_ == 4 * 3000
    assert model.firing_.shape == (24,) and model.firing_.min() >= 0 and model.firing_.max() <= 1
    again = unmix.load(model.save(tmp_path / "model"))
    before = again.score(x)
    again.partial_fit(x)
    assert again.score(x) > before - 0.05 and again.n_tokens_seen_ == 5 * 3000
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(x[:, :5])


def test_prefixes_order_features_by_what_they_explain(data):
    x = data[0]
    settings = {"k": 4, "max_iter": 10, "batch_size": 150, "lr": 0.02, "random_state": 0}
    without = SparseAutoencoder(24, **settings).fit(x)
    nested = SparseAutoencoder(24, prefixes=(4, 12), **settings).fit(x)

    def first(model, n):
        codes = model.transform(x).toarray()
        codes[:, n:] = 0
        left = x - model.inverse_transform(codes)
        return 1 - np.square(left).sum() / np.square(x - x.mean(0)).sum()

    assert first(nested, 12) > first(without, 12) + 0.02


def test_dead_features_come_back_by_the_auxiliary_term(data):
    """Half of the features are read too weakly to be among the k largest: only the term can wake them."""
    x = data[0]
    start = SparseAutoencoder(24, k=2, max_iter=2, batch_size=200, lr=0.01, random_state=0).fit(x)
    start.encoder_weight_[12:] *= 0.1
    left = {}
    for weight in (0.0, 1.0):
        model = deepcopy(start).set_params(auxiliary=weight, dead_after=500.0)
        for _ in range(3):
            model.partial_fit(x)
        left[weight] = (np.bincount(model.transform(x).indices, minlength=24)[12:] == 0).sum()
    assert left[0.0] > 8 and left[1.0] < left[0.0] / 2


def test_the_pair_has_few_effects_by_its_weight_and_speaks_for_both_sides(data):
    x = data[0]
    rng = np.random.default_rng(0)
    block = Feedforward(
        rng.normal(size=(16, 12)),
        rng.normal(size=(9, 16)),
        w_gate=rng.normal(size=(16, 12)),
        activation="silu",
    )
    settings = {"k": 3, "max_iter": 4, "batch_size": 100, "lr": 0.02, "random_state": 0}
    free = JacobianSparseAutoencoder(24, weight=0.0, **settings).fit(x, mlp=block)
    bound = JacobianSparseAutoencoder(24, weight=3.0, **settings).fit(x, mlp=block)
    sizes = [np.abs(model.feature_jacobian(x[:200]).values).mean() for model in (free, bound)]
    assert sizes[1] < 0.8 * sizes[0]
    y = block(torch.from_numpy(x.astype(np.float32))).numpy()
    assert bound.output.score(y) > 0 and bound.output_dictionary_.shape == (24, 9)
    assert abs(bound.transform_output(x) - bound.output.transform(y)).max() < 1e-3
    assert abs(bound.input.transform(x) - bound.transform(x)).max() == 0
    assert (
        not bound.flags_
        and "No block was given" in JacobianSparseAutoencoder(24, k=3, max_iter=1).fit(x).findings().flags[0]
    )
    with pytest.raises(ValueError, match="`mlp` must be a Feedforward that reads 12 features"):
        clone(free).fit(x, mlp=Feedforward(np.zeros((3, 5)), np.zeros((5, 3))))


def test_the_jacobian_of_the_pair_is_that_of_its_own_codes(data):
    x = data[0][:40].astype(np.float32)
    rng = np.random.default_rng(0)
    block = Feedforward(0.2 * rng.normal(size=(16, 12)), rng.normal(size=(12, 16)), activation="gelu")
    model = JacobianSparseAutoencoder(24, k=3, max_iter=2, batch_size=100, random_state=0)
    model.fit(data[0], mlp=block)
    found = model.feature_jacobian(x)
    step = 1e-3
    for row in range(10):
        for column in range(3):
            moved = x[row] + step * model.dictionary_[found.input[row, column]]
            values = block(torch.from_numpy(np.stack([x[row], moved]))).numpy()
            a = (values - model.output_bias_) @ model.output_encoder_weight_.T
            secant = (a[1] - a[0])[found.output[row]] / step
            np.testing.assert_allclose(found.values[row, :, column], secant, atol=0.02)


@every(DICTIONARIES)
@pytest.mark.parametrize(
    "wrong",
    [
        {"n_components": 0},
        {"n_components": 1.5},
        {"k": 0},
        {"k": 25},
        {"max_iter": 0},
        {"batch_size": 0},
        {"lr": float("nan")},
        {"auxiliary": -1.0},
        {"dead_after": -2.0},
        {"device": "tpu"},
        {"precision": "fp8"},
    ],
    ids=str,
)
def test_bad_settings_are_named(member, wrong, data):
    if wrong == {"k": 25} and member.activation == "relu":
        pytest.skip("it does not use k")
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}` must be"):
        clone(member).set_params(**wrong).fit(data[0])


@pytest.mark.parametrize("kind", [SparseAutoencoder, JacobianSparseAutoencoder])
def test_what_single_precision_can_not_hold_is_said(kind):
    x, wild = planted(n=200)[0], planted(n=200)[0]
    wild[3, 2] = 1e300
    with pytest.raises(ValueError, match="whose squares are finite"):
        kind(8, k=2, max_iter=1).fit(wild)
    with pytest.raises(ValueError, match=r"offsets of 1e\+08 and a spread of"):
        kind(8, k=2, max_iter=1).fit(x + 1e8)


def test_other_bad_settings_and_data_are_named(data, tmp_path):
    with pytest.raises(ValueError, match="`activation` must be one of"):
        SparseAutoencoder(24, activation="softmax").fit(data[0])
    with pytest.raises(ValueError, match="`prefixes` must be integers from 1 to n_components=24"):
        SparseAutoencoder(24, k=2, prefixes=(0, 3)).fit(data[0])
    with pytest.raises(ValueError, match="`weight` must be a finite number"):
        JacobianSparseAutoencoder(24, k=2, weight=-1.0).fit(data[0])
    broken = data[0].astype(np.float32)
    broken[1234, 3] = np.nan
    np.save(tmp_path / "x.npy", broken)
    with pytest.raises(ValueError, match=r"NaN or infinity in row 1,234"):
        SparseAutoencoder(24, k=2).fit(tmp_path / "x.npy")
    with pytest.raises(ValueError, match="`X` must vary"):
        SparseAutoencoder(24, k=2).fit(np.ones((50, 3)))


def test_the_geometric_median_is_no_further_from_the_rows_than_its_neighbours():
    x = np.random.default_rng(0).standard_t(2, size=(200, 3))
    centre = geometric_median(x)
    best = np.linalg.norm(x - centre, axis=1).sum()
    for step in 0.01 * np.vstack([np.eye(3), -np.eye(3)]):
        assert np.linalg.norm(x - centre - step, axis=1).sum() > best - 1e-9


WORKER = """
import json, os, sys
import numpy as np, torch
import torch.distributed as dist
rank, world, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
torch.set_num_threads(1)
if world > 1:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world)
import unmix
x = np.load(f"{folder}/x.npy")
found = {}
for kind in ("topk", "batch_topk", "jumprelu", "relu"):
    model = unmix.SparseAutoencoder(
        24, activation=kind, k=2, max_iter=2, batch_size=100, dead_after=500,
        lr=0.01, random_state=0, device="cpu"
    ).fit(x)
    np.savez(f"{folder}/{kind}-{world}-{rank}.npz", d=model.dictionary_, e=model.encoder_weight_,
             t=np.float64(0 if model.threshold_ is None else np.mean(model.threshold_)))
if world > 1:  # who leaves without a word may end by a signal
    dist.barrier()
    dist.destroy_process_group()
"""


@pytest.mark.slow
def test_two_processes_train_as_one_on_the_joined_batch(data, tmp_path):
    np.save(tmp_path / "x.npy", data[0][:1000])
    (tmp_path / "worker.py").write_text(WORKER)
    jobs = [(0, 1), (0, 2), (1, 2)]
    running = [
        subprocess.Popen(
            [sys.executable, str(tmp_path / "worker.py"), str(rank), str(world), str(tmp_path)],
            stderr=subprocess.PIPE,
        )
        for rank, world in jobs
    ]
    for process in running:
        error = process.communicate(timeout=200)[1]
        assert process.returncode == 0, error.decode()[-2000:]
    for kind in ("topk", "batch_topk", "jumprelu", "relu"):
        one, first, second = (np.load(tmp_path / f"{kind}-{w}-{r}.npz") for r, w in jobs)
        for name in ("d", "e", "t"):
            np.testing.assert_array_equal(first[name], second[name])
            np.testing.assert_allclose(first[name], one[name], atol=2e-3, err_msg=f"{kind} {name}")


def test_what_is_found_is_told(fitted):
    found = fitted(DICTIONARIES[0]).findings()
    assert found.method == "SparseAutoencoder" and found.n_components == 24
    assert json.dumps(plain(found.to_dict()))


def test_models_of_another_kind_are_refused_by_name():
    with pytest.raises(TypeError, match="`models` must hold SparseAutoencoder only, got FastICA"):
        fit_many([unmix.FastICA(2)], np.eye(9))
