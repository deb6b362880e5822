import tracemalloc
import warnings
from functools import partial

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import FastICA as ScikitFastICA
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import unmix
from unmix import Autoencoder, FastICA
from unmix.nn import mlp

EYE3 = np.eye(3)


def mixed(n, kinds, seed=0):
    """Independent sources of unit variance, one per letter (Laplace, uniform, normal), mixed at random."""
    rng = np.random.default_rng(seed)
    draw = {
        "l": lambda: rng.laplace(scale=0.5**0.5, size=n),
        "u": lambda: rng.uniform(-(3**0.5), 3**0.5, size=n),
        "n": lambda: rng.normal(size=n),
        "e": lambda: rng.exponential(size=n) - 1,
    }
    s = np.column_stack([draw[kind]() for kind in kinds])
    return s, s @ rng.normal(size=(len(kinds), len(kinds))).T + rng.normal(size=len(kinds))


def matched(s, z):
    """Absolute correlation of each source with the component that an assignment gives it."""
    c = np.abs(np.corrcoef(s.T, z.T)[: s.shape[1], s.shape[1] :])
    rows, columns = linear_sum_assignment(-c)
    return c[rows, columns]


def skew_gradient(x, components):
    """From the definition, in double precision: the skew part of diag(s) E[tanh(y) y^T]."""
    y = (x - x.mean(0)) @ components.T
    g = np.tanh(y)
    signs = np.where(np.mean(1 - g**2, 0) > np.mean(g * y, 0), 1.0, -1.0)
    cross = signs[:, None] * (g.T @ y) / len(y)
    return np.abs(cross - cross.T).max() / 2


@parametrize_with_checks(
    [FastICA(), FastICA(algorithm="parallel", fun="exp", scale="mixing", random_state=0)]
)
def test_fast_ica_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("algorithm", ["newton", "parallel"])
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_sources_come_back_in_unit_variance(algorithm, fun):
    s, x = mixed(20_000, "lluu")
    z = FastICA(fun=fun, algorithm=algorithm, random_state=0).fit_transform(x)
    assert matched(s, z).min() > (0.99 if fun == "cube" else 0.999)
    np.testing.assert_allclose(np.cov(z.T, ddof=0), np.eye(4), atol=1e-5)


@pytest.mark.parametrize("algorithm", ["newton", "parallel"])
def test_the_gradient_vanishes_where_it_stops(algorithm):
    _, x = mixed(5000, "llllu")
    model = FastICA(algorithm=algorithm, random_state=0).fit(x)
    assert skew_gradient(x, model.components_) < 2e-6
    assert model.converged_.all() and model.gradients_[-1] <= 1e-6 and model.n_iter_ == len(model.gradients_)
    exact = FastICA(algorithm=algorithm, tol=1e-10, precision="float64", random_state=0).fit(x)
    assert skew_gradient(x, exact.components_) < 1e-10
    np.testing.assert_allclose(exact.components_, model.components_, atol=1e-4)


def test_parity_with_scikit_learn_and_picard():
    picard = pytest.importorskip("picard").picard
    s, x = mixed(20_000, "llluue")
    ours = FastICA(random_state=0).fit_transform(x)
    theirs = ScikitFastICA(whiten="unit-variance", tol=1e-10, max_iter=500, random_state=0).fit_transform(x)
    whitening, rotation, _ = picard(x.T, ortho=True, tol=1e-9, max_iter=500, random_state=0)
    for peer in (theirs, (x - x.mean(0)) @ (rotation @ whitening).T):
        assert matched(peer, ours).min() > 0.99999
        assert matched(s, peer).min() > 0.999
    assert matched(s, ours).min() > 0.999


def test_parallel_takes_the_steps_of_scikit_learn_from_the_same_start():
    _, x = mixed(3000, "llu")
    x -= x.mean(0)
    start = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    settings = {"algorithm": "parallel", "max_iter": 3, "tol": 1e-12}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = ScikitFastICA(whiten=False, w_init=start, **settings).fit(x).components_
        ours = FastICA(whiten=False, w_init=start, precision="float64", **settings | {"max_iter": 4}).fit(x)
    same = np.abs(ours.components_ @ theirs.T)
    np.testing.assert_allclose(
        same.max(1), 1, atol=1e-9
    )  # the fourth pass only looks at where three steps led
    np.testing.assert_allclose(same.sum(1), 1, atol=1e-4)


