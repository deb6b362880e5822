"""What `trust` promises for every estimator, at every effort."""

import json
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

import unmix
from families import ESTIMATORS, GENERATORS, TRANSFORMERS, label, quick
from unmix.evidence import ARGUMENTS, EFFORTS, Case

GROUPS = np.arange(150) % 3  # domains, for the estimators that need them
SLOTS = unmix.SlotAutoencoder(4, slots=2, n_restarts=1, random_state=0)  # units of several latents
SOLVERS = [pytest.param(member, marks=pytest.mark.slow) for member in TRANSFORMERS[2:]]
every = pytest.mark.parametrize("member", (*ESTIMATORS, SLOTS, *TRANSFORMERS[:2], *SOLVERS), ids=label)
# what an estimator has to say about fits this short is right, and no concern of these tests
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def x():
    return GENERATORS[0](150, random_state=0).x


@pytest.fixture(scope="module")
def fitted(x):
    """Fit a member once, when it is asked for."""

    @cache
    def fit(member):
        model = clone(member) if member in TRANSFORMERS else quick(member).set_params(max_iter=2)
        return model.fit(x, GROUPS)

    return fit


@pytest.fixture(scope="module")
def judged(fitted, x):
    """Judge a member once at each effort; at effort none a refit is an error."""

    @cache
    def judge(member, effort):
        model = fitted(member)
        known = {"domains": GROUPS} if getattr(model, "needs_domains", False) else {}
        with pytest.MonkeyPatch.context() as patch:
            if effort == "none":
                patch.setattr(Case, "refit", lambda *_, **__: pytest.fail("no refit at effort none"))
            return unmix.trust(model, x, effort=effort, **known)

    return judge


@pytest.mark.parametrize("effort", EFFORTS)
@every
def test_every_estimator_gets_a_verdict(member, effort, fitted, judged, x):
    model, found = fitted(member), judged(member, effort)
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


@pytest.mark.parametrize("member", [m for m in ESTIMATORS if label(m) not in ARGUMENTS], ids=label)
def test_without_an_argument_no_effort_earns_trust(member, judged):
    assert {"Autoencoder", "BetaVAE"}.isdisjoint(ARGUMENTS)
    assert {verdict for effort in EFFORTS for verdict in judged(member, effort).verdicts} == {"no"}


@every
def test_more_effort_adds_items_and_changes_none(member, judged):
    for less, more in pairwise(EFFORTS):
        before, after = judged(member, less).strengths, judged(member, more).strengths
        assert before.keys() == after.keys()
        for name, strength in before.items():
            np.testing.assert_array_equal(np.where(np.isnan(strength), after[name], strength), after[name])


def test_the_seed_is_that_of_the_model_unless_one_is_given(fitted, x):
    model = fitted(ESTIMATORS[2])
    numbers = [unmix.trust(model, x, random_state=seed).strengths for seed in (None, model.random_state, 3)]
    first, same, other = [np.concatenate(list(each.values())) for each in numbers]
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)
