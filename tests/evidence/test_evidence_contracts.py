"""What `trust` promises for every estimator, at every effort."""

import json

import numpy as np
import pytest
from sklearn.base import clone

import unmix
from families import ESTIMATORS, GENERATORS, TRANSFORMERS, label, quick
from unmix.evidence import ARGUMENTS, EFFORTS, Case

GROUPS = np.arange(150) % 3  # domains, for the estimators that need them
EVERY = (*ESTIMATORS, *TRANSFORMERS)
NETWORKS = {"max_iter": 2}
# what an estimator has to say about fits this short is right, and no concern of these tests
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def x():
    return GENERATORS[0](150, random_state=0).x


@pytest.fixture(scope="module")
def fitted(x):
    """Fit each member once, when it is first asked for; return it with what `trust` needs beside."""
    models = {}

    def fit(member):
        if id(member) not in models:
            model = quick(member).set_params(**NETWORKS) if member in ESTIMATORS else clone(member)
            known = {"domains": GROUPS} if getattr(model, "needs_domains", False) else {}
            models[id(member)] = model.fit(x, *known.values()), known
        return models[id(member)]

    return fit


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("member", EVERY, ids=label)
def test_every_estimator_gets_a_verdict(member, effort, fitted, x, monkeypatch):
    model, known = fitted(member)
    if effort == "none":
        monkeypatch.setattr(Case, "refit", lambda *_, **__: pytest.fail("no refit at effort none"))
    found = unmix.trust(model, x, effort=effort, **known)
    n = len(found.units)
    assert sorted(j for unit in found.units for j in unit) == list(range(model.transform(x).shape[1]))
    assert found.probability.shape == (n,) and ((found.probability >= 0) & (found.probability <= 1)).all()
    assert [len(found.trusted), len(found.verdicts), len(found.reasons)] == [n] * 3
    np.testing.assert_array_equal(found.trusted, found.probability >= found.threshold)
    assert [verdict == "yes" for verdict in found.verdicts] == found.trusted.tolist()
    assert all(len(item.strength) == len(item.words) == n for item in found.evidence)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["probability"] == found.probability.tolist() and document["effort"] == effort
    assert found.headline in str(found) and bool(found) == found.trusted.all()
    if type(model).__name__ not in ARGUMENTS:
        assert set(found.verdicts) == {"no"} and found.probability.max() < 0.01


def test_a_seed_of_its_own_and_that_of_the_model_agree(fitted, x):
    model, _ = fitted(ESTIMATORS[2])
    numbers = [unmix.trust(model, x, random_state=seed).strengths for seed in (None, model.random_state, 3)]
    first, same, other = [np.concatenate(list(each.values())) for each in numbers]
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)