def test_known_vector():
    i = np.arange(1, 2001, dtype=np.float64)

    def u(a):
        return (a * i**2) % 1

    v = u(3**0.5) - 0.5
    s = np.column_stack(
        [
            (u(2**0.5) - 0.5) * 12**0.5,
            -np.sign(v) * np.log(1 - 2 * np.abs(v)) / 2**0.5,
            np.where(u(5**0.5) >= 0.5, 1.0, -1.0) * (0.8 + 0.4 * u(7**0.5)),
        ]
    )
    x = s @ np.array([[2, 1, 0.5], [1, 1, -1], [0, 0.5, 1]]).T
    model = FastICA(precision="float64", tol=1e-9, random_state=0).fit(x)
    np.testing.assert_allclose(matched(s, model.transform(x)), [0.99930, 0.99991, 0.99995], atol=1e-5)
    np.testing.assert_allclose(model.nongaussianity_, [-0.32719, 0.18086, -0.12124], atol=1e-5)
    pairs = model.curvature_[~np.eye(3, dtype=bool)]
    np.testing.assert_allclose([pairs.min(), pairs.max()], [0.14184, 0.25387], atol=1e-5)
    assert model.gamma_ == pairs.min()


@pytest.mark.parametrize("algorithm", ["newton", "parallel"])
def test_order_and_signs_do_not_depend_on_the_start(algorithm):
    _, x = mixed(8000, "lluuee")
    reference = FastICA(random_state=0).fit(x)
    assert np.all(np.diff(np.abs(reference.nongaussianity_)) <= 0)
    skewed = np.mean(reference.transform(x) ** 3, 0)
    assert (skewed > 1).sum() == 2, "both exponential components have their tail above"
    for seed in range(3):
        other = FastICA(algorithm=algorithm, random_state=seed).fit(x)
        np.testing.assert_allclose(other.components_, reference.components_, atol=1e-4)
    # scikit-learn's order follows the start
    theirs = [ScikitFastICA(whiten="unit-variance", random_state=r).fit(x).components_ for r in (0, 1)]
    assert not np.allclose(theirs[0], theirs[1], atol=0.1)


@pytest.mark.parametrize("algorithm", ["newton", "parallel"])
def test_gaussian_components_are_labelled_and_no_failure(algorithm):
    s, x = mixed(20_000, "l" * 6 + "n" * 6)
    model = FastICA(algorithm=algorithm, random_state=0).fit(x)  # any warning would be an error
    np.testing.assert_array_equal(model.gaussian_, [False] * 6 + [True] * 6)
    assert matched(s[:, :6], model.transform(x)[:, :6]).min() > 0.995
    assert model.reliability_[:6].min() > 0.995 and model.reliability_[6:].max() == 0
    assert model.converged_.all() and model.gamma_ < 0.02
    with pytest.warns(Warning, match="converge"):  # the same data are a failure elsewhere
        ScikitFastICA(whiten="unit-variance", random_state=0).fit(x)


@pytest.mark.parametrize(("n", "d"), [(5000, 2), (20_000, 12)])
def test_nothing_but_noise_is_called_so(n, d):
    for seed in range(2):
        with pytest.warns(
            ConvergenceWarning, match=f"none of the {d} components can be told from a Gaussian"
        ):
            assert FastICA(random_state=seed).fit(mixed(n, "n" * d, seed)[1]).gaussian_.all()


UNITS = [1.0, 300.0, 1e4, 1e8]


@pytest.mark.parametrize("factor", UNITS)
def test_units_of_columns_do_not_matter(factor):
    _, x = mixed(3000, "llll")
    odd = x * np.array([1.0, factor, 1.0, 1 / factor])
    plain, model = FastICA(random_state=0).fit(x), FastICA(random_state=0).fit(odd)
    assert model.rank_ == 4 and len(model.dropped_) == 0
    np.testing.assert_allclose(np.abs(model.transform(odd)), np.abs(plain.transform(x)), atol=1e-3)
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(odd)) / odd.std(0), odd / odd.std(0), atol=1e-5
    )


