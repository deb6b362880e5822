from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.stats import norm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unmix
from unmix.data import multi_domain
from unmix.estimators import CGVAE, IVAE
from unmix.estimators._domain_estimator import needed_domains
from unmix.estimators._domain_labels import Domains
from unmix.metrics import mcc
from unmix.nn import gated_mlp, mlp
from unmix.objectives._domain_priors import KINDS
from unmix.penalties import dependency_sparsity, edge_count
from unmix.solvers.coordinates._linear import principal
from unmix.solvers.domains._hops import hops, still_bases
from unmix.solvers.domains._joint_diagonal import domain_covariances, joint_diagonaliser
from unmix.solvers.domains._starts import start_at_basis
from unmix.structure import Structure
from unmix.theory import certify_domains


@pytest.fixture(scope="module")
def linear_data():
    return multi_domain(6000, 3, 3, mixing="linear", changes="variances", profile="square", random_state=3)


@pytest.fixture(scope="module")
def small():
    return multi_domain(240, 3, n_domains=3, random_state=0)


def quick(**settings):
    return CGVAE(3, **{"max_iter": 2, "n_restarts": 1, "random_state": 0} | settings)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 5), n_domains=st.integers(2, 6))
def test_joint_diagonaliser_finds_the_sources_of_exact_covariances(seed, n, n_domains):
    rng = np.random.default_rng(seed)
    A, D = rng.normal(size=(n, n)) + 2 * np.eye(n), rng.uniform(0.2, 3, size=(n_domains, n))
    C = torch.from_numpy(np.stack([A @ np.diag(d) @ A.T for d in D]))
    B = joint_diagonaliser(C, torch.full((n_domains,), 1 / n_domains, dtype=torch.float64)).numpy()
    for c in C.numpy():
        d = B @ c @ B.T
        assert np.abs(d - np.diag(np.diag(d))).max() < 1e-5
    np.testing.assert_allclose(np.mean([np.diag(B @ c @ B.T) for c in C.numpy()], 0), 1, rtol=1e-8)


def test_two_domains_give_the_generalised_eigenvectors(linear_data):
    x, u = torch.from_numpy(linear_data.x.copy()), torch.from_numpy(linear_data.u.copy())
    C = domain_covariances(x, u)
    ours = joint_diagonaliser(C, torch.tensor([0.5, 0.5], dtype=torch.float64)).numpy()
    oracle = eigh(C[0].numpy(), (C[0] + C[1]).numpy())[1].T
    cosines = np.abs(
        (ours / np.linalg.norm(ours, axis=1)[:, None]) @ (oracle / np.linalg.norm(oracle, axis=1)[:, None]).T
    )
    np.testing.assert_allclose(cosines.max(1), 1, atol=1e-10)


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


def test_copies_in_other_coordinates_decode_alike():
    data = multi_domain(2000, 3, mixing="linear", random_state=0)
    x = torch.from_numpy((data.x - data.x.mean(0)) / data.x.std(0)).float()
    u = torch.from_numpy(data.u.copy())
    A = principal(x, 3)
    w = x @ torch.linalg.pinv(A).T
    model = CGVAE(3)
    model.domain_shares_ = np.array([0.5, 0.5])
    member = model._members(6)
    start_at_basis(
        member,
        torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(0)))[0],
        torch.eye(3),
        A,
    )
    found = hops(member, (w, x, u), 0.01, torch.Generator().manual_seed(0))
    sparsity = [model.penalty(m.decoder, m.encode(w, u)).item() for m in found]
    for copy in found[1:]:
        torch.testing.assert_close(copy.decoder(copy.encoder(w)), member.decoder(member.encoder(w)))
        torch.testing.assert_close(copy.encode(w, u).std(0), torch.ones(3), atol=1e-3, rtol=0)
    assert found[0] is member and max(sparsity[1:3]) < 0.9 * sparsity[0]
    assert sparsity[2] < sparsity[1] + 1e-3  # what sparsity costs more for is at least as sparse
    counted = [
        dependency_sparsity(m.decoder, m.encode(w[:100], u[:100]), form="log", knee=0.01).item()
        for m in found[3:]
    ]
    assert 4 <= len(found) <= 8 and counted == sorted(counted)  # pairs, the sparsest first


@given(seed=st.integers(0, 10_000), angle=st.floats(0.3, 1.2))
def test_a_missing_edge_undoes_a_rotation_of_nested_latents(seed, angle):
    """z2 has all children of z3 and two more; the direction in which these do not move is that of z3."""
    rng = np.random.default_rng(seed)
    A = rng.uniform(0.5, 1.5, (5, 3)) * np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 1, 1]])
    turn = np.eye(3)
    turn[1:, 1:] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    scales = [np.diag([1.0, 1.5, 0.4]), np.diag([1.0, 0.5, 1.6])]  # pooled: the identity
    covariances = torch.from_numpy(np.stack([turn @ c @ turn.T for c in scales]))
    J = torch.from_numpy(A @ turn.T)[None]
    half = torch.tensor([0.5, 0.5], dtype=torch.float64)
    bases = still_bases(J, covariances, half, covariances.mean(0)).numpy()
    sizes = [np.abs(B @ turn) for B in bases]  # the truth: one entry in each row and column
    assert (
        min(np.abs(np.sort(size, axis=1)[:, :2]).max() for size in sizes) < 0.06
    )  # angles are 3 degrees apart
    for B in bases:
        np.testing.assert_allclose(np.diag(B @ covariances.mean(0).numpy() @ B.T), 1)
        assert ((np.abs(J[0].numpy() @ np.linalg.inv(B)) < 1e-9) & (np.abs(J[0].numpy()) > 1e-3)).any()


