"""What a model with one latent fewer explains: said at effort full beside the fit, and moving no verdict."""

import re

import numpy as np
import pytest

import unmix
from unmix.evidence import Case
from unmix.evidence._common import explained

RNG = np.random.default_rng(0)
X = (RNG.laplace(size=(400, 3)) * (RNG.random((400, 3)) < 0.6)) @ RNG.normal(size=(3, 6))
X += 0.01 * RNG.normal(size=X.shape)
LABELS = np.arange(400) % 3
SHORT = {"max_iter": 2, "random_state": 0}
MODELS = {
    "SparseBasis": (unmix.SparseBasis(3, random_state=0), None),
    "FastICA": (unmix.FastICA(3, random_state=0), None),
    "DiverseDictionaryLearning": (unmix.DiverseDictionaryLearning(3, n_restarts=1, **SHORT), None),
    "PDGMM": (unmix.PDGMM(3, n_restarts=1, **SHORT), None),
    "CGVAE": (unmix.CGVAE(3, n_restarts=1, **SHORT), LABELS),
}


def said(model, x, labels, effort):
    found = unmix.trust(model, x, domains=labels, effort=effort, verbose=False)
    return [each.words[0] for each in found.evidence if "fewer" in each.words[0]]


@pytest.mark.parametrize("name", MODELS)
def test_every_argument_says_at_full_effort_what_one_latent_fewer_explains(name):
    model, labels = MODELS[name]
    model = model.fit(X) if labels is None else model.fit(X, labels)
    assert len(said(model, X, labels, "full")) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("n", "much"), [(3, True), (4, False)])
def test_a_latent_too_many_is_missed_by_nobody(n, much):
    """Where x has three latents, a third one fewer is missed, and a fourth one is not."""
    (words,) = said(unmix.SparseBasis(n, random_state=0).fit(X), X, None, "full")
    own, fewer = map(float, re.findall(r"([\d.]+)%", words))
    assert (own - fewer > 5) == much and own > 99


def test_a_basis_with_one_latent_fewer_has_the_span_of_principal_components():
    case = Case(unmix.SparseBasis(3, random_state=0).fit(X), X, effort="full", random_state=0)
    rows, held = case.halves
    basis = unmix.SparseBasis(2, random_state=0).fit(X[rows])
    np.testing.assert_allclose(explained(case.fewer, X[held]), explained(basis, X[held]), atol=1e-9)


def test_less_effort_makes_no_such_refit():
    assert not said(unmix.SparseBasis(3, random_state=0).fit(X), X, None, "quick")
