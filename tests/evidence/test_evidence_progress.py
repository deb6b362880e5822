"""A person who waits is told for what, and how long."""

from contextlib import contextmanager

import numpy as np
import pytest

from unmix import evidence
from unmix.estimators import Autoencoder
from unmix.evidence import Case, _progress

X = np.random.default_rng(0).normal(size=(60, 4))


@pytest.fixture(scope="module")
def model():
    return Autoencoder(2, max_iter=1, random_state=0).fit(X)


@pytest.mark.parametrize(("effort", "n_refits"), [("none", 0), ("quick", 1), ("full", 4)])
def test_every_refit_is_named_with_the_time_left(effort, n_refits, model, monkeypatch):
    shown = []

    @contextmanager
    def recorded(wanted, n_steps, _):
        assert (wanted, n_steps) == (n_refits > 0, n_refits)
        yield lambda done, words: shown.append((done, words))

    monkeypatch.setattr(_progress, "progress_bar", recorded)
    case = Case(model, X, effort=effort)
    with _progress.shown(True, case):
        for k in range(n_refits):
            case.tell(f"fit number {k}")
    assert [done for done, _ in shown] == [*range(n_refits), n_refits]
    assert all(words.startswith(f"fit number {k}, about ") for k, (_, words) in enumerate(shown[:-1]))
    assert all(words.endswith(" s left") for _, words in shown[:-1])


def test_nobody_is_told_where_nobody_looks(model, capsys):
    assert evidence.trust(model, X, effort="full").effort == "full" and capsys.readouterr() == ("", "")
