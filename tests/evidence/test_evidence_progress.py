"""A person who waits is told for what, and how long."""

import numpy as np
import pytest

from unmix import _waiting, evidence
from unmix.estimators import Autoencoder
from unmix.evidence import EFFORTS, Case, _progress
from unmix.evidence._progress import refits

X = np.random.default_rng(0).normal(size=(60, 4))


@pytest.fixture(scope="module")
def model():
    return Autoencoder(2, max_iter=60, random_state=0).fit(X)


@pytest.fixture
def shown(monkeypatch):
    """Collect what would be shown."""
    told = []
    display = lambda *about: _waiting.nobody(lambda *share: told.append(share))  # noqa: E731
    monkeypatch.setattr(_waiting, "_display", display)
    return told


def test_every_refit_is_a_part_that_moves_and_has_its_name(model, shown, monkeypatch):
    monkeypatch.setattr(_progress, "refits", lambda kind, effort: [1, 3])
    case = Case(model, X, effort="full", random_state=0)
    with _progress.shown(True, case):
        assert case.first is not model and case.second is not model and case.more is not model
    shares, words = zip(*shown, strict=True)
    assert list(shares) == sorted(shares) and shares[0] == 0 and shares[-1] == 1
    halves = ["fitting again on one half of the rows", "fitting again on the other half of the rows"]
    for k, (low, high) in enumerate([(0, 0.25), (0.25, 1)]):
        inside = [share for share, told in shown if told == halves[k]]
        assert min(inside) == low and max(inside) == high and len(set(inside)) > 2
    assert set(words) == {*halves, ""}  # the third refit was not foreseen, and is silent


@pytest.mark.parametrize("kind", sorted(evidence.ARGUMENTS_BY_KIND))
def test_more_effort_never_takes_fewer_refits(kind):
    counts = [len(refits(kind, effort)) for effort in EFFORTS]
    assert counts[0] == 0 and counts == sorted(counts) and (counts[2] > 0) == (kind != "none")


def test_nobody_is_told_where_nobody_looks(model, capsys):
    assert evidence.trust(model, X, effort="full").effort == "full" and capsys.readouterr() == ("", "")
