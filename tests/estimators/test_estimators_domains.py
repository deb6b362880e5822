from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unmix
from unmix.data import multi_domain
from unmix.estimators import CGVAE, IVAE
from unmix.estimators._domain_estimator import needed_domains
from unmix.estimators._domain_labels import Domains
from unmix.metrics import mcc
from unmix.nn import gated_mlp, mlp
from unmix.penalties import dependency_sparsity, edge_count
from unmix.structure import Structure
from unmix.theory import certify_domains
from unmix.training import Pace


@pytest.fixture(scope="module")
def linear_data():
    return multi_domain(6000, 3, 3, mixing="linear", changes="variances", profile="square", random_state=3)


@pytest.fixture(scope="module")
def small():
    return multi_domain(240, 3, n_domains=3, random_state=0)


def quick(**settings):
    return CGVAE(3, **{"max_iter": 2, "n_restarts": 1, "random_state": 0} | settings)


def test_linear_networks_stay_at_the_generalised_eigenproblem(linear_data):
    """The eigenvectors maximise the Gaussian likelihood, so that training has nowhere to go."""
    x, u = linear_data.x, linear_data.u
    C = [np.cov(x[u == k].T) for k in (0, 1)]
    oracle = x @ eigh(C[0], C[0] + C[1])[1]
    settings = {
        "max_iter": 40,
        "batch_size": 6000,
        "lr": 1e-3,
        "n_restarts": 1,
        "weight": 0.0,
        "random_state": 0,
    }
    line = {"encoder": straight, "decoder": straight}
    model = CGVAE(3, **settings, **line).fit(x, domains=u)
    z = model.transform(x)
    correlations = np.abs(np.corrcoef(z.T, oracle.T)[:3, 3:])
    assert (correlations.max(1) > 0.99999).all()
    assert (
        mcc(linear_data.z, z, within=u) == pytest.approx(mcc(linear_data.z, oracle, within=u), abs=2e-3)
        and model.score(x) > 0.9999
    )


def straight(n_in, n_out):
    from unmix.nn import residual_mlp

    net = residual_mlp(n_in, n_out, hidden=(1,))
    for p in net.residual.parameters():
        torch.nn.init.zeros_(p)
    return net


def test_changes_and_sparse_mixing_recover_what_changes_alone_do_not(small):
    data = multi_domain(3000, 4, 4, profile="square", nonlinearity=0.2, random_state=1)
    model = CGVAE(4, max_iter=6, n_restarts=2, random_state=0).fit(data.x, domains=data.u)
    z = model.transform(data.x)
    assert mcc(data.z, z, within=data.u) > 0.95 > 0.85 > mcc(data.z, data.x, within=data.u)
    assert model.score(data.x) > 0.99


def _short(value):
    return "group" if isinstance(value, partial) else getattr(value, "__name__", value)


@pytest.mark.parametrize(
    "settings",
    [
        {"prior": "sigmoidal"},
        {"prior": "correlated", "n_restarts": 3},
        {"prior": "spline"},
        {"objective": "bound"},
        {"objective": "bound", "sees_domain": True},
        {"n_shared": 1},
        {"weight": 0.0},
        {"decoder": gated_mlp, "penalty": edge_count},
        {"penalty": partial(dependency_sparsity, step=0.01, form="group", normalize="std")},
        {"n_restarts": 3},
        {"reads": "all"},
        {"reads": "all", "n_restarts": 3},
        {"encoder": mlp, "decoder": mlp},
    ],
    ids=lambda settings: ", ".join(f"{k}={_short(v)}" for k, v in settings.items()),
)
def test_every_option_trains_is_stored_and_comes_back(settings, small, tmp_path):
    names = np.array(["mouse", "rat", "ant"])[small.u]
    model = quick(**settings).fit(small.x, domains=names)
    assert model.domains_.tolist() == ["ant", "mouse", "rat"] and model.n_domains_ == 3
    assert np.isfinite(model.history_.objective).all() and model.domain_means_.shape == (3, 3)
    again = unmix.load(model.save(tmp_path / "model"))
    z = model.transform(small.x, domains=names)
    np.testing.assert_array_equal(again.transform(small.x, domains=names), z)
    assert again.domains_.tolist() == model.domains_.tolist()
    for k, name in enumerate(model.domains_):
        np.testing.assert_allclose(z[names == name].mean(0), model.domain_means_[k], atol=1e-6)
    assert certify_domains(model.structure_, model.n_domains_).n_domains == 3