def test_latents_with_children_of_their_own_have_no_other_directions():
    J = torch.tensor([[[1.0, 0.0], [0.7, 0.0], [0.0, 1.0]]], dtype=torch.float64)
    C = torch.eye(2, dtype=torch.float64)
    assert still_bases(J, C[None], torch.ones(1, dtype=torch.float64), C).shape == (0, 2, 2)


def test_one_gaussian_domain_cannot_tell_what_two_can():
    """x1 = z1 + z2, x2 = z2: with equal variances a rotation fits as well and is as sparse."""
    rng = np.random.default_rng(0)
    A = np.array([[1.0, 1.0], [0.0, 1.0]])
    rotated = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    one = [np.eye(2)]
    two = [np.eye(2), np.diag([4.0, 0.25])]

    def dependence(covariances, basis):
        return max(abs((basis @ c @ basis.T)[0, 1]) for c in covariances)

    assert dependence(one, rotated) == pytest.approx(0) and dependence(two, rotated) > 1
    mixing = A @ rotated.T
    assert (np.abs(mixing) > 1e-12).sum() == (A != 0).sum() == 3
    z = rng.normal(size=(4000, 2)) * np.where(np.arange(4000)[:, None] % 2, [2.0, 0.5], 1.0)
    model = CGVAE(2, max_iter=1, n_restarts=1, random_state=0).fit(z @ A.T, np.arange(4000) % 2)
    assert mcc(z, model.transform(z @ A.T)) > 0.99


@pytest.mark.parametrize("kind", list(KINDS))
def test_laws_of_codes_are_densities_with_exact_derivatives(kind):
    prior = KINDS[kind]([0.25, 0.75], 2).double()
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        for p in prior.parameters():
            p += 0.3 * torch.randn_like(p)
    grid = torch.linspace(-30, 30, 6001, dtype=torch.float64)
    for domain in (0, 1):
        u = torch.full((len(grid),), domain)
        e, log_slope = prior.standard(torch.stack([grid, grid], 1), u)
        secant = (e[2:] - e[:-2]) / (grid[2:] - grid[:-2])[:, None]
        inner = slice(2400, 3600)
        torch.testing.assert_close(secant[inner].log(), log_slope[1:-1][inner], atol=1e-2, rtol=0)
        density = (-0.5 * e**2 + log_slope).exp() / np.sqrt(2 * np.pi)
        torch.testing.assert_close(
            density.sum(0) * 0.01, torch.ones(2, dtype=torch.float64), atol=2e-3, rtol=0
        )


def test_the_gaussian_law_is_the_normal_one_at_the_moments_of_a_code():
    rng = np.random.default_rng(0)
    u = np.arange(4000) % 2
    z = (
        rng.normal(size=(4000, 2)) * np.array([[1.0, 0.5], [2.0, 0.5]])[u]
        + np.array([[1.0, 0.0], [-1.0, 0.0]])[u]
    )
    z = (z - z.mean(0)) / z.std(0)
    prior = KINDS["gaussian"]([0.5, 0.5], 2).double()
    prior.start(torch.from_numpy(z), torch.from_numpy(u))
    found = prior(torch.from_numpy(z), torch.from_numpy(u)).detach().numpy()
    means, spreads = (np.stack([f(z[u == k], axis=0) for k in (0, 1)]) for f in (np.mean, np.std))
    np.testing.assert_allclose(found, norm.logpdf(z, means[u], spreads[u]).sum(1), atol=0.02)


@pytest.mark.parametrize("kind", list(KINDS))
def test_shared_latents_have_one_law_in_all_domains(kind):
    prior = KINDS[kind]([0.5, 0.5], 3, n_shared=1)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        prior.start(torch.randn(100, 3) * 3 + 1, torch.arange(100) % 2)
        for name, p in prior.named_parameters():
            p += 0.3 * torch.randn_like(p) * (name not in ("mean", "log_scale"))
    z = torch.tensor([[0.3, -0.2, 1.5]])
    first, second = (prior.standard(z, torch.tensor([k]))[0][0] for k in (0, 1))
    torch.testing.assert_close(first[2], second[2])
    assert kind != "gaussian" or first[2].item() == pytest.approx(1.5)
    assert (first[:2] - second[:2]).abs().min() > 1e-3


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
        {"prior": "spline"},
        {"objective": "bound"},
        {"objective": "bound", "sees_domain": True},
        {"n_shared": 1},
        {"weight": 0.0},
        {"decoder": gated_mlp, "penalty": edge_count},
        {"penalty": partial(dependency_sparsity, step=0.01, form="group", normalize="std")},
        {"n_restarts": 3},
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
        (lambda u: u[:-1], "inconsistent numbers of samples"),
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
        ({"max_steps": 0}, "`max_steps` must be"),
        ({"weight": -1.0}, "`weight` must be"),
    ],
    ids=str,
)
def test_bad_settings_are_named(wrong, message, small):
    with pytest.raises(ValueError, match=message):
        quick(**wrong).fit(small.x, small.u)
