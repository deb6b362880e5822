"""The words of a verdict name what a scientist can act on."""

import numpy as np
import pytest

from models import verdict
from unmix.cli._verdict import short
from unmix.evidence import link, unchecked

CHECK = unchecked("comes back from the other half", 2, "full")


def both(*strengths):
    """A verdict from one item that was measured and one that was not."""
    words = [f"{s:+.1f}" for s in strengths]
    return verdict(*strengths, evidence=(CHECK, link("zeros", strengths, 0.0, strengths, words)))


def test_a_no_names_what_was_measured_and_an_open_verdict_the_check_that_is_missing():
    found = both(-0.1, -1.0)
    assert found.verdicts == ("not checked", "no")
    assert [weak.name for weak in found.weakest] == ["comes back from the other half", "zeros"]
    assert 'which takes effort "full"' in found.reasons[0] and "Weakest link, zeros: -1.0" in found.reasons[1]


@pytest.mark.parametrize("n", [1, 3])
def test_the_headline_counts_what_is_trusted(n):
    every, none = verdict(*[1.0] * n), verdict(*[-1.0] * n)
    assert every and not none and every.headline.endswith("trusted") and none.headline.startswith("None of")
    assert str(n) in every.headline or n == 1


def test_evidence_in_favour_never_lowers_the_probability():
    assert (np.diff(verdict(*np.linspace(-3, 3, 25)).probability) > 0).all()


def test_other_answers_that_fit_as_well_are_named_wherever_a_verdict_is_told():
    name, said = "comes back from one half", "has it with correlation 0.5; it ends as low: a counterexample"
    found = verdict(1.0, -1.0, evidence=(link(name, [1.0, 0.5], 0.4, [1.0, -1.0], ["has it", said]),))
    line = "Another fit ends as low without z1: a counterexample in hand."
    assert found.counterexamples == (1,) == tuple(found.to_dict()["counterexamples"])
    assert line in str(found).splitlines() and line in found._repr_html_() and line in short(found)
    plain = verdict(1.0, -1.0)
    assert plain.counterexamples == () and "counterexample" not in str(plain)
    assert found.probability.tolist() == verdict(1.0, -1.0, name=name).probability.tolist()