def test_units_of_many_columns_do_not_matter(monkeypatch):
    monkeypatch.setattr("unmix.estimators._fast_ica._WIDE", 100)
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(140, 4)) @ rng.normal(size=(4, 150))
    odd = x * np.where(np.arange(150) < 2, 1e5, 1.0)
    plain, model = (FastICA(random_state=0).fit(values) for values in (x, odd))
    assert plain.rank_ == model.rank_ == 4
    assert matched(plain.transform(x), model.transform(odd)).min() > 0.999


@pytest.mark.parametrize("scale", [1e-200, 1e-19, 1e39, 1e160])
def test_scale_of_the_data_does_not_matter(scale, tmp_path):
    s, x = mixed(2000, "llu")
    np.save(tmp_path / "x.npy", x * scale)
    for data in (x * scale, tmp_path / "x.npy"):
        model = FastICA(random_state=0).fit(data)
        assert matched(s, model.transform(data)).min() > 0.998 and model.score(x * scale) > 0.999


def test_what_is_dropped_is_named():
    _, x = mixed(2000, "lll")
    rng = np.random.default_rng(1)
    doubled = FastICA(random_state=0).fit(np.column_stack([x, x[:, 0]]))  # nothing is lost: no warning
    assert len(doubled.dropped_) == 1 and doubled.dropped_[0] in (0, 3)
    near = np.column_stack([x, x[:, 0] + 1e-4 * x.std() * rng.laplace(size=2000)])
    with pytest.warns(UserWarning, match=r"1 directions were dropped.* nearly determine [03]\."):
        dropped = FastICA(random_state=0).fit(near).dropped_
    assert dropped.tolist() in ([0], [3])
    assert FastICA(rtol=1e-12, random_state=0).fit(near).rank_ == 4


def test_missing_cells_of_a_file_are_refused_with_their_place(tmp_path):
    _, x = mixed(400, "lu")
    model = FastICA(random_state=0, chunk_size=100).fit(x)
    x[250, 1] = np.nan
    np.save(tmp_path / "x.npy", x)
    with pytest.raises(ValueError, match="nan in row 250, column 1"):
        model.transform(tmp_path / "x.npy")


def test_reliability_is_the_correlation_that_is_measured():
    measured, expected = [], []
    for seed in range(8):
        s, x = mixed(3000, "lllluuuu", seed)
        model = FastICA(random_state=0).fit(x)
        measured.append(np.sort(1 - matched(s, model.transform(x)) ** 2).mean())
        expected.append((1 - model.reliability_**2).mean())
    assert 0.7 < np.mean(measured) / np.mean(expected) < 1.4


@pytest.mark.parametrize("kind", ["student", "shell", "ball"])
def test_a_spherical_law_has_no_reliable_component(kind):
    rng = np.random.default_rng(0)
    way = rng.normal(size=(3000, 4))
    if kind == "student":
        x = way / np.sqrt(rng.chisquare(5, (3000, 1)))
    else:
        radius = 1.0 if kind == "shell" else rng.uniform(size=(3000, 1)) ** 0.25
        x = radius * way / np.linalg.norm(way, axis=1, keepdims=True)
    model = FastICA(random_state=0, tol=1e-4).fit(x @ rng.normal(size=(4, 4)))
    assert not model.gaussian_.any() and model.reliability_.max() < 0.1


def test_a_false_optimum_is_less_reliable_than_what_is_right():
    rng = np.random.default_rng(2)
    s = 1.0 * (rng.uniform(size=(3000, 6)) < [0.05, 0.05, 0.05, 0.2, 0.2, 0.2])
    x = s @ rng.normal(size=(6, 6))
    model = FastICA(random_state=0).fit(x)
    right = np.abs(np.corrcoef(model.transform(x).T, s.T)[:6, 6:]).max(1) > 0.95
    assert 0 < right.sum() < 6
    assert model.reliability_[~right].max() < 0.8 < model.reliability_[right].min()


