"""How values look in notebooks and shells: escaped, with the verdict, completed, forgiving of spelling."""

import inspect
import pydoc

import numpy as np
import pytest
from sklearn.base import clone

import unmix
from unmix._html import table, told
from unmix._spelling import meant
from unmix.data import FactorDataset, sparse_mixing
from unmix.structure import Structure
from unmix.theory import certify, explain

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def fitted():
    x = np.random.default_rng(0).laplace(size=(300, 3)) @ np.random.default_rng(1).normal(size=(3, 5))
    return unmix.FastICA(3, random_state=0).fit(x), x


def test_an_estimator_is_shown_with_its_verdict_once_there_is_one(fitted):
    model, x = fitted
    alone = clone(model).fit(x)
    assert "FastICA" in alone._repr_html_() and "weakest link" not in alone._repr_html_()
    found = unmix.trust(alone, x, effort="none")
    assert "Not checked yet" in alone._repr_html_() and alone._repr_html_().endswith(found._repr_html_())
    assert "weakest link" not in clone(alone)._repr_html_()


def test_values_say_of_themselves_what_they_print():
    data = sparse_mixing(50, n_latents=3, random_state=0)
    images = FactorDataset(np.zeros((4, 2, 2, 1)), np.zeros((4, 1), int), (HOSTILE,), (1,))
    certificate = certify(Structure([[1, 0], [1, 1], [0, 1]]))
    assert "50 samples of 6 variables, 3 latents" in data._repr_html_()
    assert data.structure._repr_html_().count("●") == data.structure.n_edges
    assert str(certificate).splitlines()[0].split(":")[0] in certificate._repr_html_()
    assert "holds" in certificate.certificates[0]._repr_html_()
    assert "<p" in explain(data.structure)._repr_html_()
    scores = unmix.metrics.evaluate(data.z, data.z + 0.1, x=data.x)
    assert all(name in scores._repr_html_() for name in ("mcc", "raw x", "null"))
    assert HOSTILE not in images._repr_html_() and "&lt;script&gt;" in images._repr_html_()


def test_every_text_is_escaped_and_long_tables_end():
    assert "<script" not in told(f"{HOSTILE}\n{HOSTILE}") + table([HOSTILE], [[HOSTILE]] * 3)
    assert "... and 70 more." in table(["a"], [[k] for k in range(100)])


@pytest.mark.parametrize("name", sorted(unmix._ROOMS))
def test_shells_complete_every_name(name):
    room = getattr(unmix, name)
    assert set(getattr(room, "__all__", ())) <= set(dir(room))
    assert set(unmix.__all__) <= set(dir(unmix))


def test_help_begins_with_what_one_would_type_and_fits_a_screen():
    shown = pydoc.render_doc(unmix, renderer=pydoc.plaintext).partition("PACKAGE CONTENTS")[0]
    assert len(shown.splitlines()) <= 26 and max(map(len, shown.splitlines())) <= 115
    assert all(f"unmix.{name}" in shown for name in ("trust", "choose", "describe", "report.explore", "load"))


@pytest.mark.parametrize("name", sorted(set(unmix._ESTIMATORS)))
def test_misspelt_arguments_are_answered_by_the_one_that_was_meant(name):
    cls = getattr(unmix, name)
    known = [each for each in inspect.signature(cls).parameters if each != "self"]
    assert clone(cls()).get_params().keys() == cls().get_params().keys() if _plain(cls) else True
    for given, wanted in (("seed", "random_state"), ("random_stat", "random_state")):
        with pytest.raises(TypeError, match=rf"{name} has no argument `{given}`. Did you mean `{wanted}`\?"):
            cls(**{given: 3})
    if "n_components" in known:
        with pytest.raises(TypeError, match="Did you mean `n_components`"):
            cls(n_latents=3)
    with pytest.raises(TypeError, match="There are"):
        cls(qqqq=3)


def _plain(cls):
    return all(
        each.default is not inspect.Parameter.empty for each in inspect.signature(cls).parameters.values()
    )


def test_names_of_other_libraries_are_known():
    assert meant("latent-dim", ["n-components", "lr"]) == "n-components"
    assert meant("epochs", ["max_iter"]) == "max_iter" and meant("zzz", ["max_iter"]) is None
