"""The report on latents that rest in some components of a mixture, and on their causal graph."""

from types import SimpleNamespace

import numpy as np
import pytest

from models import verdict
from unmix import report
from unmix._findings import findings_of
from unmix.data import degenerate_mixture
from unmix.metrics import cpdag, shd
from unmix.report._data import Data
from unmix.report._graph import graph_words
from unmix.report._mixture import MAX_CERTIFIED, mixture_answer, mixture_certificate, mixture_words
from unmix.structure import dense
from unmix.theory import certify_components, certify_mixture

AXES = np.stack([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])])


class Fitted:
    """A fitted mixture whose codes are the data."""

    def __init__(self, weights, means, covariances, masks, flags=()):
        self.weights_, self.means_, self.covariances_, self.masks_ = map(
            np.asarray, (weights, means, covariances, masks)
        )
        self.structure_, self.flags_ = dense(*[self.masks_.shape[1]] * 2), flags

    def transform(self, x):
        return np.array(x, dtype=float)

    inverse_transform = transform

    def activity(self, x):
        return np.asarray(x) != 0


def two_axes(means=((1.0, 0.0), (0.0, 2.0)), **more):
    return Fitted([0.5, 0.5], means, AXES, np.eye(2, dtype=bool), **more)


def samples(n=400, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=n)
    z = rng.normal([1.0, 2.0], size=(n, 2)) * np.eye(2)[labels]
    turn = np.array([[1.0, 1.0], [1.0, -1.0]])
    return SimpleNamespace(
        x=z,
        z=z,
        structure=None,
        description="",
        labels=labels,
        masks=np.eye(2),
        graph=np.array([[0, 1], [0, 0]]),
    ), turn


def page(tmp_path, **parts):
    return report.write(tmp_path / "r.html", **parts).read_text(encoding="utf-8")


def test_a_clear_mixture_is_told_as_one(tmp_path):
    data, _ = samples()
    html = page(tmp_path, model=two_axes(), data=data.x, trust=verdict(1, 1, kind="mixture"))
    assert 'class="verdict good"' in html and "All 2 latents are trusted" in html
    assert "If these components are right, the latents would be identified." in html
    assert certify_components(two_axes()).identifies in html
    assert "The latents fall into 2 components" in html and "On average 1.0 of 2 are active" in html
    assert html.count("pdGMM Assumption") >= 4 and 'aria-label="Patterns of active latents"' in html
    assert 'aria-label="Components by rank"' in html and 'aria-label="Causal graph"' not in html
    assert "Which observed variable depends on which latent" not in html  # a dense mixing is no news


def test_equal_axes_are_told_with_what_fails(tmp_path):
    html = page(tmp_path, model=two_axes(means=((0.0, 0.0), (0.0, 0.0)), flags=("Beware of axes.",)))
    assert 'class="verdict care"' in html and "no theorem would identify the latents" in html
    assert "Not checked" in html and "No data were given" in html
    assert "Beware of axes." in html and "parts of them may be swapped" in html


def test_the_truth_marks_patterns_and_latents(tmp_path):
    data, turn = samples()
    html = page(tmp_path, model=two_axes(), data=data)
    assert "with an F1 of 1.000" in html and "would score 0.667" in html
    spoiled = two_axes()
    spoiled.transform = lambda x: np.asarray(x) @ turn
    assert "this fit did not recover the latents" in page(tmp_path, model=spoiled, data=data)


def test_latents_that_never_vary_are_named(tmp_path):
    model = Fitted([1.0], [[0.0, 0.0]], AXES[:1], [[True, False]])
    html = page(tmp_path, model=model, data=samples()[0].x)
    assert "None of 2 latents are trusted" in html and "If these components are right" not in html


def test_many_components_are_judged_by_their_index_sets():
    data = degenerate_mixture(10, n_latents=10, random_state=0)
    n = len(data.masks)
    covariances = np.stack([np.diag(mask.astype(float)) for mask in data.masks])
    model = Fitted(np.full(n, 1 / n), np.zeros(data.masks.shape), covariances, data.masks)
    found = mixture_certificate(findings_of(model))
    assert n > MAX_CERTIFIED and found and not any("3.4" in part.theorem for part in found.certificates)
    known = {"model": model, "findings": findings_of(model), "data": Data()}
    material = SimpleNamespace(**known, fitted=SimpleNamespace(explained=None), mixture=found, mcc=None)
    assert "only their index sets were judged" in mixture_words(material)["note"]
    answer = mixture_answer(found)
    assert answer.tone == "open" and "right and in general position, the latents would" in answer.headline


def test_a_certificate_that_was_given_is_shown(tmp_path):
    given = certify_mixture([0.5, 0.5], [[1, 0], [0, 2]], AXES)
    html = page(tmp_path, model=two_axes(means=((0.0, 0.0), (0.0, 0.0))), certificate=given)
    assert "If these components are right, the latents would be identified." in html
    assert "If these components are right, the latents would be identified" in page(
        tmp_path, certificate=given
    )


def test_the_graph_is_drawn_and_compared_after_matching(tmp_path):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(600, 3))
    z[:, 2] += z[:, 0] + z[:, 1]
    true = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    data = Data(z=z, graph=true)
    order = (2, 0, 1)
    found = np.zeros((3, 3), dtype=int)
    found[np.ix_(order, order)] = true
    words = graph_words(found, data, SimpleNamespace(order=order))
    assert "2 of 3 pairs of latents are joined, 2 of them with a direction" in words["text"]
    assert "distance is 0:" in words["compared"] and "true latents give 0." in words["compared"]
    wrong = graph_words(true, data, SimpleNamespace(order=order))["compared"]
    distance = shd(cpdag(true), true[np.ix_(order, order)])
    assert f"distance is {distance:.0f}:" in wrong and distance > 0
    assert graph_words(found, Data(z=z), SimpleNamespace(order=order))["compared"] == ""


def test_a_graph_in_the_report_of_any_model(tmp_path):
    html = page(tmp_path, model=two_axes(), data=samples()[0], graph=[[0, 1], [1, 0]])
    assert 'aria-label="Causal graph"' in html and "1 of 1 pairs of latents are joined, 0 of them" in html
    assert "true latents give" not in html  # the two never meet, so nothing can be tested


@pytest.mark.parametrize("graph", [np.zeros((3, 3)), [[0, 2], [0, 0]]])
def test_a_graph_of_other_latents_is_refused(graph, tmp_path):
    with pytest.raises(ValueError, match="`graph` must hold zeros and ones of shape"):
        report.write(tmp_path / "r.html", model=two_axes(), graph=graph)
    assert not list(tmp_path.iterdir())