def test_reliability_is_at_most_the_stability_over_restarts():
    rng = np.random.default_rng(0)
    energy = np.exp(0.7 * rng.normal(size=(2000, 1)))
    x = energy * rng.laplace(size=(2000, 8)) @ rng.normal(size=(8, 8))
    model = FastICA(n_restarts=3, random_state=0, tol=1e-4).fit(x)
    assert (model.reliability_ <= model.stability_).all()


def test_stability_over_restarts():
    _, x = mixed(4000, "lll" + "n" * 9)
    model = FastICA(n_restarts=4, random_state=0).fit(x)
    assert model.stability_[:3].min() > 0.99 and model.stability_[3:].max() < 0.97
    assert FastICA(random_state=0).fit(x).stability_ is None


def test_rank_is_revealed_and_nothing_is_invented():
    s, x = mixed(10_000, "lul")
    wide = np.column_stack([x, x[:, 0], np.full(len(x), 7.0), 2 * x[:, 1] - x[:, 2]])
    model = FastICA(random_state=0).fit(wide)
    assert model.rank_ == 3 and model.components_.shape == (3, 6)
    assert matched(s, model.transform(wide)).min() > 0.999
    np.testing.assert_allclose(model.inverse_transform(model.transform(wide)), wide, atol=1e-8)
    with pytest.raises(ValueError, match="`n_components` must be at most the rank of X, which is 3"):
        FastICA(4).fit(wide)
    noisy = wide + 1e-2 * np.random.default_rng(0).normal(size=wide.shape)
    assert FastICA(rtol=1e-3, random_state=0).fit(noisy).rank_ == 3
    assert FastICA(random_state=0).fit(noisy).rank_ == 6


def test_fewer_components_than_directions():
    x = mixed(4000, "lulu")[1]
    model = FastICA(2, random_state=0).fit(x)
    z = model.transform(x)
    assert z.shape == (4000, 2) and model.rank_ == 4
    values = np.linalg.eigvalsh(np.cov(x.T))
    assert model.score(x) == pytest.approx(values[-2:].sum() / values.sum(), abs=1e-4)
    assert FastICA(random_state=0).fit(x).score(x) == pytest.approx(1)


@pytest.mark.parametrize("scale", ["unit", "mixing"])
def test_components_of_the_mixing_scale_say_how_much_they_carry(scale):
    _, x = mixed(4000, "lul")
    model = FastICA(scale=scale, random_state=0).fit(x)
    loadings = np.linalg.norm(FastICA(random_state=0).fit(x).mixing_, axis=0)
    np.testing.assert_allclose(model.transform(x).std(0), 1 if scale == "unit" else loadings, rtol=1e-5)
    np.testing.assert_allclose(model.mixing_ @ model.components_, EYE3, atol=1e-8)


def test_without_whitening_data_are_turned_and_nothing_else():
    s, _ = mixed(5000, "lul")
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    model = FastICA(whiten=False, random_state=0).fit(s @ turn + 5)
    np.testing.assert_allclose(model.components_ @ model.components_.T, EYE3, atol=1e-9)
    assert matched(s, model.transform(s @ turn + 5)).min() > 0.99
    assert model.whitening_ is None and model.reliability_ is None and model.gamma_ is None


@pytest.mark.parametrize("scale", [0.05, 10.0])
def test_without_whitening_a_scale_that_misleads_is_said(scale):
    s, _ = mixed(3000, "lul")
    turned = scale * s @ np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    # scikit-learn stops at its random start after one step, and says nothing
    silent = ScikitFastICA(whiten=False, random_state=0).fit(0.05 * turned / scale)
    assert silent.n_iter_ == 1
    with pytest.warns(UserWarning, match="mean variance"):
        FastICA(whiten=False, max_iter=500, tol=1e-3, random_state=0).fit(turned)


