"""Gaussian data of the same covariance: what is left of evidence on them, and that no probability moves."""

from dataclasses import replace

import numpy as np
import pytest

import unmix
from unmix.cli import main
from unmix.data import multi_domain, sparse_mixing
from unmix.evidence import Case, argument_for
from unmix.evidence._surrogate import Linear, gaussian_like, surrogates

RNG = np.random.default_rng(0)
RESTING = (RNG.normal(size=(1500, 3)) * (RNG.random((1500, 3)) < 0.5)) @ RNG.normal(size=(3, 6))
KINDS = ("sparse", "mixture", "domains", "slots")


@pytest.fixture(scope="module")
def verdict():
    """Judge a basis of latents that rest, by all that can be asked."""
    return unmix.trust(unmix.SparseBasis(3, random_state=0).fit(RESTING), RESTING, effort="full")


@pytest.mark.parametrize("shape", [(400, 5), (30, 50)])
def test_mean_and_covariance_stay_and_nothing_else(shape):
    x = np.random.default_rng(1).exponential(size=shape) @ np.random.default_rng(2).normal(
        size=(shape[1],) * 2
    )
    many = np.array([gaussian_like(x, np.random.default_rng(seed)) for seed in range(400)])
    rows = many.reshape(-1, shape[1])
    scale = np.sqrt(np.outer(x.var(0), x.var(0)))
    assert np.abs(rows.mean(0) - x.mean(0)).max() < 0.05 * x.std(0).max()
    assert np.abs((np.cov(rows.T, bias=True) - np.cov(x.T, bias=True)) / scale).max() < 0.1


def test_other_units_and_copies_of_rows_change_nothing(verdict):
    model, scales = unmix.SparseBasis(3, random_state=0).fit(RESTING), np.array([1, 1e3, 1, 1e-3, 1, 10])
    np.testing.assert_allclose(
        gaussian_like(RESTING * scales, np.random.default_rng(0)) / scales,
        gaussian_like(RESTING, np.random.default_rng(0)),
        atol=1e-6,
    )
    twice = unmix.trust(model, np.concatenate([RESTING, RESTING]), effort="full")
    assert twice.surrogate == verdict.surrogate


def test_the_surrogate_does_not_rest_and_the_data_do(verdict):
    rests = verdict.evidence[0]
    assert rests.name == "rests while others vary" and rests.measured.min() > 10
    assert verdict.surrogate[rests.name] < 3 and verdict.surrogate["sharpness of rest"] < 2


def test_no_probability_depends_on_it(verdict):
    without = replace(verdict, against=dict)
    assert without.surrogate == {} and without.gaussian("sharpness of rest") == ""
    np.testing.assert_array_equal(verdict.probability, without.probability)
    assert set(verdict.surrogate) <= {each.name for each in verdict.evidence if each.checked}
    assert verdict.to_dict()["surrogate"] == verdict.surrogate and without.to_dict()["surrogate"] == {}


@pytest.mark.parametrize("effort", ["none", "quick"])
def test_no_search_is_made_before_effort_full(effort, monkeypatch):
    model = unmix.SparseBasis(3, random_state=0).fit(RESTING)
    found = unmix.trust(model, RESTING, effort=effort)
    monkeypatch.setattr(Linear, "fit", lambda *_: pytest.fail("a search"))
    told = found.surrogate
    assert "rests while others vary" not in told
    assert ("fit on rows not used" in told) == (effort == "quick")  # principal components tell that one


def test_a_basis_of_gaussian_data_turns_at_random(verdict):
    back = next(each for each in verdict.evidence if each.name == "comes back from one half")
    assert verdict.surrogate[back.name] == np.median(back.null) < back.measured.min()


def test_components_of_gaussian_data_are_told_by_theory():
    x = RNG.laplace(size=(800, 3)) @ RNG.normal(size=(3, 5)) + 0.1 * RNG.normal(size=(800, 5))
    found = unmix.trust(unmix.FastICA(3, random_state=0).fit(x), x, verbose=False)
    links = {each.name: each for each in found.evidence}
    assert found.surrogate["a rotation would show"] == 0 < links["a rotation would show"].measured.min()
    assert found.surrogate["comes back from one half"] == links["comes back from one half"].null[0]
    assert found.surrogate["free of noise"] == np.median(links["free of noise"].measured)


@pytest.mark.parametrize("kind", KINDS)
def test_a_linear_model_explains_what_principal_components_do(kind):
    x = RNG.normal(size=(500, 4)) @ RNG.normal(size=(4, 6)) * [1, 10, 0.1, 1, 1, 1]
    model = Linear(4, kind=kind, slots=((0, 2), (1, 3)), random_state=0).fit(x)
    np.testing.assert_allclose(model.inverse_transform(model.transform(x)), x, atol=1e-6 * x.std())
    assert model.jacobian(x[:3]).shape == (3, 6, 4)
    again = Linear(4, kind=kind, slots=((0, 2), (1, 3)), random_state=0).fit(x)
    np.testing.assert_array_equal(model.components_, again.components_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_labels_tell_nothing_of_the_surrogate():
    data = multi_domain(400, random_state=0)
    model = unmix.CGVAE(data.z.shape[1], max_iter=2, n_restarts=1, random_state=0).fit(data.x, data.u)
    found = unmix.trust(model, data.x, domains=data.u, effort="none")
    changes = found.evidence[0]
    assert changes.measured[0] > 5 * changes.null[0]
    assert found.surrogate["changes between domains"] < 3 * changes.null[0]
    assert abs(found.surrogate["bends that changes pin down"]) < 1e-6


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_sparse_optimum_of_a_covariance_is_found_again_so_that_agreement_rules_nothing_in():
    data = sparse_mixing(600, n_latents=3, random_state=0)
    model = unmix.DiverseDictionaryLearning(3, max_iter=2, n_restarts=1, random_state=0).fit(data.x)
    case = Case(model, data.x, effort="full", random_state=0)
    links = tuple(argument_for(model).links(case))
    found = surrogates(case, argument_for(model), links)
    assert found["comes back from one half"] > 0.95
    assert {each.name for each in links} == set(found)
    assert 0 < found["number of latents"] <= 1 and 0.5 < found["fit on rows not used"] <= 1


def test_the_command_and_the_page_show_it(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", RESTING)
    unmix.SparseBasis(3, random_state=0).fit(RESTING).save("model")
    for out in ("verdict.html", "verdict.json"):
        with pytest.raises(SystemExit):
            main(["trust", "model", "x.npy", "--effort", "full", "--out", out])
    assert "; Gaussian " in capsys.readouterr().out
    page = (tmp_path / "verdict.html").read_text()
    assert (
        '<th scope="col">Gaussian data</th>' in page
        and '"surrogate"' in (tmp_path / "verdict.json").read_text()
    )