def test_an_encoder_that_does_not_see_domains_needs_none(small):
    model = quick().fit(small.x, small.u)
    np.testing.assert_array_equal(model.transform(small.x), model.transform(small.x, domains=small.u + 7))


def test_an_unseen_domain_gets_the_likeliest_one(small):
    model = IVAE(3, max_iter=2, random_state=0).fit(small.x, small.u)
    without = model.transform(small.x)
    np.testing.assert_array_equal(model.transform(small.x, domains=small.u + 10), without)
    given_all = np.stack([model.transform(small.x, domains=np.full(240, k)) for k in range(3)])
    log_p = model.encoder_.prior
    score = np.stack(
        [
            np.log(1 / 3) + log_p(torch.from_numpy(given_all[k]), torch.full((240,), k)).numpy()
            for k in range(3)
        ]
    )
    np.testing.assert_allclose(without, given_all[score.argmax(0), np.arange(240)])
    assert not np.allclose(model.transform(small.x, domains=small.u), without)
    with pytest.raises(ValueError, match="one label per sample"):
        model.transform(small.x, domains=small.u[:5])


@given(
    edges=st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=5),
    n_domains=st.integers(2, 10),
)
def test_the_planner_of_a_model_is_that_of_the_theory(edges, n_domains):
    structure = Structure(np.vstack([np.array(edges), [True] * 4]))
    plan = certify_domains(structure, n_domains)
    needed = needed_domains(structure)
    assert needed.tolist() == [latent.needed for latent in plan.plan]
    assert (needed <= n_domains).tolist() == [level == "component" for level in plan.levels]


def test_a_fitted_model_says_which_latents_are_guaranteed(small):
    model = quick().fit(small.x, small.u)
    for support, guaranteed in (
        ([[1, 0, 1], [0, 1, 1]], [True, True, True]),
        ([[1, 1, 0], [1, 1, 1]], [False, False, True]),  # twins need five domains
        ([[1, 0, 0], [1, 1, 0]], [True, True, False]),  # nothing can be said of a latent without children
    ):
        model.structure_ = Structure(support)
        assert model.guaranteed_.tolist() == guaranteed and model.n_domains_ == 3


def test_a_fitted_model_says_which_latents_change_alike(small):
    model = quick().fit(small.x, small.u)
    model.domain_scales_ = np.array([[1.0, 2.0, 1.0], [0.5, 1.0, 1.0], [2.0, 4.0, 1.0]])  # the first two do
    alone = np.log([1.0, 0.5, 2.0]).std()
    expected = [[0, 0, alone], [0, 0, alone], [alone, alone, 0]]
    np.testing.assert_allclose(model.separation_, expected, atol=1e-12)


@pytest.mark.parametrize(("limits", "passes"), [((7, 1000), 7), ((100, 6), 3), ((100, 7), 4), ((5, 1), 1)])
def test_training_ends_with_the_passes_or_the_updates(limits, passes, small):
    max_iter, max_steps = limits
    model = IVAE(3, batch_size=120, max_iter=max_iter, max_steps=max_steps, random_state=0)
    assert model.fit(small.x, small.u).n_iter_ == passes
    assert len(model.history_.objective) == 2 * passes  # two batches each


def test_the_order_of_samples_does_not_hide_a_domain(small):
    order = np.argsort(small.u, kind="stable")
    model = quick().fit(small.x[order], small.u[order])
    assert np.isfinite(model.restarts_).any() and model.structure_.shape == (6, 3)
    np.testing.assert_allclose(model.domain_shares_, 1 / 3)


def test_domains_travel_through_a_pipeline_by_metadata_routing(small):
    direct = quick().fit(StandardScaler().fit_transform(small.x), small.u)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), quick().set_fit_request(domains=True))
        pipeline.fit(small.x, domains=small.u)
        np.testing.assert_array_equal(pipeline[-1].domains_, [0, 1, 2])
        np.testing.assert_allclose(pipeline[-1].encoder_[0].weight, direct.encoder_[0].weight)


def test_domains_go_before_y_and_tensors_will_do(small):
    model = quick().fit(small.x, np.zeros(240), domains=torch.from_numpy(small.u.copy()))
    assert model.domains_.tolist() == [0, 1, 2]


def test_a_quantity_is_cut_into_intervals_of_equal_counts():
    known, u = Domains.read(np.random.default_rng(0).normal(size=1000), 1000, least=4)
    assert np.bincount(u).tolist() == [100] * 10
    assert known.number([-100.0, 100.0]).tolist() == [0, 9]