def test_one_answer_from_array_tensor_map_and_files(tmp_path):
    dask_array = pytest.importorskip("dask.array")
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    _, x = mixed(30_000, "llu")
    np.save(tmp_path / "x.npy", x)
    table = pyarrow.table({name: x[:, j] for j, name in enumerate("abc")})
    parquet.write_table(table, tmp_path / "x.parquet", row_group_size=7000)
    given = {
        "tensor": torch.from_numpy(x),
        "map": np.load(tmp_path / "x.npy", mmap_mode="r"),
        "npy": tmp_path / "x.npy",
        "parquet": str(tmp_path / "x.parquet"),
        "dask": dask_array.from_array(x, chunks=(4001, 2)),
    }
    settings = {"precision": "float64", "tol": 1e-9, "random_state": 0}
    reference = FastICA(**settings).fit(x)
    for name, data in given.items():
        model = FastICA(chunk_size=1234, **settings).fit(data)
        np.testing.assert_allclose(model.components_, reference.components_, atol=1e-8, err_msg=name)
        np.testing.assert_allclose(model.reliability_, reference.reliability_, atol=1e-6)
        assert model.n_samples_seen_ == 30_000
        z = model.transform(data)
        np.testing.assert_allclose(z.compute() if name == "dask" else z, reference.transform(x), atol=1e-6)
        assert list(getattr(model, "feature_names_in_", "none")) == list(
            "abc" if name == "parquet" else "none"
        )


def test_memory_is_bounded_by_the_block(tmp_path):
    n, d = 400_000, 10
    file = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float64, shape=(n, d))
    rng = np.random.default_rng(0)
    for i in range(0, n, 50_000):
        file[i : i + 50_000] = rng.laplace(size=(50_000, d))
    del file
    tracemalloc.start()
    FastICA(chunk_size=4096, tol=1e-4, random_state=0).fit(tmp_path / "x.npy")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6 < n * d * 8 / 4


def test_precision_of_the_data_far_from_zero_is_not_lost():
    s, x = mixed(5000, "llu")
    model = FastICA(random_state=0).fit(x + 1e6)
    assert matched(s, model.transform(x + 1e6)).min() > 0.999


def test_it_comes_back_from_its_file(tmp_path):
    _, x = mixed(2000, "luln")
    model = FastICA(n_restarts=2, w_init=np.eye(4), random_state=0).fit(x)
    again = unmix.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.transform(x), model.transform(x))
    for name in ("components_", "mixing_", "gaussian_", "reliability_", "stability_", "curvature_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.gamma_ == model.gamma_ and again.gradients_ == model.gradients_
    np.testing.assert_array_equal(again.fit(x).components_, model.components_)
    plain = unmix.load(FastICA(whiten=True, random_state=0).fit(x).save(tmp_path / "plain"))
    assert plain.stability_ is None


def test_autoencoder_then_ica_is_a_pipeline():
    s, _ = mixed(2000, "llu")
    x = s @ np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    linear = partial(mlp, hidden=())
    encoder = Autoencoder(3, encoder=linear, decoder=linear, max_iter=60, lr=2e-2, random_state=0)
    pipeline = make_pipeline(encoder, FastICA(random_state=0)).fit(x)
    z = pipeline.transform(x)
    assert matched(s, z).min() > 0.97 > matched(s, pipeline[0].transform(x)).min()
    left = pipeline.inverse_transform(z) - x
    assert np.square(left).mean() < 0.05 * x.var(0).mean()


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_components": 0},
        {"n_components": True},
        {"fun": "tanh"},
        {"algorithm": "deflation"},
        {"whiten": "pca"},
        {"scale": "none"},
        {"tol": 0.0},
        {"tol": float("nan")},
        {"rtol": 2},
        {"max_iter": 0},
        {"n_restarts": 1.5},
        {"chunk_size": 0},
        {"precision": "float16"},
        {"device": "tpu"},
        {"w_init": np.eye(2)},
        {"w_init": np.full((3, 3), np.nan)},
    ],
    ids=str,
)
def test_bad_settings_are_named(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}` must be"):
        FastICA(**wrong).fit(mixed(100, "lul")[1])
    with pytest.raises(ValueError, match="`algorithm` must be"):
        FastICA(whiten=False, algorithm="newton").fit(mixed(100, "lul")[1])


def test_bad_data_are_named(tmp_path):
    x = mixed(100, "lul")[1]
    with pytest.raises(ValueError, match="all of its columns are constant"):
        FastICA().fit(np.full((10, 3), 1 / 3))
    with pytest.raises(ValueError, match="NaN"):
        FastICA().fit(np.where(x > 1, np.nan, x))
    x[5, 1] = np.inf
    np.save(tmp_path / "inf.npy", x)
    with pytest.raises(ValueError, match=r"`X` must be finite, columns \[1\]"):
        FastICA().fit(tmp_path / "inf.npy")
    np.save(tmp_path / "one.npy", np.ones((1, 3)))
    np.save(tmp_path / "line.npy", np.ones(7))
    np.save(tmp_path / "text.npy", np.array([["a", "b"], ["c", "d"]]))
    (tmp_path / "broken.npy").write_bytes(b"\x93NUMPY")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    (tmp_path / "x.csv").write_text("1,2\n")
    for name in ("one.npy", "line.npy", "text.npy", "broken.npy", "broken.parquet", "x.csv", "none.npy"):
        with pytest.raises(ValueError, match=r"`X` must|broken\.(npy|parquet)` must"):
            FastICA().fit(tmp_path / name)
    model = FastICA(random_state=0).fit(mixed(100, "lul")[1])
    np.save(tmp_path / "two.npy", np.ones((5, 2)))
    with pytest.raises(ValueError, match="must have 3 features, got 2"):
        model.transform(tmp_path / "two.npy")
    with pytest.raises(ValueError, match="n_components=3"):
        model.inverse_transform(np.zeros((2, 2)))