@pytest.mark.parametrize("estimator", [CGVAE(3), IVAE(3)], ids=["CGVAE", "IVAE"])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (lambda u: None, "`domains` must be one label per sample, got None"),
        (lambda u: np.zeros(len(u)), "at least 2 different domains"),
        (lambda u: np.where(np.arange(len(u)) == 3, 9, u), "at least 4 samples each, got 1 of domain 9"),
        (lambda u: np.where(np.arange(len(u)) == 3, np.nan, u), "no missing values.*row 3"),
        (lambda u: [None if i == 5 else "a" for i in range(len(u))], "no missing values.*row 5"),
        (lambda u: [np.nan if i == 5 else "ab"[i % 2] for i in range(len(u))], "no missing values.*row 5"),
        (lambda u: [pd.NA if i == 5 else "ab"[i % 2] for i in range(len(u))], "no missing values.*row 5"),
        (lambda u: pd.Series(u).astype("Int64").where(u > 0), "no missing values.*row 0"),
        (lambda u: np.where(np.arange(len(u)) == 3, np.inf, u), "must be finite"),
        (lambda u: u[:-1], "one label for each of"),
    ],
    ids=[
        "none",
        "one domain",
        "too few",
        "nan",
        "missing text",
        "nan in text",
        "NA",
        "series",
        "inf",
        "too short",
    ],
)
def test_labels_that_tell_nothing_are_refused(estimator, labels, message, small):
    with pytest.raises(ValueError, match=message):
        sklearn.base.clone(estimator).fit(small.x, domains=labels(small.u))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"prior": "cauchy"}, "`prior` must be one of"),
        ({"objective": "elbo"}, "`objective` must be one of"),
        ({"n_shared": 3}, "`n_shared` must be an integer from 0"),
        ({"sees_domain": True}, "`sees_domain` must be False"),
        ({"reads": "some"}, "`reads` must be one of"),
        ({"effort": "thorough"}, "`effort` must be one of"),
        ({"max_steps": 0}, "`max_steps` must be"),
        ({"weight": -1.0}, "`weight` must be"),
    ],
    ids=str,
)
def test_bad_settings_are_named(wrong, message, small):
    with pytest.raises(ValueError, match=message):
        quick(**wrong).fit(small.x, small.u)


def test_an_encoder_may_read_all_variables(small):
    every, few, usual = (quick(reads=reads).fit(small.x, small.u) for reads in ("all", "components", "auto"))
    assert every.reads_all_ and not few.reads_all_ and not usual.reads_all_
    assert every.encoder_.linear.in_features == small.x.shape[1]
    np.testing.assert_array_equal(usual.transform(small.x), few.transform(small.x))


def test_all_variables_are_read_where_components_leave_much_of_many_rows():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(2400, 2))
    x = np.column_stack([z, np.sin(2 * z), z.sum(1)])
    shared = {"max_steps": 12, "n_restarts": 1, "random_state": 0}
    u = np.arange(2400) % 3
    assert CGVAE(2, **shared).fit(x, u).reads_all_
    assert not CGVAE(2, **shared | {"max_iter": 99}).fit(x, u).reads_all_
    assert not CGVAE(2, **shared).fit(x[:2000], u[:2000]).reads_all_


def test_gentle_bends_and_noise_are_read_by_components():
    gentle = multi_domain(4000, 4, 8, graph="D", n_domains=4, random_state=3)
    x = torch.as_tensor((gentle.x - gentle.x.mean(0)) / gentle.x.std(0))
    noise = torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
    assert not _paced(x).reads_all_ and not _paced(noise).reads_all_


def _paced(x, **settings):
    """Return a model that has decided what its encoder sees, and how its matrices move (`pace`)."""
    model = CGVAE(**{"n_components": 4} | settings)
    model.pace = model._paced(x, Pace(100, 200, 0.002, 0))
    return model


@pytest.mark.parametrize(
    ("rows", "settings", "rate"),
    [
        (2001, {}, 0.02),
        (2000, {}, None),
        (2001, {"max_iter": 99}, None),
        (2001, {"n_components": 8}, None),  # as many as variables
        (2000, {"reads": "all"}, 0.02),
        (2001, {"effort": "plain"}, None),
        (2001, {"effort": "plain", "reads": "all"}, None),
        (2001, {"objective": "bound"}, None),
        (2001, {"decoder": gated_mlp}, None),
    ],
)
def test_matrices_of_long_fits_to_many_rows_move_by_orthogonal_steps(rows, settings, rate):
    x = torch.randn(rows, 8, generator=torch.Generator().manual_seed(0))
    assert _paced(x, **settings).pace.matrix_lr == rate


@pytest.mark.parametrize(
    ("rows", "n_domains", "settings", "asked"),
    [
        (2001, 5, {}, True),
        (2000, 5, {}, False),
        (2000, 5, {"reads": "all"}, False),
        (2001, 3, {}, False),  # any covariance matrices have such latents
        (2001, 4, {}, False),
        (2001, 5, {"max_iter": 99}, False),
        (2001, 5, {"prior": "gaussian"}, False),
        (2001, 5, {"prior": "correlated"}, False),
        (2001, 5, {"n_shared": 1}, False),
        (2001, 5, {"effort": "plain"}, False),
        (2001, 5, {"weight": lambda step: 0.1}, False),
        (2001, 5, {"decoder": gated_mlp}, False),
    ],
)
def test_it_is_asked_whether_latents_depend_where_that_can_be_told(rows, n_domains, settings, asked):
    x = torch.randn(rows, 8, generator=torch.Generator().manual_seed(0))
    model = _paced(x, **settings)
    model.domain_shares_ = np.full(n_domains, 1 / n_domains)
    assert model._may_depend(model._members(8), x, model.pace) == asked


@pytest.fixture(scope="module")
def dependent():
    """Two latents with a correlation of .7 in each of five domains, behind four linear variables."""
    rng = np.random.default_rng(0)
    u, z = np.arange(3000) % 5, rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], size=3000)
    z = z * np.exp(rng.uniform(-1, 1, size=(5, 2)))[u]
    x = z @ np.array([[1.0, 0.8, 0.0, 0.6], [0.0, -0.7, 1.0, 0.5]])
    return x + 0.02 * rng.normal(size=x.shape), z, u


def test_latents_that_depend_within_domains_are_found_and_said_to(dependent, tmp_path):
    x, z, u = dependent
    short = {"max_steps": 200, "n_restarts": 2, "random_state": 0}
    model, gaussian = CGVAE(2, **short).fit(x, u), CGVAE(2, prior="gaussian", **short).fit(x, u)
    assert model.correlated_ and not gaussian.correlated_
    found, before = (mcc(z, fit.transform(x), within=u) for fit in (model, gaussian))
    assert found > 0.99 and found > before + 0.02
    assert min(model.restarts_) < min(gaussian.restarts_)
    assert model.history_.n_steps > gaussian.history_.n_steps
    np.testing.assert_array_equal(unmix.load(model.save(tmp_path / "model")).transform(x), model.transform(x))


def test_latents_whose_children_lie_in_another_s_are_not_said_to_depend(dependent):
    """Only independence tells such latents apart: correlated ones fit as well."""
    _, z, u = dependent
    nested = z @ np.array([[1.0, 0.8, 0.6, 0.7], [0.0, -0.7, 1.0, 0.5]])
    short = {"max_steps": 100, "n_restarts": 2, "random_state": 0}
    x = nested + 0.02 * np.random.default_rng(1).normal(size=nested.shape)
    model, gaussian = CGVAE(2, **short).fit(x, u), CGVAE(2, prior="gaussian", **short).fit(x, u)
    assert not model.correlated_
    np.testing.assert_array_equal(model.transform(x), gaussian.transform(x))


def test_independent_latents_keep_the_bits_of_their_fit(dependent):
    _, _, u = dependent
    mixed = np.random.default_rng(1).normal(size=(3000, 2)) * np.exp(np.arange(5) / 4)[u][:, None] ** [1, -1]
    short = {"max_steps": 60, "n_restarts": 2, "random_state": 0}
    y = mixed @ np.array([[1.0, 0.8, 0.0, 0.6], [0.0, -0.7, 1.0, 0.5]])
    model, gaussian = CGVAE(2, **short).fit(y, u), CGVAE(2, prior="gaussian", **short).fit(y, u)
    assert not model.correlated_
    np.testing.assert_array_equal(model.transform(y), gaussian.transform(y))


def test_a_plain_effort_reads_components_and_few_rows_are_fitted_as_by_it(small):
    z = torch.randn(3000, 2, generator=torch.Generator().manual_seed(0))
    bent = torch.cat([z, (2 * z).sin(), z.sum(1, keepdim=True)], 1)
    two = {"n_components": 2}
    assert _paced(bent, **two).reads_all_ and not _paced(bent, effort="plain", **two).reads_all_
    codes = [quick(effort=effort).fit(small.x, small.u).transform(small.x) for effort in ("usual", "plain")]
    np.testing.assert_array_equal(*codes)