def test_too_few_passes_are_said():
    with pytest.warns(Warning, match=r"of 3 components did not settle in max_iter=2"):
        model = FastICA(max_iter=2, random_state=0).fit(mixed(500, "lul")[1])
    assert not model.converged_.all() and model.n_iter_ == 2


def test_few_rows_of_many_columns_are_fitted_within_their_span(monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(300, 4)) @ rng.normal(size=(4, 350)) + 0.01 * rng.normal(size=(300, 350)) + 5.0
    whole = FastICA(4, random_state=0).fit(x)
    monkeypatch.setattr("unmix.estimators._fast_ica._WIDE", 100)
    span = FastICA(4, random_state=0).fit(x)
    signs = np.sign((span.components_ * whole.components_).sum(1))
    np.testing.assert_allclose(span.transform(x) * signs, whole.transform(x), atol=1e-4)
    np.testing.assert_allclose(span.loadings_ * signs, whole.loadings_, atol=1e-4)
    np.testing.assert_allclose(span.inverse_transform(span.transform(x)), x, atol=0.1)
    assert span.n_features_in_ == 350 and span.whitening_.shape == (4, 350)
    x[3, 7] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        FastICA(4).fit(x)


def test_a_file_is_read_twice_where_its_white_rows_are_few(tmp_path, monkeypatch):
    from unmix.rows import array_rows
    from unmix.solvers.ica import _white

    rng = np.random.default_rng(0)
    x = rng.laplace(size=(900, 3)) @ rng.normal(size=(3, 5))
    read = []

    def rows():
        held = array_rows(x, 100)
        return held._replace(take=lambda a, b: read.append(a) or held.take(a, b), resident=False)

    settings = {"random_state": 0, "device": "cpu"}
    kept = FastICA(3, **settings).fit(rows())
    assert read.count(800) == 2 and kept.n_iter_ > 2
    monkeypatch.setattr(_white, "HELD", 0)
    read.clear()
    again = FastICA(3, **settings).fit(rows())
    assert read.count(800) > again.n_iter_
    np.testing.assert_allclose(kept.components_, again.components_, atol=1e-4)
    np.testing.assert_allclose(kept.transform(rows()), kept.transform(x), atol=1e-6)


@pytest.mark.parametrize("restarts", [1, 3])
def test_a_fit_tells_how_far_it_is_only_when_asked(restarts):
    from unmix import _waiting

    x = np.random.default_rng(0).laplace(size=(500, 4))
    for verbose in (False, True):
        told = []
        token = _waiting._ENCLOSING.set(lambda share, words, told=told: told.append(share))
        try:
            model = FastICA(n_restarts=restarts, verbose=verbose, random_state=0).fit(x)
        finally:
            _waiting._ENCLOSING.reset(token)
        assert bool(told) == verbose
    assert told == sorted(told) and told[0] >= 0 and told[-1] <= 1 and len(told) >= model.n_iter_
